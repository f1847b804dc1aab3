package show_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
)

// A worker of a pool is woken by the main thread; the app writes no sections of its tasks.
const pooled = `# tracer: nop
#
 com.example.app-100   (  100) [000] ....     0.001000: tracing_mark_write: B|100|x
 com.example.app-100   (  100) [000] ....     0.001100: tracing_mark_write: E|100
 pool-1-thread-1-101   (  100) [000] ....     0.001200: tracing_mark_write: B|100|x
 pool-1-thread-1-101   (  100) [000] ....     0.001300: tracing_mark_write: E|100
 pool-1-thread-1-101   (  100) [000] d..3     0.002000: sched_switch: prev_comm=pool-1-thread-1 prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=com.example.app next_pid=100 next_prio=120
 com.example.app-100   (  100) [000] d..4     0.010000: sched_waking: comm=pool-1-thread-1 pid=101 prio=120 target_cpu=001
          <idle>-0     (-----) [001] d..3     0.012000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=pool-1-thread-1 next_pid=101 next_prio=120
 pool-1-thread-1-101   (  100) [001] d..3     0.040000: sched_switch: prev_comm=pool-1-thread-1 prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
`

// Pools are read of an app that is named, and only there.
func TestInspectTasksOfPools(t *testing.T) {
	t.Parallel()
	path := clitest.WriteFile(t, filepath.Join(t.TempDir(), "pool.txt"), pooled)
	got := clitest.Run(t, nil, "inspect", "tasks", path, "--package", "com.example.app")
	for _, want := range []string{"sched: 1 task of 1 unit; it tells no stack, capacity or cancellation", "pool-1-thread (thread-pool): 1 scheduled, 1 started, 1 done, 0 cancelled; waited up to 2.000 ms, ran up to 28.000 ms", "warning: tasks of pools are known by the scheduler alone"} {
		if got.Status != 0 || !strings.Contains(got.Stdout, want) {
			t.Errorf("no %q in exit status %d\n%s%s", want, got.Status, got.Stdout, got.Stderr)
		}
	}
	clitest.Fails(t, clitest.Run(t, nil, "inspect", "tasks", path), 2, "nothing in it can be read as tasks")
	clitest.Fails(t, clitest.Run(t, nil, "inspect", "systrace", path, "--package", "com.example.app"), 2, "--package is for the reader tasks")
}
