package sched

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Pause is a span in which a thread in the middle of its work does not run.
type Pause struct {
	Until time.Duration
	State byte    // its state during the pause, as in sched_switch
	Waker *Thread // the thread that wakes it; nil: an interrupt
	// Function is the kernel function in which it sleeps, for the state 'D', and Asks its
	// request to storage.
	Function string
	Asks     *timeline.Request
}

// uninterruptible is the state of a thread that waits for storage.
const uninterruptible = 'D'

// pause suspends the item on a CPU for the pause; one that is already over is skipped.
func (s *Scheduler) pause(c *cpu, p *Pause, at time.Duration) {
	if p.Until <= at+parks {
		return
	}
	rest := *c.item
	rest.Woken, rest.Waker, rest.From, rest.resumes = p.Until-unblocks, 0, p.Until, true
	if p.Waker != nil {
		rest.Waker = p.Waker.TID
	}
	if p.State == preempted {
		rest.Woken = 0
	}
	rest.To = max(rest.To, rest.From+parks)
	if p.State == uninterruptible {
		s.timeline.Sleeps = append(s.timeline.Sleeps, timeline.Sleep{TID: rest.Thread.TID, From: at, Woken: rest.Woken, Function: p.Function, Asks: p.Asks})
	}
	c.item.Calls, c.item.waits, c.item.leaves, c.end = nil, true, p.State, at+parks
	s.expect(rest)
}

// Cast is the threads that take part in the frames of an app.
type Cast struct {
	UI, Render, Vsync *Thread
	Heap              *Thread // the garbage collector
	Fence             *Thread // waits for the GPU, in a trace section; nil: none
	*Binder
	AIDL bool // calls have trace sections (Android 12: Binder.execTransactInternal)
	// Peer returns another process's threads that answer calls, Owner a thread of the app,
	// Hogs as many threads of another process as there are CPUs.
	Peer  func(process string) *Pool
	Owner func(name string) *Thread
	Hogs  func(process string) []*Thread
}

// HogProcess is the process that keeps the little CPUs busy: the background compiler.
const HogProcess = "/apex/com.android.art/bin/dex2oat64"

// delays returns where the UI thread stops in a frame, and the work of other threads.
func (c *Cast) delays(f *timeline.Frame) (stops []Call, others []Item) {
	for _, d := range f.Delays {
		switch d.Cause.Kind {
		case simapp.Binder:
			stops = append(stops, c.asks(d))
		case simapp.Disk:
			stops = append(stops, onDisk(d.From, d.To, d.Cause.Name)...)
		case simapp.Lock:
			owner := c.holds(d, max(d.From-locks, f.Actual.From))
			stops, others = append(stops, sleeps(d, owner.Thread)), append(others, owner)
		case simapp.AwaitedTask:
			stops = append(stops, sleeps(d, c.Owner(d.Thread)))
		case simapp.GC:
			begins := max(d.From-collects, f.Actual.From)
			stops = append(stops, sleeps(d, c.Heap))
			others = append(others, Item{
				Thread: c.Heap, Woken: begins - unblocks, From: begins, To: d.To - unblocks + parks,
				Kind: power.Other, Method: power.System, Section: "Background concurrent copying GC", Category: "dalvik",
			})
		case simapp.CPU:
			stops = append(stops, Call{At: d.From, Pause: &Pause{Until: d.To, State: preempted}})
			others = append(others, hogs(c.Hogs(d.Cause.Name), d.From-takesOver, d.To+takesOver, "")...)
		}
	}
	return stops, others
}

// How long before a frame needs them the collector and the lock owner begin, and other
// processes' threads take the CPUs.
const (
	collects  = 700 * time.Microsecond
	locks     = 400 * time.Microsecond
	takesOver = 60 * time.Microsecond
)

// sleeps returns a pause of the UI thread until another thread of the app wakes it, as on a
// futex.
func sleeps(d timeline.Delay, waker *Thread) Call {
	return Call{At: d.From, Pause: &Pause{Until: d.To, State: asleep, Waker: waker}}
}

// asks returns a call whose answer arrives when the delay ends. The callee may call another
// process.
func (c *Cast) asks(d timeline.Delay) Call {
	const own = 0.2 // the callee's own share of the work, before and after
	call := c.Asks(d.Cause.Peer, d.Interval)
	takes := call.Takes
	if d.Cause.Through != nil {
		call.Calls = []Call{c.to(*d.Cause.Through, time.Duration(own*float64(takes)), time.Duration((1-2*own)*float64(takes)))}
	}
	return call
}

// Asks returns a call of a process whose answer arrives at the end of a span.
func (c *Cast) Asks(p simapp.Peer, during timeline.Interval) Call {
	return c.to(p, during.From, during.To-during.From-2*unblocks+parks)
}

// to returns a call to a process.
func (c *Cast) to(p simapp.Peer, at, takes time.Duration) Call {
	call := Call{At: at, To: c.Peer(p.Process), Takes: takes, Urgent: true, Code: codeOf(p)}
	if c.AIDL {
		call.Section, call.Category = fmt.Sprintf("AIDL::java::%s::%s::server", p.Interface, p.Method), "aidl"
	}
	return call
}

// codeOf returns the number of a method in its interface.
func codeOf(p simapp.Peer) uint32 {
	sum := uint32(0)
	for _, r := range p.Interface + p.Method {
		sum = sum*31 + uint32(r)
	}
	return 1 + sum%60
}

// holds returns the work, from a time on, of the owner of the lock that the UI thread waits
// for.
func (c *Cast) holds(d timeline.Delay, from time.Duration) Item {
	owner := c.Owner(d.Cause.Name)
	it := Item{Thread: owner, Woken: from - unblocks, From: from, To: d.To - unblocks + parks, Kind: power.Other, Method: power.System}
	if d.Cause.OnDisk {
		it.Calls = onDisk(d.From+locks/2, d.To-locks/2, simapp.DiskWrite)
	}
	return it
}

// atMost is the approximate maximum duration of a storage request, and between the thread's
// work from one to the next.
const (
	atMost  = 4 * time.Millisecond
	between = 60 * time.Microsecond
)

// onDisk returns the storage requests that occupy a thread for a time, one after the other. It
// waits for each in the kernel (mm/filemap.c, fs/f2fs/file.c and segment.c).
func onDisk(from, to time.Duration, deed string) (out []Call) {
	function, kind := "folio_wait_bit_common", "R"
	switch deed {
	case simapp.DiskWrite:
		function, kind = "f2fs_wait_on_page_writeback", "WS"
	case simapp.DiskSync:
		function, kind = "f2fs_issue_flush", "FWFS"
	}
	n := max(1, int((to-from)/atMost))
	each := (to - from) / time.Duration(n)
	for i := range n {
		at := from + time.Duration(i)*each
		until := at + each - between
		if i == n-1 {
			until = to
		}
		ask := &timeline.Request{Kind: kind, Sectors: 8 << (i % 5), Done: until - unblocks, Syncs: deed == simapp.DiskSync && i == 0}
		out = append(out, Call{At: at, Pause: &Pause{Until: until, State: uninterruptible, Function: function, Asks: ask}})
	}
	return out
}

// OnDisk returns the storage requests of a thread that reads for a time.
func OnDisk(from, to time.Duration) []Call { return onDisk(from, to, simapp.DiskRead) }

// hogs returns background work that takes all CPUs, or those of a cluster.
func hogs(threads []*Thread, from, to time.Duration, only power.Part) (out []Item) {
	for i, t := range threads {
		begins := from + time.Duration(i)*time.Microsecond
		out = append(out, Item{Thread: t, Woken: begins - unblocks, From: begins, To: to, Kind: power.Other, Background: true, Only: only})
	}
	return out
}

// where limits a frame's work to the little CPUs, with other work that keeps those busy, or to
// CPUs with a limited frequency.
func (c *Cast) where(f *timeline.Frame, items []Item) []Item {
	for i := range items {
		if t := items[i].Thread; t == c.UI || t == c.Render {
			items[i].Held = f.SlowClock
			if f.Little {
				items[i].Only = power.Little
			}
		}
	}
	if f.Little {
		threads := c.Hogs(HogProcess)
		items = append(items, hogs(threads, f.Actual.From-takesOver, f.SyncQueued, power.Little)...)
		items = append(items, hogs(threads, f.Sync, f.Rendered, power.Little)...)
	}
	return items
}

// waitsForGPU returns the work of the thread that waits until the GPU has drawn a frame
// (FenceMonitor in libgui's Surface.cpp).
func (c *Cast) waitsForGPU(f *timeline.Frame) []Item {
	const begins, ends = 40 * time.Microsecond, 30 * time.Microsecond
	from := f.Queued + unblocks
	if c.Fence == nil || f.GPUDone < from+begins+ends {
		return nil
	}
	return []Item{{
		Thread: c.Fence, Woken: f.Queued, Waker: c.Render.TID, From: from, To: f.GPUDone + ends, Kind: power.Service, Method: power.System,
		Section: fmt.Sprintf("waiting for GPU completion %d", f.Token), Category: "gfx",
		Calls: []Call{{At: from + begins, Pause: &Pause{Until: f.GPUDone, State: asleep}}},
	}}
}

// inOrder sorts calls by time.
func inOrder(calls []Call) []Call {
	slices.SortStableFunc(calls, func(a, b Call) int { return cmp.Compare(a.At, b.At) })
	return calls
}
