package account

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// The indices of a process's threads in Threads.
const (
	UI = iota
	Render
	Heap                              // the garbage collector
	Pool                              // the first of those for work apart from the UI thread
	Binders = Pool + poolSize         // the first of those that answer calls
	Catcher = Binders + binderThreads // handles signals
	places  = Catcher + 1
)

// binderThreads is how many threads of a process answer calls.
const binderThreads = 2

// poolSize limits the threads that a process has for work apart from the UI thread.
const poolSize = 7

// zygotePID is the parent of all apps, as in /proc/PID/stat.
const zygotePID = 600

// startSystem starts the system's threads.
func (a *Account) startSystem() {
	a.scheduler = sched.New(a.Timeline, a.Hardware, a.Clock.Now())
	for _, one := range []timeline.Thread{
		{PID: zygotePID, TID: zygotePID, Process: "zygote64", Name: "main"},
		{PID: logcat.SystemPID, TID: logcat.SystemPID, Process: "system_server", Name: "system_server"},
	} {
		a.scheduler.Thread(one, nil)
	}
	own := func(tid int32, name string) *sched.Thread {
		return a.scheduler.Thread(timeline.Thread{PID: sched.FlingerPID, TID: tid, Process: "/system/bin/surfaceflinger", Name: name}, nil)
	}
	a.flinger, a.Vsync = own(sched.FlingerPID, "surfaceflinger"), own(sched.AppVsync, "app")
	system := func(tid int32, name string) *sched.Thread {
		return a.scheduler.Thread(timeline.Thread{PID: logcat.SystemPID, TID: tid, Process: "system_server", Name: name}, nil)
	}
	a.reader, a.dispatcher = system(inputReader, "InputReader"), system(inputDispatcher, "InputDispatcher")
	a.Binder = sched.Binder{System: &sched.Pool{}, Flinger: &sched.Pool{}, Blast: a.Profile.API >= 31}
	for n := range int32(binderThreads) {
		a.Binder.Flinger.Threads = append(a.Binder.Flinger.Threads, own(flingerBinder+n, a.BinderName(sched.FlingerPID, n)))
		a.Binder.System.Threads = append(a.Binder.System.Threads, system(systemBinder+n, a.BinderName(logcat.SystemPID, n)))
	}
}

// The ids of the system's threads.
const (
	flingerBinder   = sched.FlingerPID + 30
	systemBinder    = logcat.SystemPID + 20
	inputDispatcher = logcat.SystemPID + 60
	inputReader     = logcat.SystemPID + 61
)

// BinderName returns the name of a process's n-th thread that answers calls
// (ProcessState::makeBinderThreadName; Android 5 and 6 omit the process, and since Android 12
// it begins with the driver's name).
func (a *Account) BinderName(pid, n int32) string {
	switch {
	case a.Profile.API < 24:
		return fmt.Sprintf("Binder_%X", n+1)
	case a.Profile.API < 31:
		return fmt.Sprintf("Binder:%d_%X", pid, n+1)
	}
	return fmt.Sprintf("binder:%d_%X", pid, n+1)
}

// thread starts a thread of a process, whose runs count as its work.
func (a *Account) thread(d *Process, place, tid int, name string) {
	d.Threads[place] = a.scheduler.Thread(timeline.Thread{
		PID: int32(d.PID), TID: int32(tid), Process: d.App.Package, Name: name[max(0, len(name)-15):], Began: a.Clock.Now(),
	}, func(r sched.Run) { d.work.Add(workOf(r, place)) })
}

// pool returns a thread of the process that is idle at a time, and makes it busy until
// another.
func (a *Account) pool(d *Process, from, to time.Duration) *sched.Thread {
	place := 0
	for place < len(d.pooled) && d.pooled[place] > from && place < poolSize-1 {
		place++
	}
	if place == len(d.pooled) {
		d.pooled = append(d.pooled, 0)
		a.thread(d, Pool+place, d.PID+10+place, fmt.Sprintf("pool-2-thread-%d", place+1))
	}
	d.pooled[place] = max(d.pooled[place], to)
	return d.Threads[Pool+place]
}

// atOnce is the longest span that is scheduled in one step: a phone may have been left alone
// for days.
const atOnce = time.Minute

// Advance runs the scheduler up to now.
func (a *Account) Advance() {
	now := a.Clock.Now()
	for from := a.scheduler.Now(); from < now; from = a.scheduler.Now() {
		to := min(from+atOnce, now)
		a.scheduler.Advance(to, a.items(from, to))
		if to < now {
			a.Timeline.ForgetRuns(a.Kept())
		}
	}
}

// items returns the work that begins from one time until before another.
func (a *Account) items(from, to time.Duration) (items []sched.Item) {
	for _, f := range a.Composed(from, to) {
		items = append(items, sched.Composition(a.flinger, &f, a.shown(&f)))
	}
	for _, d := range a.processes {
		if d.ended > 0 {
			continue
		}
		items = append(items, d.Drawing(from, to)...)
		for _, list := range [][]sched.Item{d.asked, d.extra, d.tasks} {
			for _, it := range list {
				if it.From >= from && it.From < to {
					items = append(items, it)
				}
			}
		}
	}
	return items
}

// shown returns the apps that SurfaceFlinger notifies when it shows a frame.
func (a *Account) shown(f *timeline.DisplayFrame) (out []*sched.Pool) {
	if !a.Binder.Blast {
		return nil
	}
	for _, one := range f.Shows {
		for _, d := range a.processes {
			if d.ended == 0 && d.PID == int(one.Layer.PID) {
				out = append(out, d.binder)
			}
		}
	}
	return out
}

// Touch delivers an input event to a process now; opens reports whether it opens an activity.
func (a *Account) Touch(d *Process, opens bool) {
	a.ask(d, sched.Touch(a.reader, a.dispatcher, d.Threads[UI], &a.Binder, a.Clock.Now(), opens))
}

// CatchSignal makes the runtime of a process handle a signal that arrives now.
func (a *Account) CatchSignal(d *Process, takes time.Duration) {
	a.ask(d, sched.Wake(d.Threads[Catcher], a.Clock.Now(), takes))
}

// ask adds work with an external cause, from now on.
func (a *Account) ask(d *Process, it sched.Item) {
	d.asked = slices.DeleteFunc(d.asked, func(one sched.Item) bool { return one.From < a.scheduler.Now() })
	if len(d.asked) < maxAppetite {
		d.asked = append(d.asked, it)
	}
}

// Work returns the process's CPU time up to now, or to its end.
func (a *Account) Work(d *Process) *power.Work {
	a.Advance()
	return d.work
}

// CPU returns the CPU time of the process up to now.
func (a *Account) CPU(d *Process) (busy time.Duration) {
	a.Advance()
	for _, t := range d.Threads {
		if t != nil {
			busy += t.Ran()
		}
	}
	for _, t := range d.named {
		busy += t.Ran()
	}
	return busy
}

// Busy returns how long a CPU was busy since the phone was created.
func (a *Account) Busy(cpu int) time.Duration {
	a.Advance()
	busy := a.scheduler.Busy(cpu) + a.Worked()
	for _, l := range a.loads {
		busy += time.Duration(l.share * float64(min(l.to, a.Clock.Now())-l.from))
	}
	return busy
}

// cpuLoad is a share of all CPUs' time that programs of the shell took.
type cpuLoad struct {
	share    float64
	from, to time.Duration
}

// Load makes all CPUs busy for a share of the time, until end is called. It draws no power.
func (a *Account) Load(share float64) (end func()) {
	l := &cpuLoad{share: share, from: a.Clock.Now(), to: math.MaxInt64}
	a.loads = append(a.loads, l)
	return func() { l.to = min(l.to, a.Clock.Now()) }
}

// InStep returns how long a cluster ran at each of its speeds since the phone was created,
// slowest first.
func (a *Account) InStep(part power.Part) []time.Duration {
	a.Advance()
	return a.scheduler.InStep(part)
}
