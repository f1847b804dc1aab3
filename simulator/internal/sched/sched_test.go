package sched

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

const ms = time.Millisecond

// phone is a scheduler with threads and items.
type phone struct {
	*Scheduler
	timeline *timeline.Timeline
	threads  []*Thread
	items    []Item
}

func newPhone(threads int) *phone {
	t := &timeline.Timeline{}
	p := &phone{timeline: t, Scheduler: New(t, power.HardwareOf(1), 0)}
	for i := range threads {
		p.threads = append(p.threads, p.Thread(timeline.Thread{PID: 1000, TID: int32(1000 + i)}, nil))
	}
	return p
}

// run advances in steps.
func (p *phone) run(until, step time.Duration) {
	for at := time.Duration(0); at < until; at += step {
		var due []Item
		for _, it := range p.items {
			if it.From >= at && it.From < at+step {
				due = append(due, it)
			}
		}
		p.Advance(at+step, due)
	}
}

// busy returns a phone with more work than CPUs.
func busy() *phone {
	p, r := newPhone(14), rand.New(rand.NewPCG(1, 2))
	for i, t := range p.threads {
		for at := time.Duration(r.Int64N(int64(20 * ms))); at < 3*time.Second; at += time.Duration(r.Int64N(int64(80 * ms))) {
			it := Item{Thread: t, Woken: at - 20*time.Microsecond, Waker: 1, From: at, To: at + 1 + time.Duration(r.Int64N(int64(30*ms))), Background: i >= 6}
			if it.Background {
				it.Kind = power.Other
			}
			p.items = append(p.items, it)
		}
	}
	return p
}

// joined returns the runs of each CPU, with continued runs joined.
func joined(t *timeline.Timeline) map[int8][]timeline.Run {
	out := map[int8][]timeline.Run{}
	for _, r := range t.Runs {
		list := out[r.CPU]
		if n := len(list); n > 0 && list[n-1].State == timeline.GoesOn && list[n-1].KHz == r.KHz {
			list[n-1].To, list[n-1].State = r.To, r.State
			continue
		}
		out[r.CPU] = append(list, r)
	}
	return out
}

func TestOneThreadRunsOnACPUAtATime(t *testing.T) {
	p := busy()
	p.run(5*time.Second, 5*time.Second)
	onCPU, ofThread := map[int8]time.Duration{}, map[int32]time.Duration{}
	var sum time.Duration
	for _, r := range p.timeline.Runs {
		if r.From >= r.To || r.To-r.From > power.MaxRun || r.From < onCPU[r.CPU] || r.From < ofThread[r.TID] {
			t.Fatalf("%+v; its CPU is busy until %v, its thread until %v", r, onCPU[r.CPU], ofThread[r.TID])
		}
		onCPU[r.CPU], ofThread[r.TID] = r.To, r.To
		sum += r.To - r.From
	}
	var byCPU, byThread time.Duration
	for cpu := range p.cpus {
		byCPU += p.Busy(cpu)
	}
	for _, thread := range append(p.threads, p.system.workers...) {
		byThread += thread.Ran()
	}
	if sum != byCPU || sum != byThread {
		t.Errorf("the runs take %v, the CPUs were busy for %v and the threads ran for %v", sum, byCPU, byThread)
	}
}

// Frames get a CPU at the times of their stages, and preempted work is completed in the end.
func TestBackgroundWorkGivesWayAndIsDone(t *testing.T) {
	p := newPhone(12)
	for i, thread := range p.threads {
		it := Item{Thread: thread, From: time.Duration(i), To: time.Duration(i) + 300*ms, Kind: power.Other, Background: true}
		if i >= 8 {
			it = Item{Thread: thread, From: 100*ms + time.Duration(i), To: 150*ms + time.Duration(i)}
		}
		p.items = append(p.items, it)
	}
	p.run(time.Second, time.Second)
	gaveWay := 0
	for _, list := range joined(p.timeline) {
		for _, r := range list {
			if r.State == preempted {
				gaveWay++
			}
		}
	}
	for i, thread := range p.threads {
		want := 300 * ms
		if i >= 8 {
			want = 50 * ms
		}
		if thread.Ran() != want {
			t.Errorf("thread %d ran for %v, want %v", i, thread.Ran(), want)
		}
	}
	if gaveWay < 4 {
		t.Errorf("%d times something gave way, want the four frames' at least", gaveWay)
	}
}

// The schedule does not depend on how often it is advanced.
func TestScheduleDoesNotDependOnPolling(t *testing.T) {
	once, often := busy(), busy()
	once.run(5*time.Second, 5*time.Second)
	often.run(5*time.Second, 8*ms)
	if !reflect.DeepEqual(joined(once.timeline), joined(often.timeline)) {
		t.Error("the runs differ")
	}
	for _, part := range []power.Part{power.Little, power.Big} {
		if a, b := once.InStep(part), often.InStep(part); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v and %v at each speed", part, a, b)
		}
	}
}

// A cluster has one frequency at a time, the highest that any of its threads needs.
func TestGovernor(t *testing.T) {
	p := newPhone(2)
	p.items = []Item{
		{Thread: p.threads[0], From: 10 * ms, To: 40 * ms, Kind: power.Frame},
		{Thread: p.threads[1], From: 20 * ms, To: 30 * ms, Kind: power.Block},
	}
	p.run(50*ms, 50*ms)
	big := power.HardwareOf(1).Big
	middle, top := uint32(big.Steps[big.Middle()].KHz), uint32(big.Steps[big.Top()].KHz)
	var speeds []uint32
	for _, r := range p.timeline.Runs {
		if r.TID == 1000 {
			speeds = append(speeds, r.KHz)
		}
	}
	if want := []uint32{middle, top, middle}; !reflect.DeepEqual(speeds, want) {
		t.Errorf("the frame runs at %d kHz, want %d", speeds, want)
	}
	in := p.InStep(power.Big)
	if in[0] != 20*ms || in[big.Middle()] != 20*ms || in[big.Top()] != 10*ms {
		t.Errorf("the cluster ran %v at its speeds", in)
	}
}

// A thread that ends leaves its CPU to others.
func TestExit(t *testing.T) {
	p := newPhone(9)
	for _, thread := range p.threads {
		p.items = append(p.items, Item{Thread: thread, From: ms, To: 60 * ms, Kind: power.Other, Background: true})
	}
	p.run(10*ms, 10*ms)
	p.Exit(p.threads[0])
	p.Advance(200*ms, nil)
	if ran := p.threads[0].Ran(); ran != 9*ms {
		t.Errorf("it ran for %v, want 9 ms", ran)
	}
	for i, thread := range p.threads[1:] {
		if thread.Ran() != 59*ms {
			t.Errorf("thread %d ran for %v", i+1, thread.Ran())
		}
	}
}

// A frame's threads wake each other, and its work ends at the times of its stages.
func TestFrameThreadsWakeEachOther(t *testing.T) {
	p := newPhone(3)
	ui, render, vsync := p.threads[0], p.threads[1], p.threads[2]
	f := timeline.Frame{
		Expected: timeline.Interval{From: 16 * ms}, Vsync: 16 * ms, Input: 16*ms + 300*time.Microsecond, SyncQueued: 20 * ms, Sync: 20*ms + 50*time.Microsecond, Issue: 21 * ms, Queued: 25 * ms,
		Actual: timeline.Interval{From: 16*ms + 300*time.Microsecond, To: 26 * ms},
	}
	p.items = (&Cast{UI: ui, Render: render, Vsync: vsync, Binder: &Binder{Flinger: p.pool(500, 1), Blast: true}}).Frame(&f)
	p.run(50*ms, 50*ms)
	type woke struct {
		thread, by int32
		at         time.Duration
	}
	var got []woke
	for _, r := range p.timeline.Runs {
		if r.TID >= 1000 {
			got = append(got, woke{r.TID, r.Waker, r.From})
		}
	}
	want := []woke{{1002, 0, f.Vsync + unblocks}, {1000, 1002, f.Input}, {1000, 1001, f.Issue + unblocks}, {1001, 1000, f.Sync}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("threads ran %v, want %v", got, want)
	}
	if render.Ran() != 26*ms-f.Sync {
		t.Errorf("the render thread ran for %v", render.Ran())
	}
}

// A thread returns to the CPU that it ran on, however many others are free.
func TestThreadReturnsToItsCPU(t *testing.T) {
	p := newPhone(3)
	for i, thread := range p.threads {
		p.items = append(p.items, Item{Thread: thread, From: ms + time.Duration(i), To: 10 * ms})
	}
	p.items = append(p.items, Item{Thread: p.threads[2], From: 20 * ms, To: 30 * ms})
	p.run(50*ms, 50*ms)
	cpus := map[int8]bool{}
	for _, r := range p.timeline.Runs {
		if r.TID == 1002 {
			cpus[r.CPU] = true
		}
	}
	if len(cpus) != 1 {
		t.Errorf("it ran on %v", cpus)
	}
}

// With more frames than CPUs, a thread begins late, and stops at the times of its stages.
func TestQueuedThreadBeginsLate(t *testing.T) {
	p := newPhone(10)
	for i, thread := range p.threads {
		p.items = append(p.items, Item{Thread: thread, From: ms + time.Duration(i), To: 10*ms + time.Duration(i)})
	}
	p.items[8].To = 15 * ms
	// The tenth thread's first item is over before a CPU is free; its second is not.
	p.items[9].To = 5 * ms
	p.items = append(p.items, Item{Thread: p.threads[9], From: 6 * ms, To: 12 * ms, Background: true})
	p.run(50*ms, 50*ms)
	if ran := p.threads[8].Ran(); ran != 5*ms {
		t.Errorf("the ninth ran for %v, want the 5 ms that were left", ran)
	}
	if ran := p.threads[9].Ran(); ran != 6*ms {
		t.Errorf("the tenth ran for %v, want the 6 ms of its second item", ran)
	}
}

// A trace section begins when its work gets a CPU and ends with it, across all preemptions;
// the section of a thread that ends is closed.
func TestSectionsLastAsLongAsTheirWork(t *testing.T) {
	p := newPhone(10)
	for i, thread := range p.threads[:8] {
		p.items = append(p.items, Item{Thread: thread, From: ms + time.Duration(i), To: 40*ms + time.Duration(i), Kind: power.Other, Background: true, Section: "load"})
	}
	p.items = append(p.items, Item{Thread: p.threads[8], From: 10 * ms, To: 20 * ms})
	p.run(30*ms, 30*ms)
	p.Exit(p.threads[1])
	p.Advance(200*ms, nil)
	if n := len(p.timeline.Slices); n != 8 {
		t.Fatalf("%d sections, want 8", n)
	}
	for _, s := range p.timeline.Slices {
		from, to := time.Duration(1<<62), time.Duration(0)
		for _, r := range p.timeline.Runs {
			if r.TID == s.TID {
				from, to = min(from, r.From), max(to, r.To)
			}
		}
		if s.From != from || s.To != to {
			t.Errorf("the section of thread %d goes from %v to %v, its work from %v to %v", s.TID, s.From, s.To, from, to)
		}
	}
	for _, one := range p.timeline.Threads {
		if want := map[bool]time.Duration{true: 30 * ms}[one.TID == 1001]; one.Ended != want {
			t.Errorf("thread %d ended at %v", one.TID, one.Ended)
		}
	}
	var last timeline.Run
	for _, r := range p.timeline.Runs {
		if r.TID == 1001 {
			last = r
		}
	}
	if last.To != 30*ms || last.State != 'X' {
		t.Errorf("the last run of the thread that ended is %+v", last)
	}
}

// A thread that ends while it is queued for a CPU never gets one.
func TestExitOfAQueuedThread(t *testing.T) {
	p := newPhone(9)
	for _, thread := range p.threads {
		p.items = append(p.items, Item{Thread: thread, From: ms, To: 20 * ms, Background: true})
	}
	p.run(10*ms, 10*ms)
	p.Exit(p.threads[8])
	p.Advance(100*ms, nil)
	if ran := p.threads[8].Ran(); ran != 0 {
		t.Errorf("it ran for %v", ran)
	}
	if ran := p.threads[7].Ran(); ran != 19*ms {
		t.Errorf("another ran for %v", ran)
	}
}

// The reported frequencies are those of the runs.
func TestSpeedsAreThoseOfTheRuns(t *testing.T) {
	p := busy()
	p.run(5*time.Second, 5*time.Second)
	for _, cluster := range p.clusters {
		at, khz := 0, uint32(cluster.Steps[0].KHz)
		var told []timeline.Speed
		for _, s := range p.timeline.Speeds {
			if s.CPU == cluster.First {
				told = append(told, s)
			}
		}
		list := joined(p.timeline)[int8(cluster.First)]
		for _, r := range list {
			for at < len(told) && told[at].At <= r.From {
				khz = told[at].KHz
				at++
			}
			if khz != r.KHz {
				t.Fatalf("%s: %d kHz are told for %+v", cluster.part, khz, r)
			}
		}
		if at < 10 {
			t.Errorf("%s: %d changes of speed", cluster.part, at)
		}
	}
}
