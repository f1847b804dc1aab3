package pftrace

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// kernel collects the events of a time.
type kernel struct {
	during  timeline.Interval
	api     int
	asked   Ftrace
	threads map[int32]timeline.Thread
	byCPU   map[int8][]timeline.Run  // with continued runs joined
	of      map[int32][]timeline.Run // by thread
	events  []event
	symbols []string // kernel functions, by number
	// clusters are frequency changes, one for each cluster, which apply to all of its CPUs.
	clusters []timeline.Speed
}

// used has the memory of events that were written: each trace has tens of thousands.
var used = sync.Pool{New: func() any { return new([]event) }}

// close gives up the events.
func (k *kernel) close() {
	clear(k.events)
	events := k.events[:0]
	used.Put(&events)
}

func newKernel(t *timeline.Timeline, asked Ftrace, api int, during timeline.Interval) *kernel {
	k := &kernel{during: during, api: api, asked: asked, events: *used.Get().(*[]event), threads: map[int32]timeline.Thread{}, byCPU: map[int8][]timeline.Run{}, of: map[int32][]timeline.Run{}}
	for _, one := range t.Threads {
		if one.Began <= during.To && (one.Ended == 0 || one.Ended >= during.From) {
			k.threads[one.TID] = one
		}
	}
	first := sort.Search(len(t.Runs), func(i int) bool { return t.Runs[i].To >= during.From })
	for _, r := range t.Runs[first:] {
		list := k.byCPU[r.CPU]
		if n := len(list); n > 0 && list[n-1].State == timeline.GoesOn && list[n-1].TID == r.TID && list[n-1].To == r.From {
			list[n-1].To, list[n-1].State = r.To, r.State
			continue
		}
		k.byCPU[r.CPU] = append(list, r)
	}
	for cpu := range int8(maxCPUs) {
		for _, r := range k.byCPU[cpu] {
			k.of[r.TID] = append(k.of[r.TID], r)
		}
	}
	for _, s := range t.Speeds {
		if !slices.ContainsFunc(k.clusters, func(one timeline.Speed) bool { return one.CPU == s.CPU }) {
			k.clusters = append(k.clusters, s)
		}
	}
	for tid := range k.of {
		slices.SortFunc(k.of[tid], func(a, b timeline.Run) int { return cmp.Compare(a.From, b.From) })
	}
	k.schedule()
	if asked.Events["cpu_frequency"] {
		k.speeds(t)
	}
	k.transactions(t)
	k.sleeps(t)
	k.sections(t)
	return k
}

// add adds an event, if it is in the time.
func (k *kernel) add(e event) {
	if e.at >= k.during.From && e.at < k.during.To {
		k.events = append(k.events, e)
	}
}

// name returns the kernel's name of a thread; thread 0 is the idle one.
func (k *kernel) name(tid int32, cpu int8) string {
	if tid == 0 {
		return "swapper/" + string('0'+rune(cpu))
	}
	return k.threads[tid].Name
}

// states are the numbers of thread states in sched_switch: runnable, sleeping,
// uninterruptible, dead.
var states = map[byte]uint64{'R': 0, 'S': 1, 'D': 2, 'X': 16}

// schedule adds the switches and wakeups.
func (k *kernel) schedule() {
	for cpu := range int8(maxCPUs) {
		list := k.byCPU[cpu]
		for i, r := range list {
			prev, state := int32(0), uint64(0)
			if i > 0 && list[i-1].To == r.From {
				prev, state = list[i-1].TID, states[list[i-1].State]
			}
			k.turn(r.From, cpu, prev, state, r.TID)
			if r.State != timeline.GoesOn && (i+1 == len(list) || list[i+1].From > r.To) {
				k.turn(r.To, cpu, r.TID, states[r.State], 0)
			}
			if k.asked.Events["sched_waking"] && r.Woken > 0 {
				k.wake(r)
			}
			if k.asked.Events["sched_wakeup"] && r.Woken > 0 {
				k.wakeup(r)
			}
		}
	}
}

// turn adds a switch.
func (k *kernel) turn(at time.Duration, cpu int8, prev int32, state uint64, next int32) {
	if k.asked.Events["sched_switch"] {
		k.add(event{at: at, cpu: cpu, rank: switches, pid: prev, kind: eventSwitch, move: move{
			prev: prev, prevName: k.name(prev, cpu), prevState: state, next: next, nextName: k.name(next, cpu),
		}})
	}
}

// wake adds a waking, on the CPU of the waking thread; a waking by an interrupt is on the CPU
// where the thread will run.
func (k *kernel) wake(r timeline.Run) {
	e := event{at: r.Woken, cpu: r.CPU, rank: wakes, kind: eventWaking, move: move{next: r.TID, nextName: k.name(r.TID, r.CPU), target: r.CPU}}
	if by, ok := k.running(r.Waker, r.Woken); ok {
		e.cpu, e.pid = by.CPU, by.TID
	} else {
		e.pid, e.move.interrupt = k.on(r.CPU, r.Woken), inInterrupt
	}
	k.add(e)
}

// wakeup adds that a thread was queued to a CPU. A CPU that shares no cache with the waking
// one does so itself, in an interrupt that the other one sends, so that the event is
// attributed to the thread running there (ttwu_queue of the kernel's kernel/sched/core.c).
func (k *kernel) wakeup(r timeline.Run) {
	e := event{at: r.Woken, cpu: r.CPU, rank: wakes, kind: eventWakeup, move: move{next: r.TID, nextName: k.name(r.TID, r.CPU), target: r.CPU}}
	if by, ok := k.running(r.Waker, r.Woken); ok && k.cluster(by.CPU) == k.cluster(r.CPU) {
		e.cpu, e.pid = by.CPU, by.TID
	} else {
		const sent = 2 * time.Microsecond
		if r.Woken+sent < r.From {
			e.at += sent
		}
		e.pid = k.on(r.CPU, e.at)
	}
	k.add(e)
}

// cluster returns the first of the CPUs that share a cache with one.
func (k *kernel) cluster(cpu int8) int {
	for _, s := range k.clusters {
		if int(cpu) >= s.CPU && int(cpu) < s.CPU+s.Count {
			return s.CPU
		}
	}
	return 0
}

// running returns the run that a thread is in at a time, including the run's end.
func (k *kernel) running(tid int32, at time.Duration) (timeline.Run, bool) {
	list := k.of[tid]
	i := sort.Search(len(list), func(i int) bool { return list[i].To >= at })
	if i == len(list) || list[i].From > at {
		return timeline.Run{}, false
	}
	if i+1 < len(list) && list[i+1].From == at { // the next run begins
		i++
	}
	return list[i], true
}

// last returns the last run of a thread that began before a time.
func (k *kernel) last(tid int32, at time.Duration) (timeline.Run, bool) {
	list := k.of[tid]
	i := sort.Search(len(list), func(i int) bool { return list[i].From >= at })
	if i == 0 {
		return timeline.Run{}, false
	}
	return list[i-1], true
}

// on returns the thread that a CPU runs at a time, 0 for none.
func (k *kernel) on(cpu int8, at time.Duration) int32 {
	list := k.byCPU[cpu]
	i := sort.Search(len(list), func(i int) bool { return list[i].To > at })
	if i == len(list) || list[i].From > at {
		return 0
	}
	return list[i].TID
}

// speeds adds the clusters' frequency changes, for each CPU.
func (k *kernel) speeds(t *timeline.Timeline) {
	for _, s := range t.Speeds {
		for cpu := s.CPU; cpu < s.CPU+s.Count; cpu++ {
			k.add(event{at: s.At, cpu: int8(cpu), rank: changesSpeed, pid: k.on(int8(cpu), s.At), kind: eventFrequency,
				body: number(number(nil, 1, uint64(s.KHz)), 2, uint64(cpu))})
		}
	}
}
