package diagnosecmd_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/report/saved"
)

// cold is a text trace of a cold start. Its times are in milliseconds.
func cold() string {
	var lines []line
	add := func(name string, tid, group int, at float64, event string) {
		lines = append(lines, line{at, fmt.Sprintf("%s-%d (%5d) [001] d..3 %.6f: %s\n", name, tid, group, 10+at/1000, event)})
	}
	mark := func(name string, tid, group int, at float64, text string) {
		add(name, tid, group, at, "tracing_mark_write: "+text)
	}
	slice := func(tid int, name, text string, from, to float64) {
		mark(name, tid, 100, from, "B|100|"+text)
		mark(name, tid, 100, to, "E|100")
	}
	turn := func(tid int, name string, from, to float64) {
		add("swapper", 0, 0, from, fmt.Sprintf("sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=%s next_pid=%d next_prio=110", name, tid))
		add(name, tid, 100, to, fmt.Sprintf("sched_switch: prev_comm=%s prev_pid=%d prev_prio=110 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120", name, tid))
	}
	const app = "om.example.mail"
	mark("system_server", 50, 50, 0, "S|50|launching: com.example.mail|1")
	turn(100, app, 90, 270)
	slice(100, app, "bindApplication", 100, 180)
	slice(100, app, "activityStart", 180, 230)
	slice(100, app, "activityResume", 230, 250)
	slice(100, app, "Choreographer#doFrame", 255, 268)
	turn(101, "RenderThread", 271, 292)
	slice(101, "RenderThread", "DrawFrame", 272, 290)
	mark("system_server", 50, 50, 300, "F|50|launching: com.example.mail|1")
	slice(100, app, "reportFullyDrawn", 500, 501)
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.ms, b.ms) })
	text := "# tracer: nop\n#\n#           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
	for _, l := range lines {
		text += l.text
	}
	return text
}

// A start is told apart by Android's own slices, and the threads by their states.
func TestStartAndThreads(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cold.html")
	write(t, file, page(cold()))
	var got saved.Diagnosis
	if err := json.Unmarshal([]byte(passes(t, file, "--format", "json").Stdout), &got); err != nil || got.Activity == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	start := []saved.StartPart{
		{Name: "until bindApplication", AtMS: 0, TookMS: 100}, {Name: "bindApplication", AtMS: 100, TookMS: 80}, {Name: "activityStart", AtMS: 180, TookMS: 50},
		{Name: "activityResume", AtMS: 230, TookMS: 20}, {Name: "first frame", AtMS: 255, TookMS: 35}, {Name: "displayed", AtMS: 0, TookMS: 300}, {Name: "reportFullyDrawn", AtMS: 0, TookMS: 500},
	}
	if diff := gocmp.Diff(start, got.Activity.Start); diff != "" {
		t.Errorf("the start (-want +got):\n%s", diff)
	}
	if th := got.Activity.Threads; got.Package != "com.example.mail" || len(th) != 2 || th[0].RunningMS != 180 || th[1].RunningMS != 21 || th[1].Name != "RenderThread" {
		t.Errorf("%s: %+v", got.Package, th)
	}
	says(t, "the text", passes(t, file).Stdout, "App com.example.mail: 2 threads ran for 201 ms", "What the start took", "bindApplication 100 ms 80 ms", "What its threads did")
}

// A trace without frames says what ran, and of several apps which there are.
func TestSchedulingAlone(t *testing.T) {
	t.Parallel()
	text := func(more string) string {
		return "# tracer: nop\n" + `swapper-0 (-----) [001] d..3 10.000000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=om.example.mail next_pid=100 next_prio=110
om.example.mail-100 (  100) [001] d..3 10.030000: sched_switch: prev_comm=om.example.mail prev_pid=100 prev_prio=110 prev_state=D ==> next_comm=swapper/1 next_pid=0 next_prio=120
swapper-0 (-----) [001] d..3 10.050000: sched_waking: comm=om.example.mail pid=100 prio=110 target_cpu=001
swapper-0 (-----) [001] d..3 10.055000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=om.example.mail next_pid=100 next_prio=110
om.example.mail-100 (  100) [001] d..3 10.065000: sched_switch: prev_comm=om.example.mail prev_pid=100 prev_prio=110 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
` + more
	}
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	write(t, one, text(""))
	write(t, two, text(`swapper-0 (-----) [001] d..3 10.070000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=com.example.a next_pid=200 next_prio=110
com.example.a-200 (  200) [001] d..3 10.075000: sched_switch: prev_comm=com.example.a prev_pid=200 prev_prio=110 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
`))
	says(t, "one app", passes(t, one).Stdout, "App om.example.mail: 1 thread ran for 40 ms", "om.example.mail 40 ms 5 ms", "20 ms")
	clitest.Refuses(t, clitest.Run(t, nil, "diagnose", two), "has no frames but several apps", "om.example.mail (40 ms) and com.example.a (5 ms)")
	lost := filepath.Join(dir, "lost")
	write(t, lost, text("CPU:1 [LOST 12 EVENTS]\n"))
	says(t, "one with gaps", passes(t, lost).Stdout, "1 thread ran for 40 ms", "events of the kernel are missing in 1 place")
	says(t, "a named one", passes(t, two, "--package", "com.example.mail").Stdout, "1 thread ran for 40 ms")
}

// The warm start of Perfetto's own test: 144.7 ms until it is displayed by its slice "launching".
func TestStartOfARealTrace(t *testing.T) {
	t.Parallel()
	got := passes(t, corpustest.Path(t, "perfetto", "api32_startup_warm.perfetto-trace"))
	says(t, "the trace", got.Stdout, "App androidx.benchmark.integration.macrobenchmark.target: ", "activityResume", "displayed", "reportFullyDrawn")
}
