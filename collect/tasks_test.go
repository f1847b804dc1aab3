package collect_test

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/jankcause"
	"github.com/apkgate/apkgate/diagnose/queueing"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
)

// queued is an app whose message with the picture stands behind a sync of 600 ms.
const queued = `registers-perfetto
noise session 0% repetition 0% frame 0% tail 0%
unit saver handler-thread
task sync on saver after open-message code 7 runs 20ms network 600ms traces Saver.sync
task show on saver after open-message at 10ms code 8 runs 10ms shows 12
task note on saver after scroll runs 5ms
`

// wrapped are units of it whose tasks it records itself, of which one is a looper too.
const wrapped = `unit images thread-pool size 1 wrapped
unit disk handler-thread wrapped
task icon on images after open-message runs 20ms network 300ms of com.example.Icon from com.example.Icons.load(Icons.java:31)
task photo on images after open-message at 10ms runs 10ms of com.example.Photo from com.example.Inbox.show(Inbox.java:80)
task flush on disk after open-message code 3 runs 10ms of com.example.Flush from com.example.Disk.flush(Disk.java:7)
`

// recordTasks measures the app twice on a phone, with tasks recorded or not.
func recordTasks(t *testing.T, profile, lines string, wanted bool) run.Run {
	t.Helper()
	s, job, folder, _ := watched(t, profile, config.KeepWorst, simulator.Options{})
	job.Evidence.Tasks = wanted
	job.Scenario.Repetitions, job.Scenario.WarmUp = 2, 0
	job.App.APK = demoWith(t, lines)
	r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
	wantComplete(t, r, 2)
	left(t, s)
	return r.Run
}

// The record shows what waited behind what, and the metrics of the event have the longest wait.
func TestTasksAreRecorded(t *testing.T) {
	t.Parallel()
	r := recordTasks(t, "pixel-7-android-16", queued+wrapped, true)
	if r.Context["recorded"] != "perfetto with tasks" || r.Tasks == nil || r.Tasks.Source != "mq-sections" || strings.Join(r.Tasks.Tells, ",") != "contexts,capacity,cancellation" {
		t.Fatalf("recorded %q: %+v", r.Context["recorded"], r.Tasks)
	}
	for _, w := range r.Warnings {
		if strings.Contains(w.Text, "task") {
			t.Errorf("warned: %s", w.Text)
		}
	}
	found := map[string]run.TaskGroup{}
	for _, g := range r.Tasks.Groups {
		found[r.Tasks.Units[g.Unit].Name+" "+g.Name+" "+g.Event] = g
	}
	sync, show := found["saver message 7: Saver.sync from main open-message"], found["saver message 8 from main open-message"]
	// On a phone of speed 0.7 whose code is not compiled: CPU times change, waits for the network
	// do not.
	if sync.Done != 2 || sync.Ran.MeanMS < 605 || sync.Ran.MeanMS > 630 || show.Started != 2 || show.Queued.MeanMS < sync.Ran.MeanMS-12 || show.Queued.MeanMS > sync.Ran.MeanMS {
		t.Errorf("sync %+v\nshow %+v\nof %v", sync, show, r.Tasks.Groups)
	}
	for name, want := range map[string]struct{ waits, runs float64 }{
		"images com.example.Icon open-message": {0, 314}, "images com.example.Photo open-message": {304, 7}, "disk com.example.Flush open-message": {0, 10},
	} {
		// Each in both repetitions, and in one group: the looper's messages are not counted again.
		if g := found[name]; g.Done != 2 || len(g.Context) != 1 || g.Queued.MeanMS < want.waits-5 || g.Queued.MeanMS > want.waits+15 || g.Ran.MeanMS < want.runs-5 || g.Ran.MeanMS > want.runs+15 {
			t.Errorf("%s: %+v, want waits of %v ms and runs of %v ms", name, g, want.waits, want.runs)
		}
	}
	for name, g := range found {
		if strings.HasPrefix(name, "disk ") && !strings.Contains(name, "Flush") {
			t.Errorf("the looper has %s, too: %+v", name, g)
		}
	}
	if len(show.WaitedFor) == 0 || r.Tasks.Groups[show.WaitedFor[0].Group].Name != sync.Name {
		t.Errorf("what shows the message waited for %+v", show.WaitedFor)
	}
	for _, it := range r.Iterations {
		for _, b := range it.Events {
			waited, longest, waiting := b.Metrics["tasks.queued_ms"], b.Metrics["tasks.ran_ms"], b.Metrics["tasks.waiting"]
			if b.Name == "open-message" && (waited < 595 || waited > 630 || longest < 605 || longest > 630 || waiting != 1) || b.Name != "open-message" && (waited > 50 || longest > 50) {
				t.Errorf("%s: waited %v ms, ran %v ms, %v waiting", b.Name, waited, longest, waiting)
			}
		}
		if it.Metrics["tasks.queued_ms"] < 595 || it.Metrics["tasks.waiting"] != 1 {
			t.Errorf("the whole: %v ms, %v waiting", it.Metrics["tasks.queued_ms"], it.Metrics["tasks.waiting"])
		}
	}
}

// What a task waits for itself, and what the one ahead of it does, is in the record though no frame
// waits for it, and the cause names it: storage, the lock of a thread, or something outside the trace.
func TestWhatTasksWaitForIsRecorded(t *testing.T) {
	t.Parallel()
	const app = `registers-perfetto
noise session 0% repetition 0% frame 0% tail 0%
unit reader handler-thread
unit keeper handler-thread
unit loader handler-thread
unit asker handler-thread
task read on reader after open-message code 1 runs 20ms io 700ms
task hits on reader after open-message at 10ms code 2 runs 10ms
task lock on keeper after open-message code 3 runs 20ms lock 700ms
task keys on keeper after open-message at 10ms code 4 runs 10ms
task load on loader after open-message code 5 runs 20ms network 700ms
task page on loader after open-message at 10ms code 6 runs 10ms
task ask on asker after open-message code 7 runs 20ms binder com.example.backend com.example.IFeed::query 680ms
task feed on asker after open-message at 10ms code 8 runs 10ms
`
	r := recordTasks(t, "pixel-7-android-16", app, true)
	for unit, want := range map[string]run.TaskStep{"reader": {Kind: run.WaitIO}, "keeper": {Kind: run.WaitLock, Thread: "db-writer"}, "loader": {Kind: run.WaitSleep}, "asker": {Kind: run.WaitBinder, Process: "com.example.backend"}} {
		found := false
		for _, g := range r.Tasks.Groups {
			if r.Tasks.Units[g.Unit].Name != unit || g.Late == nil {
				continue
			}
			found = true
			ahead := g.Longest[0].Ahead[0]
			took := 0.0
			for _, s := range ahead.Path {
				if s.Kind == want.Kind && s.Process == want.Process && (s.Process != "" || s.Thread == want.Thread) {
					took += s.ToMS - s.FromMS
				}
			}
			first, last := ahead.Path[0].FromMS, ahead.Path[len(ahead.Path)-1].ToMS
			if took < 670 || took > 720 || first < ahead.FromMS-0.01 || last > ahead.ToMS+0.01 || last-first < 700 || g.Longest[0].EventMS > g.Longest[0].AtMS-9 || g.Longest[0].EventMS < g.Longest[0].AtMS-40 {
				t.Errorf("%s: %v ms of %+v; %+v", unit, took, want, g.Longest[0])
			}
		}
		if !found {
			t.Errorf("nothing waited for %s: %+v", unit, r.Tasks.Groups)
		}
	}
	said := ""
	for _, c := range queueing.Explain(r, nil, nil) {
		for _, part := range c.Sentence {
			said += part.Text + part.Name
		}
	}
	for _, want := range []string{"waited for storage for up to ", "waited for the lock that db-writer held for up to ", "waited for something that the trace does not show, such as the network, for up to ", "waited for binder com.example.IFeed::query of com.example.backend for up to "} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// A frame that waits for a task on another thread is late until that task is done: the cause of the
// frame names the task, and that of the queue in which it had stood the frame.
func TestFrameThatWaitsForATaskIsRecorded(t *testing.T) {
	t.Parallel()
	// The event's 48 frames, at 60 Hz, are over after 800 ms. Frame 60, at 90 Hz, begins after some
	// 660 ms, when load reads: from 620 ms on, for 400 ms.
	r := recordTasks(t, "pixel-7-android-16", `registers-perfetto
noise session 0% repetition 0% frame 0% tail 0%
unit loader handler-thread
task sync on loader after open-message code 1 runs 20ms network 600ms traces Loader.sync
task load on loader after open-message at 10ms code 2 runs 20ms io 400ms traces Loader.load
blocks task load after open-message every 1000 from 60 in layout
`, true)
	late := 0
	for _, f := range r.Frames.Worst {
		if f.Event == "open-message" && f.DurationMS > 300 && f.DurationMS < 450 {
			late++
		}
	}
	if late != 2 {
		t.Errorf("%d frames took about 380 ms, want one in each repetition: %+v", late, r.Frames.Worst)
	}
	said := ""
	found := []diagnose.Finding{{Event: "open-message", Metric: "frames.late", Direction: gate.ToRegression}}
	for _, c := range append(jankcause.Explain(r, nil, found), queueing.Explain(r, nil, found)...) {
		for _, part := range c.Sentence {
			said += part.Text + part.Name
		}
		said += "\n"
	}
	for _, want := range []string{"waiting for loader, which itself waits for storage, in the task message 2: Loader.load from main (after  in its queue)", " late frames wait for it, which itself waits for storage"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// A task that runs on after the event with which its screen goes is obsolete, as the activity's
// stop in the trace tells.
func TestObsoleteTasksAreRecorded(t *testing.T) {
	t.Parallel()
	r := recordTasks(t, "pixel-7-android-16", queued+"task fare on saver after open-message code 9 runs 5ms network 9s until scroll-message\n", true)
	found := map[string]int{}
	for _, g := range r.Tasks.Groups {
		found[g.Name] += g.Obsolete
	}
	if found["message 9 from main"] != 2 || found["message 8 from main"] != 0 || found["message 7: Saver.sync from main"] != 0 {
		t.Errorf("obsolete are %v", found)
	}
}

// Before Android 16, the sections that the app writes of a pool's tasks are recorded.
func TestTasksOfSectionsAreRecorded(t *testing.T) {
	t.Parallel()
	r := recordTasks(t, "pixel-7-android-15", `noise session 0% repetition 0% frame 0% tail 0%
unit images thread-pool size 1 wrapped
task sync on images after open-message runs 20ms network 600ms of com.example.Sync from com.example.Sync.start(Sync.java:31)
task show on images after open-message at 10ms runs 10ms of com.example.Show from com.example.Inbox.show(Inbox.java:80)
`, true)
	if r.Context["recorded"] != "perfetto" || r.Tasks == nil || r.Tasks.Source != "sections" {
		t.Fatalf("recorded %q: %+v, warnings %v", r.Context["recorded"], r.Tasks, r.Warnings)
	}
	if u := r.Tasks.Units[0]; u.Name != "images" || u.Kind != run.ThreadPool || u.Capacity != 1 {
		t.Errorf("the unit is %+v", u)
	}
	for _, g := range r.Tasks.Groups {
		waited := g.Name == "com.example.Show"
		if g.Done != 2 || waited != (g.Queued.MeanMS > 590) || waited != (g.Late != nil) || len(g.Context) != 1 || g.Event != "open-message" {
			t.Errorf("%+v", g)
		}
	}
	if waited := r.Iterations[0].Metrics["tasks.queued_ms"]; waited < 590 || waited > 630 {
		t.Errorf("tasks.queued_ms is %v", waited)
	}
}

// Without the key, on a phone that exposes nothing, and for an app that does not register, there is
// neither section nor metric; the reason is a warning, once.
func TestTasksThatAreNotExposed(t *testing.T) {
	t.Parallel()
	const warning = "no asynchronous tasks are known"
	for name, c := range map[string]struct {
		profile, lines, recorded string
		wanted                   bool
		warned                   int
	}{
		"not asked for":   {"pixel-7-android-16", queued, "perfetto", false, 0},
		"Android 15":      {"pixel-7-android-15", queued, "perfetto", true, 1},
		"the flag is off": {"pixel-6-android-16", queued, "perfetto with tasks", true, 1},
		"not registered":  {"pixel-7-android-16", strings.Replace(queued, "registers-perfetto\n", "", 1), "perfetto with tasks", true, 1},
	} {
		r := recordTasks(t, c.profile, c.lines, c.wanted)
		_, known := r.Iterations[0].Metrics["tasks.queued_ms"]
		warned := 0
		for _, w := range r.Warnings {
			warned += strings.Count(w.Text, warning)
		}
		if r.Tasks != nil || known || warned != c.warned || r.Context["recorded"] != c.recorded {
			t.Errorf("%s: %+v, known %v, warned %d times, recorded %q", name, r.Tasks, known, warned, r.Context["recorded"])
		}
	}
}

// A picture behind a queue of one comes late, and no frame is: with a second thread it is there when
// its own task is done.
func TestLatePictureIsNoLateFrame(t *testing.T) {
	t.Parallel()
	const app = `noise session 0% repetition 0% frame 0% tail 0%
unit tasks async-task
unit pool-1 thread-pool size 2
task sync on tasks after back network 1s
task show on tasks after back at 10ms network 600ms shows 12
`
	r := recordTasks(t, "pixel-7-android-16", app, false)
	fixed := recordTasks(t, "pixel-7-android-16", strings.ReplaceAll(app, " on tasks ", " on pool-1 "), false)
	last := func(r run.Run, metric string) float64 { return r.Iterations[0].Events[5].Metrics[metric] }
	late, soon := last(r, "events.settled_ms"), last(fixed, "events.settled_ms")
	// 1,600 ms and 610 ms until the picture, which 12 frames at 60 Hz draw.
	if late < 1780 || late > 1850 || soon < 790 || soon > 860 || r.Iterations[0].Metrics["events.settled_ms"] < late {
		t.Errorf("settled after %v ms, and %v ms with two threads", late, soon)
	}
	if n := last(r, "frames.late"); n > last(fixed, "frames.late")+1 {
		t.Errorf("%v late frames, and %v with two threads", n, last(fixed, "frames.late"))
	}
}
