package phone

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// pictured plays the test of the still app with tasks, and returns its tasks and when its last
// frame was on the screen, from the tap on.
func pictured(t *testing.T, lines string) (tasks []timeline.Task, last time.Duration) {
	t.Helper()
	p := newPhone(t, "pixel-7-android-16", strings.Replace(still, "tap 60", "tap 6", 1)+lines)
	begin := p.clock.Now()
	start(p, instrument)
	pass(t, p, 6*time.Second)
	l := windowsOf(p, "com.example.still")[0]
	if len(p.Timeline().Tasks) > 0 {
		begin = p.timeline.Tasks[0].Scheduled
	}
	return p.timeline.Tasks, l.Frames[len(l.Frames)-1].Presented - begin
}

// TestQueueDelaysThePicture: no frame takes longer, but what shows the picture stands in a queue
// of one behind a sync of 1.6 s.
func TestQueueDelaysThePicture(t *testing.T) {
	t.Parallel()
	const sync, show = "task sync on tasks after tap network 1600ms\n", "task show on tasks after tap at 1ms runs 20ms shows 10\n"
	queued, late := pictured(t, "unit tasks async-task\n"+sync+show)
	_, soon := pictured(t, "unit tasks thread-pool size 2\n"+sync+show)
	if more := late - soon; more < 1580*time.Millisecond || more > 1640*time.Millisecond {
		t.Errorf("the picture is there after %v, and after %v with a pool of two: %v more, want about 1.6s", late, soon, more)
	}
	if len(queued) != 3 || queued[1].Thread != "AsyncTask #2" || queued[1].Started-queued[1].Scheduled < 1590*time.Millisecond {
		t.Errorf("%+v, want three tasks, the second of which waited", queued)
	}
}

// TestTasksUseTheirThreads: what a task runs is CPU time of the thread that executes it, and while
// it waits the thread sleeps.
func TestTasksUseTheirThreads(t *testing.T) {
	t.Parallel()
	tasks, _ := pictured(t, "unit pool-1 thread-pool size 2\ntask load on pool-1 after tap count 3 runs 30ms network 50ms\n")
	p := newPhone(t, "pixel-7-android-16", still+"unit pool-1 thread-pool size 2\ntask load on pool-1 after tap count 3 runs 30ms network 50ms\n")
	start(p, instrument)
	pass(t, p, 6*time.Second)
	ran := map[string]time.Duration{}
	for _, r := range p.Timeline().Runs {
		for _, one := range p.timeline.Threads {
			if one.TID == r.TID && strings.HasPrefix(one.Name, "pool-1-thread-") {
				ran[one.Name] += r.To - r.From
			}
		}
	}
	want := map[string]time.Duration{}
	for _, one := range p.timeline.Tasks {
		want[one.Thread] += one.Worked - one.Started + 50*time.Microsecond
	}
	if len(tasks) != 3 || len(ran) != 2 || fmt.Sprint(ran) != fmt.Sprint(want) {
		t.Errorf("ran for %v, want %v", ran, want)
	}
}

// TestTasksWaitForStorage: a task's thread asks for what it reads again and again, and sleeps in the
// kernel for nearly all of that time.
func TestTasksWaitForStorage(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-16", still+"unit pool-1 thread-pool size 2\ntask load on pool-1 after tap runs 30ms io 50ms\n")
	start(p, instrument)
	pass(t, p, 6*time.Second)
	slept, n := time.Duration(0), 0
	for _, one := range p.Timeline().Sleeps {
		if one.TID == p.timeline.Tasks[0].TID && one.Asks != nil && one.From >= p.timeline.Tasks[0].Worked && one.Woken <= p.timeline.Tasks[0].Done {
			slept, n = slept+one.Woken-one.From, n+1
		}
	}
	if n < 10 || slept < 48*time.Millisecond || slept > 50*time.Millisecond {
		t.Errorf("slept %d times, for %v", n, slept)
	}
}
