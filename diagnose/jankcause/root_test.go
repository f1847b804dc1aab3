package jankcause

import (
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
