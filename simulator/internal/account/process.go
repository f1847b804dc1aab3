package account

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Wait is a method in which a thread waits, by its place among the app's.
type Wait struct {
	Method   int
	From, To time.Duration
}

// Process is one process's activities that use power. They are kept after its end.
type Process struct {
	App *simapp.App
	UID int
	PID int
	// Compiled reports that the package was compiled ahead of time when the process started.
	Compiled bool
	// Drawing returns the work of the process's frames and of its UI thread, for items that
	// begin from one time until before another. It is called while the process lives.
	Drawing func(from, to time.Duration) []sched.Item
	// Waiting returns in which methods its UI thread waits between two instants.
	Waiting func(from, to time.Duration) []Wait
	// Threads are indexed by place; nil where there is none.
	Threads [places]*sched.Thread

	Seed    uint64
	named   map[string]*sched.Thread // threads from the app's file
	began   time.Duration
	ended   time.Duration // 0 while it lives
	factor  float64
	extra   []sched.Item    // work apart from frames
	pooled  []time.Duration // when each pool thread's work ends
	binder  *sched.Pool
	asked   []sched.Item // work with an external cause
	tasks   []sched.Item // of asynchronous tasks
	loads   []power.Load // parts that it kept powered
	locks   []lock
	sensors []registration
	traffic []traffic
	work    *power.Work
}

// lock is a wakelock that was held.
type lock struct {
	name     string
	from, to time.Duration
}

// traffic is what came and went over the network.
type traffic struct {
	from, to time.Duration
	network  string
	rx, tx   int64
}

// Begin opens the account of the phone's n-th process, which starts now.
func (a *Account) Begin(d *Process, n int) {
	a.forget()
	session := a.Random("power session", d.App.Package).NormFloat64()
	r := a.Random("power repetition", d.App.Package, d.App.Version, d.App.Build, n)
	d.began, d.Seed = a.Clock.Now(), r.Uint64()
	d.factor = math.Exp(a.Profile.Noise/2*session + 0.012*r.NormFloat64())
	d.work = &power.Work{Hardware: a.Hardware, Seed: d.Seed, Factor: d.factor}
	for _, m := range d.App.Power.Methods {
		d.work.Methods = append(d.work.Methods, power.Method{Share: m.Share, Hunger: m.Power})
	}
	a.thread(d, UI, d.PID, d.App.Package)
	a.thread(d, Render, d.PID+2, "RenderThread")
	a.thread(d, Heap, d.PID+3, "HeapTaskDaemon")
	for n := range binderThreads {
		a.thread(d, Binders+n, d.PID+4+n, a.BinderName(int32(d.PID), int32(n)))
	}
	a.thread(d, Catcher, d.PID+1, "Signal Catcher")
	d.binder = &sched.Pool{Threads: d.Threads[Binders:Catcher]}
	a.beginNamed(d)
	a.processes = append(a.processes, d)
}

// End closes the account of a process that ends now.
func (a *Account) End(d *Process) {
	if d.ended > 0 {
		return
	}
	now := a.Clock.Now()
	a.Advance()
	d.ended = now
	for _, t := range d.Threads {
		if t != nil {
			a.scheduler.Exit(t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.named)) {
		a.scheduler.Exit(d.named[name])
	}
	for i := range d.locks {
		d.locks[i].to = min(d.locks[i].to, now)
	}
	for i := range d.sensors {
		d.sensors[i].to = min(d.sensors[i].to, now)
	}
	for i := range d.loads {
		d.loads[i].To = min(d.loads[i].To, now)
	}
	d.Drawing, d.extra, d.asked, d.tasks = nil, nil, nil, nil
}

// All returns the activities of the processes of the last hours, oldest first.
func (a *Account) All() []*Process { return a.processes }

// Lives reports whether the process lived at any time between two instants.
func (d *Process) Lives(from, to time.Duration) bool {
	return d.began < to && (d.ended == 0 || d.ended > from)
}

// joules returns the energy that the process used between two instants, by part.
func (d *Process) joules(a *Account, from, to time.Duration) power.Sum {
	out := a.Work(d).Joules(from, to)
	for _, l := range d.loads {
		if j := l.Joules(from, to); j > 0 {
			out[l.Part] += j
		}
	}
	for _, r := range d.sensors {
		if on := power.Overlap(r.from, r.to, from, to); on > 0 {
			out[power.Sensors] += r.watts * on.Seconds()
		}
	}
	awake := a.Hardware.AwakeW - a.Hardware.AsleepW
	for _, l := range d.held() {
		if off := a.screenOff(max(l.from, from), min(l.to, to)); off > 0 {
			out[power.Awake] += awake * off.Seconds()
		}
	}
	return out
}

// held returns the spans in which the process held any wakelock: two at once keep the system
// no more awake than one.
func (d *Process) held() (out []lock) {
	locks := slices.Clone(d.locks)
	slices.SortStableFunc(locks, func(a, b lock) int { return cmp.Compare(a.from, b.from) })
	for _, l := range locks {
		if n := len(out); n > 0 && l.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, l.to)
			continue
		}
		out = append(out, l)
	}
	return out
}
