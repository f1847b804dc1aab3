package tracedtasks

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
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

func newPools(t *trace) source {
	return &pools{t.tracker, sched.New(t.file, t.tracker, sched.Keep{States: true, Wakeups: true})}
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
	units := tasks.NewUnits[owned](&out)
	states, workers := map[int32][]sched.State{}, map[int32]tasks.Unit{}
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
	for _, thread := range slices.Sorted(maps.Keys(states)) {
		unit := workers[thread]
		place, ok := units.Of(owned{p.tracker.Threads[thread].Process, unit.Name}, unit)
		if !ok {
			continue
		}
		list := p.busy(thread, states[thread])
		room := maxTasks - len(out.Tasks)
		out.LeftOut += max(0, len(list)-room)
		for _, task := range list[:min(len(list), room)] {
			task.Unit = place
			t.place(&task)
			out.Tasks = append(out.Tasks, task)
		}
	}
	if len(out.Tasks) > 0 {
		out.Warnings = []run.Warning{{Text: "tasks of pools are known by the scheduler alone: those that a busy worker takes without sleeping count as one, and the release of a lock looks like a new task"}}
	}
	return out
}

// busy lists the times between two sleeps of a worker.
func (p *pools) busy(thread int32, states []sched.State) (out []tasks.Task) {
	slices.SortStableFunc(states, func(a, b sched.State) int { return cmp.Compare(a.At, b.At) })
	asleep := false
	last := &tasks.Task{} // none yet: it is done
	for _, s := range states {
		switch name := p.sched.Names[s.Name]; {
		case strings.HasPrefix(name, "S") || strings.HasPrefix(name, "I"):
			asleep = true
			if last.Done == tasks.Unknown {
				last.Done = s.At
			}
		case name == "Running":
			if last.Started == tasks.Unknown {
				last.Started = s.At
			}
		case strings.HasPrefix(name, "R") && asleep:
			asleep = false
			if p.byApp(s, thread) {
				out = append(out, tasks.Task{
					Thread: p.tracker.Threads[thread].Name, Sender: p.tracker.Threads[s.Waker].Name,
					Scheduled: s.At, Started: tasks.Unknown, Done: tasks.Unknown,
				})
				last = &out[len(out)-1]
			} else if last.Started != tasks.Unknown {
				last.Done = tasks.Unknown // it goes on
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
