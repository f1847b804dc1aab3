package jankcause

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// A chain of waits is described to its end: a lock whose owner waits for storage is both, and so is
// a call whose peer waits; one whose owner works is the lock alone.
func TestChainOfWaitsIsDescribedToItsEnd(t *testing.T) {
	before := past(ordinary(), 2, 10)
	const lock, call = "db-writer at void Store.write()", "com.example.peer IFeed::query"
	held := func(ms float64, kind, what, thread, process, does string) rendering.Step {
		s := step(ms, run.StageMeasure, kind, what)
		s.Thread, s.Process, s.Does = thread, process, does
		if process != "" {
			s.PID = 9
		}
		return s
	}
	for _, c := range []struct {
		name  string
		steps []rendering.Step
		kind  string
		ends  string // as the sentence has it, "" where the holder's work is all
	}{
		{"a lock, held while storage is read", []rendering.Step{
			held(1, run.WaitLock, lock, "db-writer", "", run.WaitRunning), held(12, run.WaitLock, lock, "db-writer", "", run.WaitIO),
			held(0.5, run.WaitLock, lock, "db-writer", "", run.WaitRunnable), held(7, run.WaitLock, lock, "db-writer", "", run.WaitIO),
		}, LockKind, ", which itself waits for storage"},
		{"a lock, held while its holder works", []rendering.Step{
			held(15, run.WaitLock, lock, "db-writer", "", run.WaitRunning), held(5, run.WaitLock, lock, "db-writer", "", run.WaitIO),
		}, LockKind, ""},
		{"a lock that the holder of another waits for", []rendering.Step{
			held(2, run.WaitLock, lock, "db-writer", "", run.WaitRunning), held(18, run.WaitLock, lock, "sync-pool-3", "", run.WaitIO),
		}, LockKind, ", behind which sync-pool-3 waits for storage"},
		{"a lock whose holder gets no processor", []rendering.Step{held(20, run.WaitLock, lock, "db-writer", "", run.WaitRunnable)}, LockKind, ", which itself waits for a processor"},
		{"a call whose peer waits for a lock", []rendering.Step{
			held(2, run.WaitBinder, call, "binder:9_1", "com.example.peer", run.WaitRunning), held(18, run.WaitBinder, call, "binder:9_1", "com.example.peer", run.WaitLock),
		}, BinderKind, ", which itself waits for another lock"},
		{"a call whose peer waits for storage", []rendering.Step{held(20, run.WaitBinder, call, "binder:9_1", "com.example.peer", run.WaitIO)}, BinderKind, ", which itself waits for storage"},
		{"a call whose peer calls another process", []rendering.Step{
			held(2, run.WaitBinder, call, "binder:9_1", "com.example.peer", run.WaitRunning), held(18, run.WaitBinder, call, "binder:8_1", "com.example.store", run.WaitRunning),
		}, BinderKind, ", which waits for com.example.store"},
		{"a call whose peer works", []rendering.Step{held(20, run.WaitBinder, call, "binder:9_1", "com.example.peer", run.WaitRunning)}, BinderKind, ""},
		{"a thread that waits for one that waits for storage", []rendering.Step{held(20, run.WaitSleep, "loader", "loader", "", run.WaitIO)}, SleepKind, ", which itself waits for storage"},
	} {
		w := ordinary()
		w.extra = func(n int, steps *[]rendering.Step) {
			if n%4 == 0 {
				*steps = append(*steps, c.steps...)
			}
		}
		causes := Explain(w.record("head", 77), before, flagged)
		if len(causes) == 0 || causes[0].Kind != c.kind {
			t.Errorf("%s: %+v", c.name, causes)
			continue
		}
		texts := map[string]string{"title": plain(causes[0].Title), "sentence": plain(causes[0].Sentence), "table": plain(causes[0].Tables[0].Rows[0].Cells[0])}
		for where, text := range texts {
			if c.ends != "" && !strings.Contains(text, c.ends) || c.ends == "" && (strings.Contains(text, ", which") || strings.Contains(text, "storage")) {
				t.Errorf("%s: the %s is %q, want %q", c.name, where, text, c.ends)
			}
		}
	}
}

// A wait for another thread names the task that ran there, and how long that was in its queue; a
// task of another time, thread or repetition, or of the main thread, is not named.
func TestWaitForATaskNamesIt(t *testing.T) {
	frame := lateOf(2, run.PathStep{Thread: "pool-1-thread-1", Kind: run.WaitSleep, Does: run.WaitRunning, What: "pool-1-thread-1", ToMS: 300})
	frame.AtMS = 5_000
	tasks := run.Tasks{
		Units: []run.TaskUnit{{Name: "pool-1", Kind: run.ThreadPool, Capacity: 1}, {Name: "main", Kind: run.MainThread}},
		Groups: []run.TaskGroup{
			{Name: "Thumbnail", Longest: []run.SlowTask{{Repetition: 2, AtMS: 4_000, QueuedMS: 990, RanMS: 320, Thread: "pool-1-thread-1"}}},
			{Name: "Choreographer", Unit: 1, Longest: []run.SlowTask{{Repetition: 2, AtMS: 4_990, RanMS: 320, Thread: "main"}}},
		},
	}
	const named, waited = ", in the task Thumbnail", " (after 990\u00a0ms in its queue)"
	for name, c := range map[string]struct {
		change func(*run.SlowTask)
		what   string
		want   string
	}{
		"its thread":         {func(*run.SlowTask) {}, "pool-1-thread-1", named + waited},
		"a lock of its":      {func(*run.SlowTask) {}, "pool-1-thread-1 at Cache.get", named + waited},
		"without a queue":    {func(s *run.SlowTask) { s.AtMS, s.QueuedMS = 4_990, 0 }, "pool-1-thread-1", named},
		"another repetition": {func(s *run.SlowTask) { s.Repetition = 1 }, "pool-1-thread-1", ""},
		"before":             {func(s *run.SlowTask) { s.RanMS = 9 }, "pool-1-thread-1", ""},
		"another thread":     {func(*run.SlowTask) {}, "pool-1-thread-2", ""},
		"the main thread":    {func(*run.SlowTask) {}, "main", ""},
	} {
		of := tasks
		of.Groups = slices.Clone(tasks.Groups)
		of.Groups[0].Longest = slices.Clone(tasks.Groups[0].Longest)
		c.change(&of.Groups[0].Longest[0])
		frame.Path[0].What = c.what
		kind := SleepKind
		if strings.Contains(c.what, " at ") {
			frame.Path[0].Kind, kind = run.WaitLock, LockKind
		} else {
			frame.Path[0].Kind = run.WaitSleep
		}
		one := teller{head: run.Run{Frames: &run.Frames{Worst: []run.LateFrame{frame}}, Tasks: &of}}
		if got := plain(one.taskOf(blame{kind: kind})); got != strings.ReplaceAll(c.want, "\u00a0", " ") && got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
