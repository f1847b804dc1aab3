package queueing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// flat is a distribution of equal times.
func flat(n int, ms float64) run.Spread {
	if n == 0 {
		return run.Spread{}
	}
	return run.Spread{Count: n, MeanMS: ms, QuantilesMS: []float64{ms, ms, ms}}
}

// of is a group whose tasks run once in each of five repetitions: they wait and run for so long,
// a little longer from repetition to repetition.
func of(name string, unit int, waits, runs float64) run.TaskGroup {
	g := run.TaskGroup{Name: name, Event: "open", Unit: unit, Scheduled: 5, Started: 5, Done: 5, Ran: flat(5, runs), Repetitions: []int{1, 1, 1, 1, 1}}
	for i := range 5 {
		g.QueuedMaxMS = append(g.QueuedMaxMS, waits*(1+0.01*float64(i)))
		g.RanMaxMS = append(g.RanMaxMS, runs*(1+0.01*float64(i)))
	}
	g.Queued = run.Spread{Count: 5, MeanMS: waits * 1.02, QuantilesMS: []float64{waits, waits * 1.02, waits * 1.04}}
	return g
}

// late has a group wait for others: each as many tasks, and how long one ran.
func late(g run.TaskGroup, length, ranMS float64, ahead ...run.TasksAhead) run.TaskGroup {
	g.Late = &run.LateTasks{OverMS: 500, Tasks: g.Scheduled, QueueMean: length, AheadRanMS: ranMS, WaitedFor: ahead}
	return g
}

// from sets the stack that scheduled a group's tasks.
func from(g run.TaskGroup, lines ...string) run.TaskGroup {
	g.Context = lines
	return g
}

const law = "de.jdsoft.law"

// recordedRun is a run whose tasks tell all, and whose event took so long.
func recordedRun(id string, shownMS float64, units []run.TaskUnit, groups ...run.TaskGroup) run.Run {
	r := run.Run{
		ID: id, App: run.App{Package: law}, Scenario: "open", Status: run.Complete, Context: map[string]string{"model": "One"},
		Declared: []run.Declared{{Name: "app.shown_ms", Unit: "ms", Better: "lower"}},
		Tasks:    &run.Tasks{Source: "art", Tells: []string{run.TellsContexts, run.TellsCapacity, run.TellsCancellation}, Units: units, Groups: groups},
	}
	for range 5 {
		r.Iterations = append(r.Iterations, run.Iteration{Events: []run.Bucket{{Name: "open", Metrics: map[string]float64{"app.shown_ms": shownMS}}}})
	}
	return r
}

var (
	serial  = run.TaskUnit{Name: "AsyncTask", Kind: run.AsyncTask, Capacity: 1}
	wide    = run.TaskUnit{Name: "wide", Kind: run.ThreadPool, Capacity: 8}
	three   = run.TaskUnit{Name: "images", Kind: run.ThreadPool, Capacity: 3}
	handler = run.TaskUnit{Name: "worker", Kind: run.HandlerThread}
	shown   = []diagnose.Finding{{Event: "open", Metric: "app.shown_ms", Direction: gate.ToRegression}}
)

// said returns the text of a phrase.
func said(p diagnose.Phrase) string {
	var b strings.Builder
	for _, part := range p {
		b.WriteString(part.Text + part.Name)
		if part.Amount != nil {
			if part.Amount.Unit == "ratio" {
				fmt.Fprintf(&b, "%.0f %%", 100*part.Amount.Value)
				continue
			}
			fmt.Fprintf(&b, "%.4g%s", part.Amount.Value, part.Amount.Unit)
		}
	}
	return b.String()
}

// only returns the cause, and fails where there is not one.
func only(t *testing.T, all []diagnose.Cause) diagnose.Cause {
	t.Helper()
	if len(all) != 1 {
		var kinds []string
		for _, c := range all {
			kinds = append(kinds, c.Kind+": "+said(c.Sentence))
		}
		t.Fatalf("%d causes, want one: %q", len(all), kinds)
	}
	if err := diagnose.Validate(all); err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// background is a task of both builds that has nothing to do with any defect.
func background() run.TaskGroup { return of("Beacon", 1, 0, 60) }

// The five defects, as they come about compared with the base build.
func TestExplainNamesEachDefect(t *testing.T) {
	picture, sync := of("Picture", 0, 1_600, 200), of("Sync", 0, 0, 1_650)
	before := func(units []run.TaskUnit, groups ...run.TaskGroup) run.Run {
		return recordedRun("base", 210, units, groups...)
	}
	lib := []string{"java.util.concurrent.ThreadPoolExecutor.execute(ThreadPoolExecutor.java:1)", "com.loopj.android.http.AsyncHttpClient.sendRequest(AsyncHttpClient.java:7)", "com.loopj.android.http.AsyncHttpClient.get(AsyncHttpClient.java:9)", law + ".Main.onCreate(Main.java:3)"}
	for name, c := range map[string]struct {
		head, base    run.Run
		kind, subject string
		sentence      string // a part of it
		doubt         string
	}{
		"sequential": {
			head: recordedRun("head", 1_810, []run.TaskUnit{serial, wide}, late(picture, 1, 1_650, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 1_650}), sync, background()),
			base: before([]run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 1_650), background()),
			kind: SequentialKind, subject: "Picture",
			sentence: "Picture waits up to 1664ms (before: 2.04ms) in AsyncTask, which runs one task at a time; waits of 500ms or more are behind 1 task of 1650ms each, on average: Sync; 100 % of the slowdown; seen in 5 of 5 repetitions",
			doubt:    "whether these tasks need their order",
		},
		"pool": {
			head: recordedRun("head", 1_810, []run.TaskUnit{three, wide}, late(of("Image", 0, 1_600, 660), 1.5, 660, run.TasksAhead{Group: 0, Tasks: 20, RanMS: 660}), background()),
			base: before([]run.TaskUnit{{Name: "images", Kind: run.ThreadPool, Capacity: 6}, wide}, of("Image", 0, 10, 660), background()),
			kind: PoolKind, subject: "images",
			sentence: "in images, whose 3 workers are all busy (before: 6); waits of 500ms or more are behind 1.5 tasks of 660ms each, on average: its own kind",
			doubt:    "More workers help",
		},
		"pool for more tasks": {
			head: recordedRun("head", 1_810, []run.TaskUnit{three, wide}, late(sixFold(of("Image", 0, 1_600, 660)), 1.5, 660, run.TasksAhead{Group: 0, Tasks: 20, RanMS: 660}), background()),
			base: before([]run.TaskUnit{three, wide}, of("Image", 0, 10, 660), background()),
			kind: PoolKind, subject: "images", sentence: "whose 3 workers are all busy;",
		},
		"handler": {
			head: recordedRun("head", 1_810, []run.TaskUnit{handler, wide}, late(of("Progress", 0, 1_600, 30), 2, 800, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 1_200}, run.TasksAhead{Group: 2, Tasks: 5, RanMS: 400}), of("Store", 0, 10, 1_200), of("Pages", 0, 1_210, 400), background()),
			base: before([]run.TaskUnit{handler, wide}, of("Progress", 0, 5, 30), background()),
			kind: HandlerKind, subject: "worker",
			sentence: "in worker, which handles one message at a time; waits of 500ms or more are behind 2 tasks of 800ms each, on average: Store and Pages",
			doubt:    "may rely on their order",
		},
		"obsolete": {
			head: recordedRun("head", 1_810, []run.TaskUnit{serial, wide}, late(picture, 3, 600, run.TasksAhead{Group: 1, Tasks: 15, RanMS: 600}), gone(of("Fare", 0, 400, 600), 4, 0), background()),
			base: before([]run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), gone(of("Fare", 0, 400, 300), 0, 4), background()),
			kind: ObsoleteKind, subject: "Fare",
			sentence: "in AsyncTask, which runs one task at a time: 4 of 5 runs of Fare end after their screen has gone; waits of 500ms",
			doubt:    "may still be wanted",
		},
		"obsolete queries": {
			head: recordedRun("head", 1_810, []run.TaskUnit{serial, wide}, late(again(of("Query", 0, 1_600, 520), 4, 400), 3, 520, run.TasksAhead{Group: 0, Tasks: 20, RanMS: 520}), background()),
			base: before([]run.TaskUnit{serial, wide}, gone(of("Query", 0, 2, 520), 0, 4), background()),
			kind: ObsoleteKind, subject: "Query", sentence: "4 of 5 are scheduled again before they start", doubt: "Whether the earlier task is still wanted",
		},
		"library": {
			head: recordedRun("head", 1_810, []run.TaskUnit{serial, wide}, late(from(of("Get", 0, 1_600, 400), lib...), 3, 400, run.TasksAhead{Group: 0, Tasks: 20, RanMS: 400}), background()),
			base: before([]run.TaskUnit{serial, wide}, background()),
			kind: LibraryKind, subject: "com.loopj.android.http", sentence: "it waits behind calls of com.loopj.android.http.AsyncHttpClient.get",
			doubt: "Another call of the library",
		},
		"a longer task": {
			head: recordedRun("head", 1_810, []run.TaskUnit{serial, wide}, late(picture, 1, 1_650, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 1_650}), sync, background()),
			base: before([]run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 0, 0, 50), background()),
			kind: LongKind, subject: "Sync",
			sentence: "Sync runs for up to 1650ms (before: 51ms), and Picture waits for it up to 1664ms in AsyncTask",
		},
		"a longer task that nothing waits for": {
			head: recordedRun("head", 1_810, []run.TaskUnit{serial, wide}, of("Picture", 1, 0, 1_800), background()),
			base: before([]run.TaskUnit{serial, wide}, of("Picture", 1, 0, 200), background()),
			kind: LongKind, subject: "Picture", sentence: "Picture runs for up to 1800ms (before: 204ms); 100 % of the slowdown; seen in 5 of 5 repetitions",
		},
		"an unknown capacity": {
			head: untold(recordedRun("head", 1_810, []run.TaskUnit{serial, wide}, late(picture, 1, 1_650, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 1_650}), sync, background())),
			base: untold(before([]run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 1_650), background())),
			kind: QueueKind, subject: "AsyncTask", sentence: "in AsyncTask; waits of 500ms or more are behind 1 task of 1650ms each, on average: Sync", doubt: "does not show how many tasks AsyncTask runs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.head.Session, c.base.Session = "rounds", "rounds"
			got := only(t, Explain(c.head, []run.Run{c.base}, shown))
			sure := only(t, Explain(scheduled(c.head), []run.Run{scheduled(c.base)}, shown)).Explains.Sure
			if got.Kind != c.kind || got.Subject.Name != c.subject || (sure == diagnose.Clear) == (c.kind == QueueKind) { // a pool is as possible as a queue of one
				t.Errorf("%s of %s, %s; want %s of %s, clear but for a queue", got.Kind, got.Subject.Name, sure, c.kind, c.subject)
			}
			if !strings.Contains(said(got.Sentence), c.sentence) {
				t.Errorf("the sentence is %q, want %q in it", said(got.Sentence), c.sentence)
			}
			if c.doubt != "" && !slices.ContainsFunc(got.Doubts, func(d diagnose.Phrase) bool { return strings.Contains(said(d), c.doubt) }) {
				t.Errorf("the doubts are %v, want %q among them", got.Doubts, c.doubt)
			}
			if basis := said(got.Basis); !strings.HasSuffix(basis, "compared with 5 of the base build") {
				t.Errorf("the basis is %q", basis)
			}
			if share := got.Explains.Share; share == nil || *share < 0.95 {
				t.Errorf("it explains %v of the 1,600 ms, want at least 95 %%", share)
			}
			asSlow := c.head
			asSlow.ID = "as slow"
			if again := Explain(c.head, []run.Run{asSlow}, shown); len(again) != 0 {
				t.Errorf("compared with a run that is as slow, %s is named", again[0].Kind)
			}
			if fixed := Explain(c.base, []run.Run{c.head}, shown); len(fixed) != 0 {
				t.Errorf("after the fix, %s is named: %s", fixed[0].Kind, said(fixed[0].Sentence))
			}
		})
	}
}

// scheduled is a run whose tasks without a stack have one with a line of the app.
func scheduled(r run.Run) run.Run {
	t := *r.Tasks
	t.Groups = slices.Clone(t.Groups)
	for i, g := range t.Groups {
		if g.Context == nil {
			t.Groups[i].Context = []string{law + ".Main.on" + g.Name + "(Main.java:1)"}
		}
	}
	r.Tasks = &t
	return r
}

// sixFold has six times as many tasks in each repetition.
func sixFold(g run.TaskGroup) run.TaskGroup {
	g.Scheduled *= 6
	g.Repetitions = []int{6, 6, 6, 6, 6}
	return g
}

// gone has so many of a group's tasks end after their screen had gone, and so many cancelled.
func gone(g run.TaskGroup, obsolete, cancelled int) run.TaskGroup {
	g.Obsolete, g.Cancelled = obsolete, cancelled
	return g
}

// again has tasks that are scheduled again before they start, each so long after the one before.
func again(g run.TaskGroup, superseded int, gapMS float64) run.TaskGroup {
	g.Superseded = superseded
	for i := range 4 {
		g.Longest = append(g.Longest, run.SlowTask{Repetition: 1, AtMS: 1_000 + float64(i)*gapMS, QueuedMS: 1_600 - float64(i), RanMS: 520, Thread: "AsyncTask #1"})
	}
	return g
}

// untold removes from a record what a source without stacks, capacities and cancellation can't
// tell.
func untold(r run.Run) run.Run {
	r.Tasks.Tells, r.Tasks.Units = nil, slices.Clone(r.Tasks.Units)
	for i := range r.Tasks.Units {
		r.Tasks.Units[i].Capacity = 0
	}
	return r
}
