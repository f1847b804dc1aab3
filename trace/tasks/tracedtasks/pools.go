package tracedtasks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	readers "github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/tasks"
)

// PoolsSource is the word for the scheduling of pools in records.
const PoolsSource = "sched"

// pools reads when the workers of a pool were busy and who woke them, from the scheduler's events.
// Workers are threads of the app whose names differ in a number at their end alone; the kernel
// keeps the last 15 characters of a name. A task is what a worker does from a wake by a thread of
// its process until it sleeps again, unless the kernel or another process wakes it from that: it
// had waited for a file, a timer or a reply then. What a worker takes without sleeping belongs to
// the task before, and a lock that is released looks like a task that is handed over: the warning
// says so.
type pools struct {
	tracker *threads.Tracker
	sched   *sched.Reader
}

func newPools(f *packets.File, tracker *threads.Tracker) reader {
	return &pools{tracker, sched.New(f, tracker, sched.Keep{States: true, Wakeups: true})}
}

// Wants returns the scheduler's events.
func (p *pools) Wants() packets.Wants { return p.sched.Wants() }

// Packet reads a packet of the scheduler's.
func (p *pools) Packet(one packets.Packet) { p.sched.Packet(one) }

// Event reads an event of the scheduler.
func (p *pools) Event(e *packets.Event) { p.sched.Event(e) }

// list lists what the pools of an app did.
func (p *pools) list(t *trace) tasks.List {
	out := tasks.List{Source: PoolsSource}
	own := newUnits(&out)
	states := map[int32][]sched.State{}
	workers := map[int32]tasks.Unit{}
	for i, thread := range p.tracker.Threads {
		unit := onThread(thread.Name, thread.Main)
		if t.ofApp(thread.Process) && unit.Name != thread.Name && !thread.Main {
			workers[int32(i)] = unit
		}
	}
	for _, s := range p.sched.States.All() {
		if _, is := workers[s.Thread]; is {
			states[s.Thread] = append(states[s.Thread], *s)
		}
	}
	for _, thread := range sortedKeys(states) {
		place, ok := own.of(p.tracker.Threads[thread].Process, workers[thread])
		if !ok {
			continue
		}
		list := states[thread]
		slices.SortStableFunc(list, func(a, b sched.State) int { return cmp.Compare(a.At, b.At) })
		for _, task := range p.busy(t, thread, list) {
			if len(out.Tasks) == maxTasks {
				out.LeftOut++
				continue
			}
			task.Unit = place
			out.Tasks = append(out.Tasks, task)
		}
	}
	var w readers.Warnings
	if len(out.Tasks) > 0 {
		w.Addf(0, "tasks of pools are known by the scheduler alone: those that a busy worker takes without sleeping count as one, and the release of a lock looks like a new task")
	}
	out.Warnings = w.List()
	return out
}

// busy lists the times between two sleeps of a worker.
func (p *pools) busy(t *trace, thread int32, states []sched.State) (out []tasks.Task) {
	asleep := false
	var last time.Duration // when the present sleep began
	for _, s := range states {
		switch name := p.sched.Names[s.Name]; {
		case strings.HasPrefix(name, "S") || strings.HasPrefix(name, "I"):
			asleep, last = true, s.At
			if n := len(out); n > 0 && out[n-1].Done == tasks.Unknown {
				out[n-1].Done = t.time(last)
			}
		case strings.HasPrefix(name, "R") && name != "Running":
			if !asleep {
				continue
			}
			asleep = false
			if p.byApp(s, thread) {
				waker := p.tracker.Threads[s.Waker]
				out = append(out, tasks.Task{Thread: p.tracker.Threads[thread].Name, Sender: waker.Name, Scheduled: t.time(s.At), Started: tasks.Unknown, Done: tasks.Unknown})
			} else if n := len(out); n > 0 && out[n-1].Started != tasks.Unknown {
				out[n-1].Done = tasks.Unknown // it goes on
			}
		case name == "Running":
			if n := len(out); n > 0 && out[n-1].Started == tasks.Unknown {
				out[n-1].Started = t.time(s.At)
			}
		}
	}
	return out
}

// byApp reports whether a thread of the worker's process woke it.
func (p *pools) byApp(s sched.State, thread int32) bool {
	if s.Waker < 0 || int(s.Waker) >= len(p.tracker.Threads) || s.IRQ == 1 {
		return false
	}
	process := p.tracker.Threads[thread].Process
	return process != threads.None && p.tracker.Threads[s.Waker].Process == process
}
