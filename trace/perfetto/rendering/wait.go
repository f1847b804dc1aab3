package rendering

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
)

// request is one that a thread sent to a block device.
type request struct {
	at     time.Duration
	thread int32
	device uint32
}

const maxRequests = 200_000

// request reads a BlockRqIssueFtraceEvent.
func (r *reader) request(e *packets.Event) {
	q := request{at: e.At, thread: int32(r.threads.Of(e.TID)), device: uint32(messages.BlockRqIssueOf(e.Data).Dev)}
	if r.file.Room("requests to block devices", len(r.disk), maxRequests) {
		r.disk = append(r.disk, q)
	}
}

// device returns the block device that a thread sent a request to between two times, as
// "MAJOR:MINOR"; "" for none. The kernel's dev_t has the minor number in 20 bits.
func (h *history) device(thread int32, from, to time.Duration) string {
	first, _ := slices.BinarySearchFunc(h.disk, from, func(q request, t time.Duration) int { return cmp.Compare(q.at, t) })
	at := first
	for at < len(h.disk) && h.disk[at].at < to && h.disk[at].thread != thread {
		at++
	}
	*h.work += at - first
	if at == len(h.disk) || h.disk[at].at >= to {
		return ""
	}
	return fmt.Sprintf("device %d:%d", h.disk[at].device>>20, h.disk[at].device&(1<<20-1))
}

// isFrame reports whether a slice encloses all of a thread's part of a frame.
func isFrame(name string) bool {
	return strings.HasPrefix(name, doFrame) || strings.HasPrefix(name, drawFrame) || strings.HasPrefix(name, drawAlone)
}

// waits maps prefixes of the names of slices to what a thread in them waits for.
var waits = []struct{ name, kind string }{
	{"Lock contention on ", run.WaitLock}, {"monitor contention with owner ", run.WaitLock}, // ART's mutex.cc, monitor.cc
	{"GC: Wait For", run.WaitGC}, {"WaitForGcToComplete", run.WaitGC}, // ART's heap.cc
	{"dequeueBuffer", run.WaitBuffer}, {"waiting for HWC release", run.WaitBuffer}, {"waitForFreeSlotThenRelock", run.WaitBuffer},
	{gpuWait, run.WaitGPU}, {"waitForever", run.WaitGPU}, {"Waiting for GPU", run.WaitGPU}, {"dma_fence_wait", run.WaitGPU},
	{syncing, run.WaitIO},
}

// waitOf returns what a thread waits for according to a slice, "" for none.
func waitOf(name string) string {
	for _, one := range waits {
		if strings.HasPrefix(name, one.name) {
			return one.kind
		}
	}
	return ""
}

// slept adds a period in which a thread was not runnable: over the thread that it waited for, if
// known.
func (w *walker) slept(thread int32, s *sched.State, from, to time.Duration, reason *why) {
	function := w.h.sched.Functions[s.Blocked]
	blocked := strings.HasPrefix(w.h.sched.Names[s.Name], "D")
	kind, row := w.waitBySlices(thread, to)
	call := w.h.callAt(thread, to)
	device := ""
	if blocked {
		device = w.h.device(thread, from, to)
	}
	switch {
	case s.IOWait == 1, kind == run.WaitIO, device != "":
		w.add(w.step(thread, from, to, run.WaitIO, first(function, device, w.nameOf(row)), reason), thread)
	case blocked:
		w.add(w.step(thread, from, to, run.WaitBlocked, function, reason), thread)
	case call != nil && call.sent < to:
		w.aside(thread, call.server, from, to, run.WaitBinder, w.h.callName(call), reason)
	case kind == run.WaitLock:
		owner, what := w.owner(thread, row, to)
		w.aside(thread, owner, from, to, kind, what, reason)
	case kind == run.WaitGC:
		w.aside(thread, w.waker(thread, to), from, to, kind, w.nameOf(row), reason)
	case kind == run.WaitBuffer && w.drawing(from, to):
		w.add(w.step(thread, from, to, run.WaitGPU, "a buffer that the GPU still draws into", reason), thread)
	case kind == run.WaitBuffer:
		w.add(w.step(thread, from, to, kind, "SurfaceFlinger", reason), thread)
	case kind == run.WaitGPU:
		w.add(w.step(thread, from, to, kind, "", reason), thread)
	case !w.alone && w.h.within(thread, to) == none && (reason == nil || thread == w.d.main) && to-from < longestPeriod:
		// The vsync had come: a thread that sleeps for longer waits for something without a slice.
		w.add(w.step(thread, from, to, run.WaitIdle, "", reason), thread)
	default:
		w.woken(thread, from, to, function, reason)
	}
}

// drawing reports whether the GPU drew for the app for most of a period, according to the app's
// waits for it: SurfaceFlinger returns no buffer before it is drawn.
func (w *walker) drawing(from, to time.Duration) bool {
	const longest = time.Second
	var busy time.Duration
	for _, row := range w.h.amid(w.h.draws[w.d.PID], from-longest, to) {
		if s := &w.h.spans[row]; strings.HasPrefix(s.name, gpuWait) {
			busy += max(0, min(s.end(), to)-max(s.at, from))
		}
	}
	return busy > (to-from)/2
}

// woken adds a period in which a thread slept until another one woke it.
func (w *walker) woken(thread int32, from, to time.Duration, function string, reason *why) {
	waker := w.waker(thread, to)
	if waker != none && w.own(waker) && reason == nil && !slices.Contains(w.chain, waker) {
		w.back(waker, from, to, nil) // the main thread waits for the render thread, as in each frame
		return
	}
	w.aside(thread, waker, from, to, run.WaitSleep, first(w.displayName(waker), function), reason)
}

// own reports whether a thread is one that draws the frame.
func (w *walker) own(thread int32) bool {
	return w.d.draw != none && w.h.spans[w.d.draw].thread == thread
}

// aside walks over the thread that another one waited for in a period, if it is known and does not
// wait for the other one itself.
func (w *walker) aside(thread, other int32, from, to time.Duration, kind, what string, reason *why) {
	if reason == nil {
		reason = &why{kind: kind, what: what, stage: w.stage(thread, to)}
	}
	if other == none || len(w.chain) >= maxChain || slices.Contains(w.chain, other) {
		s := w.step(thread, from, to, kind, what, reason)
		w.add(s, thread)
		return
	}
	w.back(other, from, to, reason)
}

// waker returns the thread that woke another at a time, none if it was an interrupt or is unknown.
// If only a CPU's queue is known, the thread of another process may have been interrupted there.
func (w *walker) waker(thread int32, at time.Duration) int32 {
	next := w.h.next(thread, at)
	if next == nil || next.Waker <= 0 || next.IRQ == 1 {
		return none
	}
	if pid := w.h.pid(thread); next.Queued && (pid == 0 || w.h.pid(next.Waker) != pid) {
		return none
	}
	return next.Waker
}

// waitBySlices returns what a thread waited for just before a time according to its slices, and the
// slice.
func (w *walker) waitBySlices(thread int32, at time.Duration) (string, int32) {
	for row := w.h.within(thread, at); row != none; row = w.h.spans[row].parent {
		if kind := waitOf(w.h.spans[row].name); kind != "" {
			return kind, row
		}
	}
	return "", none
}

func (w *walker) nameOf(row int32) string {
	if row == none {
		return ""
	}
	return w.h.spans[row].name
}

// owner returns the owner of the lock that a thread waits for, and the description of both: "NAME
// at METHOD". ART states the owner's kernel id in "Lock contention on a monitor lock (owner tid:
// 7443)", and, around that, its name with ART's own id in "monitor contention with owner NAME (18)
// at METHOD(FILE:LINE) waiters=0 blocking from …" (runtime/base/mutex.cc, runtime/monitor.cc).
func (w *walker) owner(thread, row int32, at time.Duration) (int32, string) {
	owner, name, where := int32(none), "", ""
	for ; row != none; row = w.h.spans[row].parent {
		text := w.h.spans[row].name
		if _, rest, found := strings.Cut(text, "(owner tid: "); found && owner == none {
			number, _, _ := strings.Cut(rest, ")")
			if tid, _ := strconv.ParseInt(number, 10, 32); tid > 0 { // 0 is not an id
				owner = w.numbered(int32(tid), thread)
			}
		}
		if rest, found := strings.CutPrefix(text, "monitor contention with owner "); found {
			name, rest, _ = strings.Cut(rest, " (")
			_, rest, _ = strings.Cut(rest, ") at ")
			where, _, _ = strings.Cut(rest, " waiters=")
			break
		}
	}
	if owner == none && name != "" {
		owner = w.namesake(name, thread)
	}
	if name == "" {
		name = w.displayName(owner)
	}
	if where != "" {
		return owner, name + " at " + where
	}
	return owner, name
}

// numbered returns the thread with an id in the process of another, none if there is none.
func (w *walker) numbered(tid, beside int32) int32 {
	for _, one := range w.h.beside(beside) {
		if w.h.threads.Threads[one].TID == tid {
			return one
		}
	}
	return none
}

// namesake returns the thread with a name in the process of another; none if there is none, or
// several. The kernel's names have 15 bytes.
func (w *walker) namesake(name string, beside int32) int32 {
	found := int32(none)
	for _, one := range w.h.beside(beside) {
		own, _ := w.h.name(one)
		if own != name && (len(own) != 15 || !strings.HasPrefix(name, own)) {
			continue
		}
		if found != none {
			return none
		}
		found = one
	}
	return found
}

// beside returns the threads of a thread's process.
func (h *history) beside(thread int32) []int32 {
	list := h.processes[h.pid(thread)]
	*h.work += len(list)
	return list
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, one := range texts {
		if one != "" {
			return one
		}
	}
	return ""
}
