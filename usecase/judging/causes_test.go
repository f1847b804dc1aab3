package judging_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// scrolled is a run whose frames take 8 ms, and of which every fourth waits so long for another
// process.
func scrolled(i int, waits time.Duration) run.Run {
	r := run.Run{
		ID: fmt.Sprintf("R%02d", i), App: run.App{Package: "com.example.mail", Build: "release"}, Scenario: "read", Status: run.Complete,
		Started: time.Date(2026, 11, 1, i, 0, 0, 0, time.UTC), Session: fmt.Sprint(i), Context: map[string]string{"model": "One", "sdk": "14", "api": "34"},
	}
	var all section.Collector
	for rep := 1; rep <= 5; rep++ {
		t := rendering.Trace{Source: rendering.FrameTimeline}
		slow := 0.0
		for n := range 100 {
			f := rendering.Frame{At: time.Duration(n) * 50 * time.Millisecond, Deadline: 16 * time.Millisecond, Class: run.NormalFrames, Ready: -1}
			add := func(kind, what string, d time.Duration) {
				f.Path = append(f.Path, rendering.Step{From: f.Took, To: f.Took + d, Doing: &rendering.Doing{Thread: "main", Stage: run.StageLayout, Kind: kind, Does: kind, What: what}})
				f.Took += d
			}
			add(run.WaitRunning, "layout", 8*time.Millisecond+time.Duration(n%5+rep+i)*100*time.Microsecond)
			if n%4 == 0 {
				add(run.WaitBinder, "com.example.feed IFeed::query", waits)
			}
			if f.Took > f.Deadline {
				f.Class, slow = run.SlowFrames, slow+1
			}
			t.Frames = append(t.Frames, f)
		}
		all.Add(section.Repetition{Number: rep, Trace: t, Events: []trace.Event{{Name: "scroll"}}})
		metrics := map[string]float64{"frames.count": 100, "frames.smooth_ratio": 1 - slow/100}
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: metrics, Events: []run.Bucket{{Name: "start"}, {Name: "scroll", Metrics: metrics}}})
	}
	r.Frames = all.Frames()
	return r
}

// stuck adds an ANR to a run: main waits for a lock that another thread holds.
func stuck(r run.Run) run.Run {
	stack := []string{"java.lang.Thread.sleep(Native method)", "com.example.mail.Sync.run(Sync.java:41)"}
	r.ANRs = []run.ANR{{
		Kind: run.ANRInput, Process: "com.example.mail", Repetition: 1, Event: "scroll", Signature: "0a1b2c3d",
		Threads: []run.ANRThread{
			{Name: "main", State: "Blocked", Kind: run.WaitLock, WaitsFor: "lock com.example.mail.Store held by sync", Stack: []string{"com.example.mail.List.show(List.java:8)"}},
			{Name: "sync", State: "Sleeping", Kind: run.WaitSleep, WaitsFor: "sleep", Critical: true, Stack: stack},
		},
	}}
	return r
}

// tenBefore are earlier runs, with something that did not respond in the last.
func tenBefore() []run.Run {
	var out []run.Run
	for i := range 10 {
		out = append(out, scrolled(i, time.Millisecond))
	}
	out[9] = stuck(out[9])
	return out
}

// asking counts the full runs and ANRs that a store is asked for.
type asking struct {
	runstore.Store
	whole, anrs atomic.Int32
}

func (s *asking) Get(ctx context.Context, id string) (runstore.Entry, error) {
	s.whole.Add(1)
	return s.Store.Get(ctx, id)
}

func (s *asking) ANRs(ctx context.Context, q runstore.ANRQuery) ([]runstore.ANRRun, error) {
	s.anrs.Add(1)
	return s.Store.ANRs(ctx, q)
}

// pasts are the same history in a store and in a file.
func pasts(t *testing.T) (map[string]judging.Past, *asking) {
	t.Helper()
	set := defaultSettings()
	store := &asking{Store: memory.New(nil)}
	ids, err := store.Add(t.Context(), tenBefore()...)
	if err == nil {
		err = store.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted})
	}
	if err != nil {
		t.Fatal(err)
	}
	return map[string]judging.Past{"a store": judging.OfStore(t.Context(), runstore.SoundOf(store), set, judging.Lineage{}), "a file": pastOf(t, tenBefore())}, store
}

// pastOf is a history in a file.
func pastOf(t *testing.T, runs []run.Run) judging.Past {
	t.Helper()
	set := defaultSettings()
	files, err := judging.OfFiles(terminal.Console{Stderr: io.Discard}, []string{clitest.WriteFile(t, t.TempDir()+"/history.jsonl", clitest.RecordsOf(t, runs))}, inputfiles.ImportFlags{}, set, 0)
	if err != nil {
		t.Fatal(err)
	}
	return files.Past(set)
}

func causesOf(in layout.Input, id string) (out []diagnose.Cause) {
	for _, c := range in.Causes {
		if c.Run == id {
			out = append(out, c)
		}
	}
	return out
}

// said returns the text of a cause, with names without their markup.
func said(c diagnose.Cause) string {
	b := strings.Builder{}
	b.WriteString(c.Run + " " + c.Event + " " + c.Kind + ": ")
	for _, p := range slices.Concat(c.Sentence, c.Basis) {
		b.WriteString(p.Text + p.Name)
		if p.Amount != nil {
			fmt.Fprintf(&b, "%g", p.Amount.Value)
		}
	}
	return b.String()
}

func saidAll(all []diagnose.Cause) (out []string) {
	for _, c := range all {
		out = append(out, said(c))
	}
	return out
}

// A regression is explained by what its frames waited for compared with earlier runs, and an ANR by
// the history, whether anything got worse or not.
func TestJudgeExplainsARegression(t *testing.T) {
	all, store := pasts(t)
	for name, before := range all {
		t.Run(name, func(t *testing.T) {
			worse, calm := stuck(scrolled(20, 30*time.Millisecond)), stuck(scrolled(21, time.Millisecond))
			in, err := judging.Judge([]run.Run{worse, calm}, before, defaultSettings())
			if err != nil {
				t.Fatal(err)
			}
			if len(in.Verdict.Runs[0].Deviations) == 0 || len(in.Verdict.Runs[1].Deviations) != 0 {
				t.Fatalf("%d and %d deviations, want some of the first run alone", len(in.Verdict.Runs[0].Deviations), len(in.Verdict.Runs[1].Deviations))
			}
			kinds := map[string]diagnose.Cause{}
			for _, c := range causesOf(in, "R20") {
				if c.Event == "scroll" {
					kinds[c.Kind] = c
				}
			}
			if c, ok := kinds["render.binder"]; !ok || c.Subject.Name != "com.example.feed IFeed::query" || !strings.Contains(said(c), "5 earlier runs") {
				t.Errorf("the slow frames are explained by %q, want the call beside five runs before", said(c))
			}
			if c, ok := kinds["anr.lock"]; !ok || strings.Contains(said(c), "new") {
				t.Errorf("the ANR is explained by %q, want the lock, and that it is known", said(c))
			}
			for _, c := range causesOf(in, "R21") {
				if strings.HasPrefix(c.Kind, "render.") {
					t.Errorf("frames of which nothing was flagged are explained by %s", said(c))
				}
			}
			if !slices.ContainsFunc(causesOf(in, "R21"), func(c diagnose.Cause) bool { return c.Kind == "anr.lock" }) {
				t.Error("an ANR without a regression is not explained")
			}
		})
	}
	if whole, anrs := store.whole.Load(), store.anrs.Load(); whole > 20 || anrs != 1 {
		t.Errorf("the store was asked for %d runs in full and %d times for what did not respond, want at most 20 and once", whole, anrs)
	}
}

// Two builds explain each other.
func TestCompareExplainsBothBuilds(t *testing.T) {
	var base, head []run.Run
	for i := range 6 {
		base, head = append(base, scrolled(2*i, time.Millisecond)), append(head, scrolled(2*i+1, 30*time.Millisecond))
		base[i].Session, head[i].Session = fmt.Sprint("round ", i), fmt.Sprint("round ", i)
	}
	head[0], base[1] = stuck(head[0]), stuck(base[1])
	other := scrolled(30, 30*time.Millisecond) // of another scenario: no base of it
	other.Scenario = "write"
	base = append(base, other)
	in, err := judging.Compare(base, head, defaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	if in.Verdict.Verdict != gate.Regression {
		t.Fatalf("the verdict is %s: %s", in.Verdict.Verdict, in.Verdict.Reason)
	}
	binder, lock := 0, 0
	for _, c := range in.Causes {
		switch {
		case c.Kind == "render.binder" && c.Subject.Name == "com.example.feed IFeed::query":
			binder++
		case c.Kind == "anr.lock" && !strings.Contains(said(c), "new"):
			lock++
		}
	}
	if binder < 6 || lock != 1 {
		t.Errorf("%d causes of binder and %d of a lock that the base has too, want 6 or more and 1: %q", binder, lock, saidAll(in.Causes))
	}
}

// What rounds settle is explained by the rounds, and what they clear has no cause.
func TestSettledExplainsRounds(t *testing.T) {
	all, _ := pasts(t)
	in, err := judging.Judge([]run.Run{stuck(scrolled(20, 30*time.Millisecond)), scrolled(21, 31*time.Millisecond)}, all["a file"], defaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	count := func(all []diagnose.Cause, id, kind, base string) (n int) {
		for _, c := range all {
			if c.Run == id && c.Kind == kind && strings.Contains(said(c), base) {
				n++
			}
		}
		return n
	}
	if count(in.Causes, "R20", "render.binder", "5 earlier runs") == 0 || count(in.Causes, "R21", "render.binder", "5 earlier runs") == 0 {
		t.Fatalf("before the rounds the causes are %q", saidAll(in.Causes))
	}
	in.Verdict.Runs[1].Deviations = nil
	settled := judging.Settled(in, map[int]judging.Rounds{0: {Base: scrolled(30, time.Millisecond), Head: scrolled(31, 40*time.Millisecond)}}, nil)
	if n := count(settled, "R20", "render.binder", "1 earlier run"); n == 0 {
		t.Errorf("what the rounds settled is explained by %q, want it beside the base build's", saidAll(settled))
	}
	if count(settled, "R20", "anr.lock", "") != 1 || slices.ContainsFunc(settled, func(c diagnose.Cause) bool { return c.Run == "R21" }) {
		t.Errorf("want the ANR still explained, and nothing of what was cleared: %q", saidAll(settled))
	}
	in.Verdict.Runs[1] = in.Verdict.Runs[0]
	in.Verdict.Runs[1].ID = "R21"
	if kept := judging.Settled(in, nil, nil); count(kept, "R21", "render.binder", "5 earlier runs") == 0 {
		t.Errorf("where no rounds tell of frames, %q is left of what the history explained", saidAll(kept))
	}
}

// opened is a run in which a picture waits so long in a queue, by so many workers of its pool.
func opened(i int, waits float64, unit run.TaskUnit) run.Run {
	r := scrolled(i, time.Millisecond)
	r.Frames = nil
	r.Declared = []run.Declared{{Name: "app.shown_ms", Unit: "ms", Better: "lower"}}
	picture := run.TaskGroup{Name: "com.example.mail.Picture", Event: "scroll", Scheduled: 5, Started: 5, Done: 5}
	sync := run.TaskGroup{Name: "com.example.mail.Sync", Event: "scroll", Scheduled: 5, Started: 5, Done: 5, Unit: 1}
	for n := range r.Iterations {
		drift := 1 + 0.01*float64((n+i)%4)
		picture.Repetitions, picture.QueuedMaxMS, picture.RanMaxMS = append(picture.Repetitions, 1), append(picture.QueuedMaxMS, waits*drift), append(picture.RanMaxMS, 200*drift)
		sync.Repetitions, sync.QueuedMaxMS, sync.RanMaxMS = append(sync.Repetitions, 1), append(sync.QueuedMaxMS, 0), append(sync.RanMaxMS, 1_650*drift)
		r.Iterations[n].Events[1].Metrics = map[string]float64{"frames.count": 100, "frames.smooth_ratio": 0.98, "app.shown_ms": (waits + 200) * drift}
		r.Iterations[n].Metrics = map[string]float64{"frames.count": 100, "frames.smooth_ratio": 0.98}
	}
	spread := func(of []float64) run.Spread {
		return run.Spread{Count: 5, MeanMS: of[0], QuantilesMS: []float64{of[0], slices.Max(of)}}
	}
	picture.Queued, picture.Ran = spread(picture.QueuedMaxMS), spread(picture.RanMaxMS)
	sync.Queued, sync.Ran = spread(sync.QueuedMaxMS), spread(sync.RanMaxMS)
	if waits >= 500 {
		sync.Unit = 0
		picture.Late = &run.LateTasks{OverMS: 500, Tasks: 5, QueueMean: 1, AheadRanMS: 1_650, WaitedFor: []run.TasksAhead{{Group: 1, Tasks: 5, RanMS: 1_650}}}
	}
	wide := run.TaskUnit{Name: "wide", Kind: run.ThreadPool, Capacity: 8}
	r.Tasks = &run.Tasks{Source: "art", Tells: []string{run.TellsContexts, run.TellsCapacity}, Units: []run.TaskUnit{unit, wide}, Groups: []run.TaskGroup{picture, sync}}
	return r
}

// An event got slower, and no frame was late: the picture stood in a queue of one. The same follows
// from the records a week later, from a store and from a file.
func TestJudgeExplainsAWaitInAQueue(t *testing.T) {
	serial := run.TaskUnit{Name: "AsyncTask", Kind: run.AsyncTask, Capacity: 1}
	var before []run.Run
	for i := range 10 {
		before = append(before, opened(i, 2, serial))
	}
	store := memory.New(nil)
	ids, err := store.Add(t.Context(), before...)
	if err == nil {
		err = store.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted})
	}
	if err != nil {
		t.Fatal(err)
	}
	set := defaultSettings()
	files, err := judging.OfFiles(terminal.Console{Stderr: io.Discard}, []string{clitest.WriteFile(t, t.TempDir()+"/history.jsonl", clitest.RecordsOf(t, before))}, inputfiles.ImportFlags{}, set, 0)
	if err != nil {
		t.Fatal(err)
	}
	var first []string
	for name, past := range map[string]judging.Past{"a store": judging.OfStore(t.Context(), runstore.SoundOf(store), set, judging.Lineage{}), "a file": files.Past(set)} {
		in, err := judging.Judge([]run.Run{opened(20, 1_600, serial), opened(21, 2, serial)}, past, set)
		if err != nil {
			t.Fatal(err)
		}
		if got := causesOf(in, "R21"); len(got) != 0 {
			t.Errorf("%s: of the run that is as before, %q", name, saidAll(got))
		}
		got := causesOf(in, "R20")
		if len(got) != 1 || got[0].Kind != "tasks.sequential" || !strings.Contains(said(got[0]), "5 earlier runs") || *got[0].Explains.Share < 0.95 {
			t.Fatalf("%s: %q, want that the picture waits in a queue of one", name, saidAll(got))
		}
		if first == nil {
			first = saidAll(got)
		}
		if !slices.Equal(first, saidAll(got)) {
			t.Errorf("%s says %q, the other %q", name, saidAll(got), first)
		}
		rounds := judging.Settled(in, map[int]judging.Rounds{0: {Base: opened(30, 2, serial), Head: opened(31, 1_500, serial)}}, nil)
		if len(rounds) != 1 || rounds[0].Kind != "tasks.sequential" || !strings.Contains(said(rounds[0]), "1 earlier run") {
			t.Errorf("%s: settled by rounds, %q", name, saidAll(rounds))
		}
	}
}
