package arttasks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/tasks"
)

// world is an app whose loopers and pools take tasks in turn, by a clock of its own. It knows when
// the task that starts at a time was scheduled.
type world struct {
	*calls
	rnd       *rand.Rand
	now       float64
	units     []*worldUnit
	scheduled map[time.Duration]time.Duration // by start
	removed   float64                         // the share of messages that are removed
	delayed   float64                         // the share of messages with a delay
}

type worldUnit struct {
	pool    bool
	tids    []uint32
	busy    map[uint32]float64 // until when; a thread that waits is not in it
	begun   map[uint32]bool    // workers that have been started
	queue   []queuedTask
	woken   int // workers of a pool that were woken and have not gone on
	classes []string
}

type queuedTask struct {
	at, due float64
	class   string
	delayed bool
}

// at is a time as a trace has it, in whole µs.
func at(ms float64) time.Duration {
	return 5*time.Second + time.Duration(uint64(ms*1e6)).Truncate(time.Microsecond)
}

// step moves the clock, a little differently each time, so that each call has a time of its own.
func (w *world) step() float64 {
	w.now += 0.01 + w.rnd.Float64()/100
	return w.now
}

// schedule lets the main thread schedule a task of a unit.
func (w *world) schedule(u *worldUnit) {
	class := u.classes[w.rnd.IntN(len(u.classes))]
	task := queuedTask{at: w.step(), class: class}
	task.due = task.at
	from := class + ".ask"
	idle := len(u.tids) - len(u.busy)
	if !u.pool {
		if w.rnd.Float64() < w.delayed {
			task.due, task.delayed = task.at+200*w.rnd.Float64(), true
		}
		first := !slices.ContainsFunc(u.queue, func(o queuedTask) bool { return o.due <= task.due })
		by := "post"
		if task.delayed {
			by = "postDelayed"
		}
		w.send(7, task.at, idle > 0 && first, by, from)
		if task.delayed && idle > 0 && first { // it waits on, until the message is due
			w.resume(u.tids[0], w.step())
			w.idle(u.tids[0], w.step())
		}
		if w.rnd.Float64() < w.removed && (idle == 0 || !first) {
			return
		}
	} else {
		how := ""
		for _, tid := range u.tids {
			if how == "" && !u.begun[tid] {
				u.begun[tid], how = true, "grow"
				w.execute(7, task.at, how, from)
				w.worker(tid, w.step())
				w.run(u, tid, task)
				return
			}
		}
		if idle > u.woken {
			how = "wake"
			u.woken++
		}
		w.execute(7, task.at, how, from)
	}
	u.queue = append(u.queue, task)
}

// run begins a task on a thread.
func (w *world) run(u *worldUnit, tid uint32, task queuedTask) {
	start := w.step()
	until := start + 1 + 60*w.rnd.Float64()
	if !task.delayed {
		w.scheduled[at(start)] = at(task.at)
	}
	if u.pool {
		w.work(tid, start, until, task.class+"$1.run")
	} else {
		w.handle(tid, start, until, task.class+"$1")
	}
	u.busy[tid] = until
}

// turn lets a unit's threads go on: those that are done take the next task or wait, and those that
// wait begin one that is due.
func (w *world) turn(u *worldUnit) {
	for _, tid := range u.tids {
		until, busy := u.busy[tid]
		if u.pool && !u.begun[tid] || busy && until > w.now {
			continue
		}
		next := slices.IndexFunc(u.queue, func(q queuedTask) bool { return q.due <= w.now })
		for i, q := range u.queue {
			if next >= 0 && q.due < u.queue[next].due {
				next = i
			}
		}
		switch {
		case busy && next >= 0:
			if u.pool {
				w.take(tid, w.step())
				w.inVain(u)
			} else {
				w.ready(tid, w.step())
			}
		case busy:
			delete(u.busy, tid)
			if u.pool {
				w.rest(tid, w.step())
			} else {
				w.idle(tid, w.step())
			}
			continue
		case next < 0:
			continue
		case u.pool:
			u.woken = max(0, u.woken-1)
			w.wakeUp(tid, w.step())
		default:
			w.resume(tid, w.step())
		}
		task := u.queue[next]
		u.queue = slices.Delete(u.queue, next, next+1)
		w.run(u, tid, task)
	}
}

// inVain lets a worker that was woken find that a busy one has taken the task: it waits again.
func (w *world) inVain(u *worldUnit) {
	if u.woken == 0 {
		return
	}
	for _, tid := range u.tids {
		if _, busy := u.busy[tid]; u.begun[tid] && !busy {
			u.woken--
			w.wakeUp(tid, w.step())
			w.rest(tid, w.step())
			return
		}
	}
}

func newWorld(seed uint64, removed, delayed float64) *world {
	threads := map[uint32]string{7: "main"}
	w := &world{rnd: rand.New(rand.NewPCG(seed, 1)), scheduled: map[time.Duration]time.Duration{}, removed: removed, delayed: delayed}
	tid := uint32(20)
	for i := range 2 + w.rnd.IntN(4) {
		u := &worldUnit{pool: i%2 == 1, busy: map[uint32]float64{}, begun: map[uint32]bool{}}
		for n := range 1 + w.rnd.IntN(3) {
			name := fmt.Sprintf("looper %c", 'a'+i)
			if u.pool {
				name = fmt.Sprintf("pool-%d-thread-%d", i, n+1)
			} else if n > 0 {
				break
			}
			threads[tid] = name
			u.tids = append(u.tids, tid)
			tid++
		}
		for n := range 3 {
			u.classes = append(u.classes, fmt.Sprintf("com.example.C%d", (i*2+n)%7)) // some are of two units
		}
		w.units = append(w.units, u)
	}
	w.calls = newCalls(threads)
	for _, u := range w.units {
		for _, tid := range u.tids {
			if !u.pool {
				w.idle(tid, w.step())
			}
		}
	}
	return w
}

func (w *world) live(ms float64) {
	for w.now < ms {
		w.now += 3 * w.rnd.Float64()
		if w.rnd.IntN(8) == 0 {
			w.schedule(w.units[w.rnd.IntN(len(w.units))])
		}
		for _, u := range w.units {
			w.turn(u)
		}
	}
}

// In apps of random queues no start has another task's scheduling, and nearly all have their own;
// with removed and delayed messages fewer have.
func TestReadOfRandomQueues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		removed, delayed float64
		least            float64 // the share of starts with their scheduling
		wrong            float64 // at most
	}{
		"all run":             {0, 0, 0.97, 0},
		"removed":             {0.1, 0, 0.75, 0.005},
		"delayed":             {0, 0.1, 0.75, 0.005},
		"removed and delayed": {0.1, 0.1, 0.7, 0.01},
		"many of both":        {0.3, 0.3, 0.6, 0.02},
	} {
		starts, known, wrong := 0, 0, 0
		for seed := range uint64(40) {
			w := newWorld(seed, c.removed, c.delayed)
			w.live(2000)
			starts += len(w.scheduled)
			for _, task := range read(t, w.file()).Tasks {
				if task.Scheduled == tasks.Unknown || task.Started == tasks.Unknown {
					continue
				}
				known++
				if w.scheduled[task.Started] != task.Scheduled {
					wrong++
				}
			}
		}
		if float64(known-wrong) < c.least*float64(starts) || float64(wrong) > c.wrong*float64(known) {
			t.Errorf("%s: %d of %d starts have a scheduling, %d of another task", name, known, starts, wrong)
		}
	}
}
