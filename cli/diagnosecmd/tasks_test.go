package diagnosecmd_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/trace/art/arttest"
)

// The second of two AsyncTasks waits 1,650 ms behind the first, as in DiagDroid's Figure 5.
const lateTask = `{"format":"apkgate.tasks/1","clock":"monotonic"}
{"scheduled":1000000000,"id":1,"unit":"AsyncTask.SERIAL_EXECUTOR","kind":"async-task","queue":"a","capacity":1,"name":"de.jdsoft.law.data.LawSectionList","thread":"main","stack":["android.os.AsyncTask.executeOnExecutor(Native Method)","de.jdsoft.law.LawListFragment.onCreate(LawListFragment.java:87)"]}
{"started":1001000000,"id":1,"thread":"AsyncTask #1"}
{"scheduled":1010000000,"id":2,"unit":"AsyncTask.SERIAL_EXECUTOR","kind":"async-task","queue":"a","capacity":1,"name":"de.jdsoft.law.data.UpdateLawList","thread":"main","stack":["android.os.AsyncTask.executeOnExecutor(Native Method)","de.jdsoft.law.LawListFragment.onCreate(LawListFragment.java:91)"]}
{"done":2660000000,"id":1}
{"started":2660000000,"id":2,"thread":"AsyncTask #2"}
{"done":2700000000,"id":2}
`

func TestDiagnoseRecordedTasks(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "late.jsonl", lateTask)
	got := passes(t, "late.jsonl", "--package", "de.jdsoft.law", "--json", "late.json")
	text := strings.Join(strings.Fields(got.Stdout), " ")
	for _, want := range []string{
		"Late tasks: a task waited for 1650 ms in the queue of AsyncTask.SERIAL_EXECUTOR: de.jdsoft.law.data.UpdateLawList",
		"2 tasks of 1 unit (by frida)", "LawListFragment.onCreate(", "Asynchronous tasks, by the longest wait",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, got.Stdout)
		}
	}
	raw, err := os.ReadFile("late.json")
	var d saved.Diagnosis
	if err != nil || json.Unmarshal(raw, &d) != nil || d.Kind != "tasks" || d.Tasks == nil || len(d.Causes) == 0 || d.Causes[0].Kind != "tasks.sequential" {
		t.Errorf("as JSON: %s, %v", raw, err)
	}
	write(t, "none.jsonl", `{"format":"apkgate.tasks/1"}`+"\n")
	clitest.Fails(t, clitest.Run(t, nil, "diagnose", "none.jsonl"), 2, "it has no tasks")
}

// A trace with sections and no frame is diagnosed by its tasks, a method trace by both.
func TestDiagnoseTasksOfTraces(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "sections.txt", `# tracer: nop
#
             com-100   (  100) [001] ....     0.010000: tracing_mark_write: S|100|task:disk/1>com.example.Flush|1
            disk-101   (  100) [001] ....     0.912000: tracing_mark_write: B|100|task#1 com.example.Flush
            disk-101   (  100) [001] ....     0.930000: tracing_mark_write: E|100
`)
	if got := passes(t, "sections.txt"); !strings.Contains(got.Stdout, "Late tasks: a task waited for 902 ms in the queue of disk") {
		t.Errorf("sections:\n%s", got.Stdout)
	}
	write(t, "waits.txt", `# tracer: nop
#
             com-100   (  100) [001] ....     0.010000: tracing_mark_write: S|100|task:disk/1>com.example.Sync|1
             com-100   (  100) [001] ....     0.011000: tracing_mark_write: S|100|task:disk/1>com.example.Show|2
          <idle>-0     (-----) [000] d..3     0.012000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=disk next_pid=101 next_prio=120
            disk-101   (  100) [000] ....     0.012100: tracing_mark_write: B|100|task#1 com.example.Sync
            disk-101   (  100) [000] d..3     0.013000: sched_switch: prev_comm=disk prev_pid=101 prev_prio=120 prev_state=D ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0     (-----) [000] d..3     0.912900: sched_blocked_reason: pid=101 iowait=1 caller=filemap_fault+0x1/0x2
          <idle>-0     (-----) [000] d..3     0.913000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=disk next_pid=101 next_prio=120
            disk-101   (  100) [000] ....     0.914000: tracing_mark_write: E|100
            disk-101   (  100) [000] ....     0.914001: tracing_mark_write: F|100|task:disk/1>com.example.Sync|1
            disk-101   (  100) [000] ....     0.915000: tracing_mark_write: B|100|task#2 com.example.Show
            disk-101   (  100) [000] ....     0.920000: tracing_mark_write: E|100
            disk-101   (  100) [000] ....     0.920001: tracing_mark_write: F|100|task:disk/1>com.example.Show|2
            disk-101   (  100) [000] d..3     0.921000: sched_switch: prev_comm=disk prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
`)
	got := passes(t, "waits.txt")
	if text := strings.ReplaceAll(strings.Join(strings.Fields(got.Stdout), " "), "\u00a0", " "); !strings.Contains(text, "which waited for storage for up to 900 ms (100 % of its run)") {
		t.Errorf("with scheduling:\n%s", got.Stdout)
	}
	const ms = 1_000_000
	s := arttest.Trace{
		Methods: []string{
			"com.example.Main\tonClick\t()V\tMain.java\n", "java.util.concurrent.ThreadPoolExecutor\texecute\t()V\tThreadPoolExecutor.java\n",
			"java.util.concurrent.ThreadPoolExecutor\trunWorker\t()V\tThreadPoolExecutor.java\n", "com.example.Load\trun\t()V\tLoad.java\n",
		},
		Threads: map[uint32]string{100: "main", 101: "pool-1-thread-1"}, Order: []uint32{100, 101},
	}
	for _, e := range []struct {
		thread         uint32
		method, action int
		at             uint64
	}{{101, 2, 0, 1}, {100, 0, 0, 2}, {100, 1, 0, 3}, {100, 1, 1, 4}, {100, 0, 1, 5}, {101, 3, 0, 903}, {101, 3, 1, 910}, {101, 2, 1, 920}} {
		s.Events = append(s.Events, arttest.Event{Thread: e.thread, Method: e.method, Action: e.action, Wall: e.at * ms})
	}
	write(t, "pool.trace", string(s.Text(3, "dual")))
	got = passes(t, "pool.trace", "--package", "com.example")
	text := strings.Join(strings.Fields(got.Stdout), " ")
	for _, want := range []string{"Late tasks: a task waited for 900 ms in the queue of pool-1-thread: com.example.Load", "Methods of the main thread"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, got.Stdout)
		}
	}
}
