package dispatch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

const ms = time.Millisecond

// play returns the tasks of an app without noise whose user taps at 100 ms and leaves at 2 s.
func play(t *testing.T, lines string, with func(*Play)) []timeline.Task {
	t.Helper()
	app, err := simapp.Parse([]byte(simapp.Format + "\npackage com.example.a\nnoise frame 0\n" + lines + "\nscenario main 9s\n 0.1s tap 1\n 2s back 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := Play{App: app, Speed: 1, Marks: []Mark{{100 * ms, "tap"}, {2000 * ms, "back"}}}
	if with != nil {
		with(&p)
	}
	return Tasks(p)
}

// lines returns a line a task: its name, thread, and when it was scheduled, started and done in ms.
func lines(tasks []timeline.Task) string {
	var out []string
	for _, t := range tasks {
		name := t.What.Name
		if t.Shows {
			name += "!"
		}
		one := fmt.Sprintf("%s %s %d", name, t.Sender, t.Scheduled/ms)
		if t.Thread != "" {
			one += fmt.Sprintf(" %s %d-%d", t.Thread, t.Started/ms, t.Done/ms)
		}
		if t.Removed > 0 {
			one += fmt.Sprintf(" removed %d", t.Removed/ms)
		}
		if t.Gone > 0 {
			one += fmt.Sprintf(" gone %d", t.Gone/ms)
		}
		out = append(out, one)
	}
	return strings.Join(out, "\n")
}

func TestTasksQueue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines, want string
		with        func(*Play)
	}{
		"AsyncTask runs one after the other, and shows the result on the main thread": {
			lines: "unit tasks async-task\ntask sync on tasks after tap network 1600ms\ntask list on tasks after tap at 10ms runs 20ms shows 30",
			want:  "sync main 100 AsyncTask #1 100-1700\nlist main 110 AsyncTask #2 1700-1720\nlist! AsyncTask #2 1720 main 1720-1722",
		},
		"a pool of two": {
			lines: "unit pool-1 thread-pool size 2\ntask load on pool-1 after tap count 3 every 10ms runs 100ms io 50ms",
			want:  "load main 100 pool-1-thread-1 100-250\nload main 110 pool-1-thread-2 110-260\nload main 120 pool-1-thread-1 250-400",
		},
		"a delay is no place in the queue": {
			lines: "unit h handler-thread\ntask late on h after tap delay 50ms runs 5ms code 7\ntask long on h after tap at 1ms runs 30ms\ntask next on h after tap at 2ms runs 30ms",
			want:  "late main 100 h 161-166\nlong main 101 h 101-131\nnext main 102 h 131-161",
		},
		"removed with its screen, and obsolete without": {
			lines: "unit h handler-thread\ntask sync on h after tap runs 3s\ntask a on h after tap at 1ms runs 5ms until back cancels\ntask b on h after tap at 2ms runs 5ms until back",
			want:  "sync main 100 h 100-3100\na main 101 removed 2000\nb main 102 h 3100-3105 gone 2000",
		},
		"scheduled again": {
			lines: "unit h handler-thread\ntask sync on h after tap runs 50ms\ntask query on h after tap at 1ms count 3 every 10ms runs 5ms replaces",
			want:  "sync main 100 h 100-150\nquery main 101 removed 111\nquery main 111 removed 121\nquery main 121 h 150-155",
		},
		"a suspended coroutine leaves its thread": {
			lines: "unit io coroutines size 1\ntask fetch on io after tap runs 20ms network 100ms suspends\ntask parse on io after tap at 1ms runs 150ms",
			want:  "fetch main 100 io-worker-1 100-110\nparse main 101 io-worker-1 110-260\nfetch io-worker-1 210 io-worker-1 260-270",
		},
		"a task after a task": {
			lines: "unit s intent-service\nunit p thread\ntask load on s after tap runs 10ms\ntask parse on p after load at 5ms runs 10ms",
			want:  "load main 100 IntentService[s] 100-110\nparse IntentService[s] 115 p-1 115-125",
		},
		"a busy main thread schedules late": {
			lines: "unit h handler-thread\ntask work on main after tap runs 40ms\ntask load on h after tap at 10ms runs 10ms",
			with: func(p *Play) {
				p.Holds = []timeline.Interval{{From: 90 * ms, To: 130 * ms}, {From: 120 * ms, To: 150 * ms}}
			},
			want: "work main 150 main 150-190\nload main 150 h 150-160",
		},
		"loads make it longer": {
			lines: "unit h handler-thread\ntask load on h after tap runs 10ms io 20ms network 30ms lock 40ms",
			with:  func(p *Play) { p.Speed, p.Loads = 2, Loads{CPU: 3, IO: 4, Network: 5} },
			want:  "load main 100 h 100-510", // 60 + 80 + 150 + 120
		},
	} {
		if got := lines(play(t, c.lines, c.with)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// The queueing time of an M/D/1 queue is ρ/(2μ(1−ρ)): with 1 ms per task and an arrival every
// 1.25 ms on average (ρ = 0.8), 2 ms.
func TestQueueOfRandomArrivals(t *testing.T) {
	t.Parallel()
	app, err := simapp.Parse([]byte(simapp.Format + "\npackage com.example.a\nnoise frame 0\nunit h handler-thread\ntask a on h after tap runs 1ms\nscenario main 9s\n 1s tap 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := Play{App: app, Speed: 1}
	at, state := 0.0, uint64(1)
	for range 18_000 {
		state = state*6364136223846793005 + 1442695040888963407
		at += 1.25 * exponential(float64(state>>11)/(1<<53))
		p.Marks = append(p.Marks, Mark{time.Duration(at * float64(ms)), "tap"})
	}
	var queued time.Duration
	all := Tasks(p)
	for _, one := range all {
		queued += one.Started - one.Scheduled
	}
	if mean := queued / time.Duration(len(all)); len(all) != 18_000 || mean < 1800*time.Microsecond || mean > 2200*time.Microsecond {
		t.Errorf("%d tasks waited %v on average, want 2ms", len(all), mean)
	}
}

// exponential returns the inverse of the exponential distribution.
func exponential(u float64) float64 { return -math.Log1p(-u) }

func TestTasksAreLimited(t *testing.T) {
	t.Parallel()
	text := "unit h handler-thread\n"
	for i := range 30 {
		text += fmt.Sprintf("task t%d on h after tap count 1000 every 0s runs 1us\n", i)
	}
	all := play(t, text, nil)
	if len(all) != MaxTasks || !slices.IsSortedFunc(all, func(a, b timeline.Task) int { return int(a.Scheduled - b.Scheduled) }) {
		t.Errorf("%d tasks, want %d in order", len(all), MaxTasks)
	}
}
