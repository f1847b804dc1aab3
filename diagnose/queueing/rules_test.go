package queueing

import (
	std "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// slowly multiplies how long the tasks of a run wait and run.
func slowly(r run.Run, factor float64, names ...string) run.Run {
	t := *r.Tasks
	t.Groups = slices.Clone(t.Groups)
	scaled := func(list []float64) []float64 {
		out := slices.Clone(list)
		for i := range out {
			out[i] *= factor
		}
		return out
	}
	for i, g := range t.Groups {
		if len(names) > 0 && !slices.Contains(names, g.Name) {
			continue
		}
		g.QueuedMaxMS, g.RanMaxMS = scaled(g.QueuedMaxMS), scaled(g.RanMaxMS)
		g.Queued.MeanMS, g.Ran.MeanMS = g.Queued.MeanMS*factor, g.Ran.MeanMS*factor
		g.Queued.QuantilesMS, g.Ran.QuantilesMS = scaled(g.Queued.QuantilesMS), scaled(g.Ran.QuantilesMS)
		t.Groups[i] = g
	}
	r.Tasks = &t
	return r
}

// queue is a run in which a picture waits behind two other tasks of a queue of one.
func queue(id string) run.Run {
	return recordedRun(id, 1_100, []run.TaskUnit{serial, wide},
		late(of("Picture", 0, 900, 200), 2, 450, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 450}, run.TasksAhead{Group: 2, Tasks: 5, RanMS: 450}), of("Sync", 0, 0, 450), of("Log", 0, 450, 450), background(), of("Parse", 1, 0, 90))
}

// Everything takes longer: that is the phone's load, and no defect. So it is where a network or a
// storage is slow, and only what uses it takes longer.
func TestLoadAloneIsNoCause(t *testing.T) {
	base := queue("base")
	for name, head := range map[string]run.Run{
		"all":          slowly(queue("head"), 2.5),
		"half of them": slowly(queue("head"), 2.5, "Picture", "Sync", "Log"),
	} {
		if got := Explain(head, []run.Run{base}, shown); len(got) != 0 {
			t.Errorf("%s: %s is named: %s", name, got[0].Kind, said(got[0].Sentence))
		}
	}
	// Two builds that are measured alternately have the network alike; with other runs before, nothing
	// shows that it is not slower, where no other task runs in the background.
	alone := func(id, session string, units ...run.TaskUnit) run.Run {
		r := recordedRun(id, 1_100, append([]run.TaskUnit{serial, wide}, units...), of("Fetch", 1, 0, 600), of("Frames", len(units)+1, 0, 60))
		r.Session = session
		return r
	}
	main := run.TaskUnit{Name: "main", Kind: run.MainThread}
	for name, c := range map[string]struct {
		base, head run.Run
		named      int
	}{
		"alternately":                  {alone("base", "rounds", main), slowly(alone("head", "rounds", main), 2.5, "Fetch"), 1},
		"another day":                  {alone("base", "a", main), slowly(alone("head", "b", main), 2.5, "Fetch"), 0},
		"another day, with a witness":  {alone("base", "a"), slowly(alone("head", "b"), 2.5, "Fetch"), 0},
		"another day, beyond any load": {alone("base", "a"), slowly(alone("head", "b"), 4.5, "Fetch"), 1},
		"beyond it, without a witness": {alone("base", "a", main), slowly(alone("head", "b", main), 4.5, "Fetch"), 0},
	} {
		if got := Explain(c.head, []run.Run{c.base}, shown); len(got) != c.named {
			t.Errorf("%s: %d causes, want %d", name, len(got), c.named)
		}
	}
	// One task of four is no load, if it takes longer than a load makes it.
	head := slowly(queue("head"), 5, "Sync")
	head.Tasks.Groups[0] = slowly(head, 3, "Picture").Tasks.Groups[0]
	got := only(t, Explain(head, []run.Run{base}, shown))
	if got.Kind != LongKind || got.Subject.Name != "Sync" || got.Explains.Sure != diagnose.Possible || got.Explains.Share != nil || !strings.HasPrefix(said(got.Sentence), "possible: Sync runs") {
		t.Errorf("%s of %s, %s, want that Sync may take longer: %q", got.Kind, got.Subject.Name, got.Explains.Sure, said(got.Sentence))
	}
	if d := said(got.Doubts[0]); !strings.HasPrefix(d, "What it waits for, such as the network, may be slower") {
		t.Errorf("the first doubt is %q", d)
	}
}

// A defect beside a load is named, with how much longer all tasks take.
func TestDefectUnderLoad(t *testing.T) {
	head := slowly(queue("head"), 2)
	base := recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background(), of("Parse", 1, 0, 90))
	got := only(t, Explain(head, []run.Run{base}, shown))
	if got.Kind != SequentialKind || !slices.ContainsFunc(got.Doubts, func(d diagnose.Phrase) bool {
		return said(d) == "All tasks take 2 times as long as before: a part of it is the load of the phone."
	}) {
		t.Errorf("%s with the doubts %v", got.Kind, got.Doubts)
	}
}

// A wait in one repetition of five is chance, whether there are runs before or not; a wait in all
// five, once in each, is none.
func TestChanceIsNoCause(t *testing.T) {
	base := recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 1_650), background())
	head := func(waits ...float64) run.Run {
		g := late(of("Picture", 0, 2, 200), 1, 1_650, run.TasksAhead{Group: 1, Tasks: 1, RanMS: 1_650})
		g.QueuedMaxMS = waits
		return recordedRun("head", 600, []run.TaskUnit{serial, wide}, g, of("Sync", 0, 0, 1_650), background())
	}
	for name, base := range map[string][]run.Run{"alone": nil, "compared": {base}} {
		found := shown
		if base == nil {
			found = nil
		}
		if got := Explain(head(2, 2, 1_600, 2, 2), base, found); len(got) != 0 {
			t.Errorf("%s, one of five: %s is named", name, got[0].Kind)
		}
		if got := only(t, Explain(head(1_600, 1_650, 1_590, 1_700, 1_620), base, found)); got.Kind != SequentialKind {
			t.Errorf("%s, five of five: %s is named", name, got.Kind)
		}
	}
}

// Without runs before, the queues of a recording are reported as the paper reports them, and a
// doubt says that they may be old.
func TestExplainARecordingAlone(t *testing.T) {
	r := queue("recording")
	got := only(t, Explain(r, nil, nil))
	if got.Kind != SequentialKind || got.Explains.Sure != diagnose.Likely || got.Metric != "tasks.queued_ms" || got.Event != "open" || got.Explains.Share != nil {
		t.Errorf("%s, %s, of %s at %s, share %v", got.Kind, got.Explains.Sure, got.Metric, got.Event, got.Explains.Share)
	}
	if want := "Picture waits up to 936ms in AsyncTask, which runs one task at a time; waits of 500ms or more are behind 2 tasks of 450ms each, on average: Sync and Log; seen in 5 of 5 repetitions"; said(got.Sentence) != want {
		t.Errorf("the sentence is %q, want %q", said(got.Sentence), want)
	}
	if !slices.ContainsFunc(got.Doubts, func(d diagnose.Phrase) bool {
		return strings.HasPrefix(said(d), "No earlier run recorded its tasks")
	}) {
		t.Errorf("the doubts are %v", got.Doubts)
	}
	if titles := []string{got.Tables[0].Columns[2].Title, got.Tables[0].Columns[3].Title}; !slices.Equal(titles, []string{"Longest wait", "Runs on average"}) {
		t.Errorf("the columns are %q, want none on what was before", titles)
	}
	// A task that runs for long, and that nothing waits for, is no defect.
	if got := Explain(recordedRun("long", 100, []run.TaskUnit{serial}, of("Sync", 0, 0, 5_000)), nil, nil); len(got) != 0 {
		t.Errorf("a long task alone: %s is named", got[0].Kind)
	}
}

// What tasks can't explain is left to others.
func TestExplainOnlyWhatTasksExplain(t *testing.T) {
	head, base := queue("head"), []run.Run{recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background())}
	head.Declared = append(head.Declared, run.Declared{Name: "app.items", Better: "lower"})
	for metric, want := range map[string]bool{
		"app.shown_ms": true, "startup.ttid_ms": true, "tasks.queued_ms": true, "tasks.waiting": true, "events.settled_ms": true,
		"tasks.ran_ms": false, "cpu.time_ms": false, "app.items": false, "energy.total_j": false, "frames.slow": false,
	} {
		got := Explain(head, base, []diagnose.Finding{{Event: "open", Metric: metric, Direction: gate.ToRegression}})
		if (len(got) > 0) != want {
			t.Errorf("%s: %d causes", metric, len(got))
		}
	}
	for name, c := range map[string]struct {
		event     string
		direction gate.Direction
		want      int
	}{
		"the whole run": {"", gate.ToRegression, 1}, "another event": {"scroll", gate.ToRegression, 0}, "better": {"open", gate.ToImprovement, 0}, "a later occurrence": {"open#2", gate.ToRegression, 1},
	} {
		if got := Explain(head, base, []diagnose.Finding{{Event: c.event, Metric: "tasks.queued_ms", Direction: c.direction}}); len(got) != c.want {
			t.Errorf("%s: %d causes, want %d", name, len(got), c.want)
		}
	}
}

// Several numbers of one event have the same cause; only the first has its evidence.
func TestCauseOfSeveralFindings(t *testing.T) {
	head, base := queue("head"), []run.Run{recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background())}
	got := Explain(head, base, append(slices.Clone(shown), diagnose.Finding{Event: "open", Metric: "tasks.queued_ms", Direction: gate.ToRegression}))
	if len(got) != 2 || len(got[0].Tables) == 0 || got[0].FurtherPicture == nil || got[1].Tables != nil || got[1].Metric != "tasks.queued_ms" {
		t.Errorf("%+v", got)
	}
}

// Runs of another phone, app, scenario or source are not compared with.
func TestExplainComparesLikeRuns(t *testing.T) {
	head := queue("head")
	for name, change := range map[string]func(*run.Run){
		"phone":    func(r *run.Run) { r.Context = map[string]string{"model": "Two"} },
		"app":      func(r *run.Run) { r.App.Package = "a.b" },
		"scenario": func(r *run.Run) { r.Scenario = "close" },
		"source":   func(r *run.Run) { r.Tasks.Source = "mq" },
		"failed":   func(r *run.Run) { r.Status = run.Failed },
		"no tasks": func(r *run.Run) { r.Tasks = nil },
		"itself":   func(r *run.Run) { r.ID = "head" },
	} {
		base := recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), background())
		change(&base)
		got := Explain(head, []run.Run{base}, shown)
		if len(got) != 1 || strings.Contains(said(got[0].Sentence), "before") {
			t.Errorf("another %s is compared with: %d causes", name, len(got))
		}
	}
	if got := Explain(run.Run{}, nil, shown); got != nil {
		t.Errorf("without tasks, %+v", got)
	}
}

// Three repetitions of each build may differ by chance: 1 in 20 is not 1 in 50.
func TestFewRepetitionsAreNotClear(t *testing.T) {
	few := func(r run.Run) run.Run {
		r.Iterations = r.Iterations[:3]
		for i := range r.Tasks.Groups {
			g := &r.Tasks.Groups[i]
			g.Repetitions, g.QueuedMaxMS, g.RanMaxMS = g.Repetitions[:3], g.QueuedMaxMS[:3], g.RanMaxMS[:3]
		}
		return r
	}
	base := few(recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background()))
	got := only(t, Explain(few(queue("head")), []run.Run{base}, shown))
	if got.Explains.Sure != diagnose.Likely || !slices.ContainsFunc(got.Doubts, func(d diagnose.Phrase) bool {
		return strings.HasPrefix(said(d), "3 repetitions compared with 3 are too few")
	}) {
		t.Errorf("%s, with the doubts %v", got.Explains.Sure, got.Doubts)
	}
}

// A wait that is longer than what the event got slower by can't be all on its way.
func TestWaitBesideTheEvent(t *testing.T) {
	head, base := queue("head"), recordedRun("base", 1_000, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background())
	got := only(t, Explain(head, []run.Run{base}, shown))
	if got.Explains.Share != nil || got.Explains.Sure != diagnose.Likely || !slices.ContainsFunc(got.Doubts, func(d diagnose.Phrase) bool {
		return said(d) == "The event got slower by 100ms only: not all of this wait delays it."
	}) {
		t.Errorf("share %v, %s, %v", got.Explains.Share, got.Explains.Sure, got.Doubts)
	}
}

// A frame whose critical path goes through a thread while it ran a task waited for the task, and
// for what that waited for.
func TestFramesThatWaitedForATask(t *testing.T) {
	head := queue("head")
	// The picture was due at 10,000 ms and ran from 10,900 on.
	head.Tasks.Groups[0].Longest = []run.SlowTask{{Repetition: 2, AtMS: 10_000, QueuedMS: 900, RanMS: 200, Thread: "AsyncTask-worker #1", Ahead: []run.TaskRun{{Group: 1, FromMS: 10_000, ToMS: 10_450, Thread: "AsyncTask-worker #1"}}}}
	frame := run.LateFrame{Repetition: 2, Event: "open", AtMS: 10_880, DurationMS: 250, Path: []run.PathStep{
		{Thread: "main", Kind: run.WaitLock, FromMS: 0, ToMS: 20}, {Thread: "AsyncTask-worke", Kind: run.WaitLock, Does: run.WaitRunning, FromMS: 20, ToMS: 220}}}
	head.Frames = &run.Frames{Source: "frametimeline", Worst: []run.LateFrame{frame, {Repetition: 1, Event: "open", AtMS: 10_880, Path: frame.Path}, {Repetition: 2, Event: "scroll", AtMS: 10_880, Path: frame.Path}}}
	base := []run.Run{recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 200), of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background())}
	found := []diagnose.Finding{{Event: "open", Metric: "frames.slow", Direction: gate.ToRegression}}
	got := only(t, Explain(head, base, found))
	if got.Kind != SequentialKind || got.Metric != "frames.slow" || !strings.HasSuffix(said(got.Sentence), "; 1 late frame waits for it") {
		t.Errorf("%s: %q", got.Kind, said(got.Sentence))
	}
	for want, steps := range map[string][]run.PathStep{
		"; 1 late frame waits for it": {{Thread: "AsyncTask-worke", Kind: run.WaitSleep, Does: run.WaitRunning, What: "AsyncTask-worke", FromMS: 20, ToMS: 220}},
		// The task's thread is known as the one that woke the main thread; the lock's owner is at the end.
		"; 1 late frame waits for it, which itself waits for db-writer":                       {{Thread: "db-writer", Kind: run.WaitSleep, Does: run.WaitRunning, What: "AsyncTask-worke", FromMS: 20, ToMS: 220}},
		"; 1 late frame waits for it, which itself waits for db-writer, and that for storage": {{Thread: "db-writer", Kind: run.WaitLock, Does: run.WaitIO, What: "AsyncTask-worker #1 at Store.write", FromMS: 20, ToMS: 220}},
		"; 1 late frame waits for it, which itself waits for storage":                         {{Thread: "AsyncTask-worke", Kind: run.WaitSleep, Does: run.WaitIO, What: "AsyncTask-worke", FromMS: 20, ToMS: 220}},
		"; 1 late frame waits for it, which itself waits for com.example.peer":                {{Thread: "binder:9_1", Process: "com.example.peer", Kind: run.WaitSleep, Does: run.WaitRunning, What: "AsyncTask-worke", FromMS: 20, ToMS: 220}},
	} {
		head.Frames.Worst[0].Path = steps
		if got := said(only(t, Explain(head, base, found)).Sentence); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q at its end", got, want)
		}
	}
	head.Frames.Worst[0].AtMS = 12_000
	if got := Explain(head, base, found); len(got) != 0 {
		t.Errorf("a frame after the task: %s", got[0].Kind)
	}
	for _, c := range []struct {
		repetition int
		thread     string
		from, to   float64
		want       []int
	}{
		{2, "AsyncTask-worker #1", 10_950, 10_960, []int{0}}, {2, "AsyncTask-worker #1", 10_100, 10_101, []int{1}}, {2, "AsyncTask-worker #1", 10_400, 10_901, []int{0, 1}},
		{1, "AsyncTask-worker #1", 10_950, 10_960, nil}, {2, "other", 10_950, 10_960, nil}, {2, "", 10_950, 10_960, nil}, {2, "AsyncTask-worker #1", 11_100, 11_200, nil}, {2, "AsyncTask-worker #1", 10_450, 10_900, nil},
	} {
		if got := head.Tasks.Running(c.repetition, c.thread, c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("repetition %d, %q, %g to %g: %v, want %v", c.repetition, c.thread, c.from, c.to, got, c.want)
		}
	}
}

// The library is the last method before the app's own that is neither the app's nor the platform's.
func TestLibrary(t *testing.T) {
	for name, c := range map[string]struct{ app, stack, want, line, class string }{
		"the app schedules":               {law, "android.os.AsyncTask.execute(AsyncTask.java:1)|de.jdsoft.law.A.b(A.java:2)|android.view.View.performClick(View.java:3)", "", "de.jdsoft.law.A.b(A.java:2)", ""},
		"a library schedules":             {law, "java.util.concurrent.ThreadPoolExecutor.execute(T.java:1)|com.loopj.http.C.send(C.java:1)|com.loopj.http.C.get(C.java:2)|de.jdsoft.law.A.b(A.java:2)", "com.loopj.http.C.get", "de.jdsoft.law.A.b(A.java:2)", ""},
		"a library calls the app":         {law, "android.os.Handler.post(Handler.java:1)|de.jdsoft.law.A.b(A.java:2)|com.loopj.http.C.done(C.java:9)", "", "de.jdsoft.law.A.b(A.java:2)", ""},
		"WebView":                         {law, "android.os.Handler.post(Handler.java:1)|android.webkit.WebView.findAll(W.java:1)|de.jdsoft.law.A.b(A.java:2)", "android.webkit.WebView.findAll", "de.jdsoft.law.A.b(A.java:2)", ""},
		"no frame of the app":             {law, "android.os.Handler.post(Handler.java:1)|com.loopj.http.C.get(C.java:1)|android.os.Looper.loop(L.java:2)", "", "", ""},
		"names that R8 chose":             {law, "android.os.Handler.post(Handler.java:1)|a.b.c(SourceFile:1)|de.jdsoft.law.A.b(A.java:2)", "", "de.jdsoft.law.A.b(A.java:2)", ""},
		"an app of Google's":              {"com.google.maps.demo", "android.os.Handler.post(Handler.java:1)|com.google.gson.Gson.fromJson(G.java:1)|com.google.maps.demo.A.b(A.java:2)", "com.google.gson.Gson.fromJson", "com.google.maps.demo.A.b(A.java:2)", ""},
		"a package of one part":           {"law", "android.os.Handler.post(H.java:1)|com.loopj.http.C.get(C.java:1)|law.A.b(A.java:2)", "com.loopj.http.C.get", "law.A.b(A.java:2)", ""},
		"another of the same":             {law, "android.os.Handler.post(H.java:1)|de.jdsoft.shared.P.run(P.java:1)|de.jdsoft.law.A.b(A.java:2)", "", "de.jdsoft.shared.P.run(P.java:1)", ""},
		"one frame, of a library":         {law, "com.loopj.http.C.send(C.java:1)", "com.loopj.http.C.send", "", "com.loopj.http.Request"},
		"one frame, and a task of theirs": {law, "com.loopj.http.C.send(C.java:1)", "", "", "de.jdsoft.law.Load"},
		"one frame, of no package":        {law, "C.send(C.java:1)", "", "", "Request"},
		"one frame of the app":            {law, "de.jdsoft.law.A.b(A.java:2)", "", "de.jdsoft.law.A.b(A.java:2)", "de.jdsoft.law.Load"},
	} {
		stack := strings.Split(c.stack, "|")
		if got, line := library(stack, c.class, c.app), ownLine(stack, c.app); got != c.want || line != c.line {
			t.Errorf("%s: %q at %q, want %q at %q", name, got, line, c.want, c.line)
		}
	}
	if got := packageOf("com.loopj.http.Client.get"); got != "com.loopj.http" {
		t.Errorf("the package is %q", got)
	}
	if got := brief("de.jdsoft.law.A.b(A.java:2)"); got != "A.b(A.java:2)" {
		t.Errorf("in brief %q", got)
	}
}

// A group is the same in another run by its event, its name and the most similar stack.
func TestFindSameGroup(t *testing.T) {
	r := recordedRun("r", 1, []run.TaskUnit{serial}, from(of("Load", 0, 0, 1), "a.A.x(A.java:1)", "a.A.y(A.java:2)"), from(of("Load", 0, 0, 1), "b.B.x(B.java:1)", "a.A.y(A.java:2)"), of("Save", 0, 0, 1))
	other := from(of("Load", 0, 0, 1), "b.B.x(B.java:77)", "a.A.y(A.java:99)")
	s := sideOf(r)
	if got := s.find(s, other); !slices.Equal(got, []int{1}) {
		t.Errorf("%v, want the one whose methods are the same", got)
	}
	other.Event = "close"
	if got := s.find(s, other); got != nil {
		t.Errorf("of another event %v", got)
	}
	if got := s.findAny(s, other); !slices.Equal(got, []int{1}) {
		t.Errorf("in any event %v", got)
	}
	if a, b := unitName(run.TaskUnit{Kind: "thread-pool", Name: "pool-2-thread"}), unitName(run.TaskUnit{Kind: "thread-pool", Name: "pool-11-thread"}); a != b {
		t.Errorf("%q and %q are two units", a, b)
	}
}

// The picture has the wait first, then what ran meanwhile and the task itself, from when it was
// due; below it the longest wait before.
func TestPictureOfAWait(t *testing.T) {
	head := queue("head")
	head.Tasks.Groups[0].Longest = []run.SlowTask{{Repetition: 3, AtMS: 990, DelayMS: 10, QueuedMS: 900, RanMS: 200, Thread: "AsyncTask #1", Ahead: []run.TaskRun{{Group: 1, FromMS: 980, ToMS: 1_430, Thread: "AsyncTask #1"}, {Group: -1, FromMS: 1_430, ToMS: 1_900}}}}
	before := of("Picture", 1, 2, 200)
	before.Longest = []run.SlowTask{{AtMS: 500, QueuedMS: 2, RanMS: 190}}
	base := recordedRun("base", 210, []run.TaskUnit{serial, wide}, before, of("Sync", 1, 0, 450), of("Log", 1, 0, 450), background())
	got := only(t, Explain(head, []run.Run{base}, shown))
	want := []diagnose.DrawnFrame{
		{Role: diagnose.Waited, Repetition: 3, TookMS: 1_100, Steps: []diagnose.Step{
			{Thread: "Picture", Kind: diagnose.Queued, ToMS: 900},
			{Thread: "AsyncTask #1", Kind: run.WaitRunning, What: "Sync", FromMS: -20, ToMS: 430},
			{Thread: "AsyncTask", Kind: run.WaitRunning, What: "a task of a group that is left out", FromMS: 430, ToMS: 900},
			{Thread: "AsyncTask #1", Kind: run.WaitRunning, What: "Picture", FromMS: 900, ToMS: 1_100},
		}},
		{Role: diagnose.WaitedBefore, TookMS: 192, Steps: []diagnose.Step{
			{Thread: "Picture", Kind: diagnose.Queued, ToMS: 2}, {Thread: "wide", Kind: run.WaitRunning, What: "Picture", FromMS: 2, ToMS: 192},
		}},
	}
	if diff := cmp.Diff(want, got.Picture.Threads.Frames); diff != "" {
		t.Error(diff)
	}
	if d := got.FurtherPicture; d == nil || d.Delays.OverMS != 500 || d.Delays.List[0].Base.QuantilesMS[2] != 2*1.04 || d.Delays.List[0].Head.QuantilesMS[0] != 900 {
		t.Errorf("the delays are %+v", d)
	}
	if want := "Picture waits up to 936ms (before: 2.04ms) in AsyncTask, which runs one task at a time (before: in wide, 8 at a time)"; !strings.HasPrefix(said(got.Sentence), want) {
		t.Errorf("the sentence is %q, want %q at its beginning", said(got.Sentence), want)
	}
}

// What the task ahead and the task itself waited for is in the sentence, and in the picture below
// both, on one axis that begins with the event.
func TestWhatTasksWaitedForThemselves(t *testing.T) {
	step := func(kind, does, what, thread string) run.TaskStep {
		return run.TaskStep{Kind: kind, Does: does, What: what, Thread: thread, FromMS: 1_010, ToMS: 1_610}
	}
	long := []run.TaskUnit{serial, wide}
	for want, path := range map[string]run.TaskStep{
		"on average: Sync, which waited for storage for up to 600ms (92 % of its run); 100 %":                                                step(run.WaitIO, "", "f2fs_wait", ""),
		"on average: Sync, which waited for the lock that db-writer held for up to 600ms (92 % of its run); 100 %":                           step(run.WaitLock, run.WaitRunning, "db-writer at Store.write", "db-writer"),
		"on average: Sync, which waited for the lock that db-writer held for up to 600ms (92 % of its run), and that for storage; 100 %":     step(run.WaitLock, run.WaitIO, "db-writer at Store.write", "db-writer"),
		"on average: Sync, which waited for binder IFeed::query of com.example.backend for up to 600ms (92 % of its run); 100 %":             step(run.WaitBinder, run.WaitRunning, "com.example.backend IFeed::query", "binder:9_1"),
		"on average: Sync, which waited for something that the trace does not show, such as the network, for up to 600ms (92 % of its run);": step(run.WaitSleep, "", "", ""),
		"on average: Sync; 100 %": step(run.WaitRunning, "", "Sync.run", ""),
	} {
		picture, sync := of("Picture", 0, 640, 200), of("Sync", 0, 0, 650)
		picture.Longest = []run.SlowTask{{Repetition: 1, AtMS: 1_010, QueuedMS: 640, RanMS: 200, Sender: "main", Thread: "AsyncTask #1", EventMS: 980,
			Path:  []run.TaskStep{{Kind: run.WaitIO, FromMS: 1_650, ToMS: 1_700}, {Kind: run.WaitRunning, FromMS: 1_700, ToMS: 1_850}},
			Ahead: []run.TaskRun{{Group: 1, FromMS: 1_000, ToMS: 1_650, Thread: "AsyncTask #1", Path: []run.TaskStep{{Kind: run.WaitRunning, FromMS: 1_000, ToMS: 1_010}, path}}}}}
		head := recordedRun("head", 850, long, late(picture, 1, 650, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 650}), sync, background())
		base := recordedRun("base", 210, long, of("Picture", 0, 2, 200), of("Sync", 1, 0, 650), background())
		got := only(t, Explain(head, []run.Run{base}, shown))
		if !strings.Contains(said(got.Sentence), want) {
			t.Errorf("%q, want %q in it", said(got.Sentence), want)
		}
		steps := []diagnose.Step{
			{Thread: "Picture", Kind: diagnose.Queued, ToMS: 640}, {Thread: "after open", Kind: diagnose.Scheduling, FromMS: -30},
			{Thread: "AsyncTask #1", Kind: run.WaitRunning, What: "Sync", FromMS: -10, ToMS: 640}, {Thread: "AsyncTask #1", Kind: run.WaitRunning, What: "Picture", FromMS: 640, ToMS: 840},
			{Thread: "AsyncTask #1 in detail", Kind: run.WaitRunning, FromMS: -10}, {Thread: std.Or(path.Thread, "AsyncTask #1 in detail"), Kind: path.Kind, Does: path.Does, What: path.What, FromMS: 0, ToMS: 600},
			{Thread: "AsyncTask #1 in detail", Kind: run.WaitIO, FromMS: 640, ToMS: 690}, {Thread: "AsyncTask #1 in detail", Kind: run.WaitRunning, FromMS: 690, ToMS: 840},
		}
		if diff := cmp.Diff(steps, got.Picture.Threads.Frames[0].Steps); diff != "" {
			t.Error(diff)
		}
	}
}

// The tables have the numbers of both builds, and the lines that schedule each group.
func TestTablesOfAQueue(t *testing.T) {
	head := queue("head")
	head.Tasks.Groups[0].Context = []string{"android.os.AsyncTask.execute(AsyncTask.java:535)", "de.jdsoft.law.List.onCreate(List.java:91)"}
	base := recordedRun("base", 210, []run.TaskUnit{serial, wide}, of("Picture", 0, 2, 100), of("Sync", 1, 0, 450), background())
	got := only(t, Explain(head, []run.Run{base}, shown))
	var rows []string
	for _, table := range got.Tables {
		for _, r := range table.Rows {
			var cells []string
			for _, c := range r.Cells {
				cells = append(cells, said(c))
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
	}
	want := []string{
		"c1 Picture | 5 | 936ms | 2.08ms | 200ms | 100ms | 200ms | waits",
		"c2 Sync | 5 | 0ms | 0ms | 450ms | 450ms | 450ms | ahead, new here",
		"c3 Log | 5 | 468ms |  | 450ms |  | 450ms | ahead, new here",
		"android.os.AsyncTask.execute(AsyncTask.java:535) | c1",
		"de.jdsoft.law.List.onCreate(List.java:91) | c1, own",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

// The largest records, of similar tasks alone, take two seconds.
func TestLargestRecords(t *testing.T) {
	t.Parallel()
	made := func(id string, waits float64) run.Run {
		var groups []run.TaskGroup
		for i := range run.MaxTaskGroups {
			g := of("Load", 0, waits, 50)
			g.Event = fmt.Sprint("event ", i%12)
			for k := range run.MaxStack {
				g.Context = append(g.Context, fmt.Sprintf("com.example.C%d.m%d(C.java:1)", i%7, k))
			}
			var ahead []run.TasksAhead
			for k := range run.MaxTasksWaited {
				ahead = append(ahead, run.TasksAhead{Group: (i + k) % run.MaxTaskGroups, Tasks: 5, RanMS: 50})
			}
			groups = append(groups, late(g, 20, 50, ahead...))
		}
		return recordedRun(id, 1, []run.TaskUnit{serial, wide}, groups...)
	}
	var base []run.Run
	var found []diagnose.Finding
	for i := range 2 {
		base = append(base, made(fmt.Sprint("base ", i), 2))
	}
	for i := range 12 {
		found = append(found, diagnose.Finding{Event: fmt.Sprint("event ", i), Metric: "tasks.queued_ms", Direction: gate.ToRegression})
	}
	begun := time.Now()
	if got, took := Explain(made("head", 1_000), base, found), time.Since(begun); len(got) == 0 || took > time.Minute {
		t.Errorf("%d causes, and it took %v", len(got), took)
	}
}

// What a source can't tell of a queue may show another defect: then nothing is clear.
func TestWhatIsUntoldIsNotClear(t *testing.T) {
	own := []string{"java.lang.Thread.start(Thread.java:1)", law + ".Main.onClick(Main.java:3)"}
	for name, c := range map[string]struct {
		change func(*run.Run)
		sure   diagnose.Sure
	}{
		"all is told":                 {func(*run.Run) {}, diagnose.Clear},
		"no stack of what waits":      {func(r *run.Run) { r.Tasks.Groups[0].Context = nil }, diagnose.Clear},
		"no stack of what is ahead":   {func(r *run.Run) { r.Tasks.Groups[1].Context = nil }, diagnose.Likely},
		"no line of the app ahead":    {func(r *run.Run) { r.Tasks.Groups[1].Context = []string{"com.loopj.http.C.send(C.java:1)"} }, diagnose.Likely},
		"no stacks":                   {func(r *run.Run) { r.Tasks.Tells = []string{run.TellsCapacity, run.TellsCancellation} }, diagnose.Likely},
		"no size":                     {func(r *run.Run) { r.Tasks.Units[0].Capacity = 0 }, diagnose.Likely},
		"no cancellation":             {func(r *run.Run) { r.Tasks.Tells = r.Tasks.Tells[:2] }, diagnose.Clear},
		"scheduled again, told":       {func(r *run.Run) { r.Tasks.Groups[1].Superseded = 1 }, diagnose.Clear},
		"scheduled again, but untold": {func(r *run.Run) { r.Tasks.Groups[1].Superseded, r.Tasks.Tells = 1, r.Tasks.Tells[:2] }, diagnose.Likely},
	} {
		head := recordedRun("head", 1_810, []run.TaskUnit{serial, wide}, late(from(of("Picture", 0, 1_600, 200), own...), 1, 1_650, run.TasksAhead{Group: 1, Tasks: 5, RanMS: 1_650}), from(of("Sync", 0, 0, 1_650), own...), from(background(), own...))
		base := recordedRun("base", 210, []run.TaskUnit{serial, wide}, from(of("Picture", 0, 2, 200), own...), from(of("Sync", 1, 0, 1_650), own...), from(background(), own...))
		head.Session, base.Session = "rounds", "rounds"
		c.change(&head)
		if got := only(t, Explain(head, []run.Run{base}, shown)); got.Explains.Sure != c.sure {
			t.Errorf("%s: %s, want %s", name, got.Explains.Sure, c.sure)
		}
	}
}
