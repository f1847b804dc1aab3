package rendering

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/sched"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// none stands for no thread, row or state.
const none = -1

// history is the last moments that were read, indexed by thread and by CPU.
type history struct {
	sched   *sched.Reader
	threads *threads.Tracker
	roster  *threads.Roster
	spans   []span
	calls   []call
	clocks  []frequencies // by CPU
	disk    []request

	processes map[int32][]int32 // threads by the number of their process
	draws     map[int32][]int32 // slices of frames and of waits for the GPU, by process id
	renders   map[int32]bool    // threads that draw frames
	work      *int              // rows examined for all frames

	stateRows, spanRows, callRows, turnRows rows // by thread, and turns by CPU
}

// rows are indices in a list, by thread or by CPU, each in chronological order.
type rows struct {
	starts []int32
	places []int32
}

// sorted groups n rows by a number below numbers.
func sorted(n, numbers int, of func(i int) int) rows {
	r := rows{starts: make([]int32, numbers+1), places: make([]int32, n)}
	for i := range n {
		r.starts[of(i)+1]++
	}
	for i := range numbers {
		r.starts[i+1] += r.starts[i]
	}
	next := slices.Clone(r.starts)
	for i := range n {
		number := of(i)
		r.places[next[number]] = int32(i)
		next[number]++
	}
	return r
}

// of returns the rows of a number.
func (r *rows) of(number int32) []int32 {
	if number < 0 || int(number)+1 >= len(r.starts) {
		return nil
	}
	return r.places[r.starts[number]:r.starts[number+1]]
}

// newHistory indexes what the readers have kept.
func newHistory(r *reader) *history {
	h := &history{
		sched: r.sched, threads: r.threads, roster: r.roster, spans: r.spans.list, calls: r.calls.list, clocks: r.clocks,
		disk: r.disk, processes: map[int32][]int32{}, draws: map[int32][]int32{}, renders: map[int32]bool{}, work: &r.work,
	}
	all := len(r.threads.Threads)
	h.stateRows = sorted(len(h.sched.States.Rows), all, func(i int) int { return int(h.sched.States.Rows[i].Thread) })
	h.spanRows = sorted(len(h.spans), all, func(i int) int { return int(h.spans[i].thread) })
	h.callRows = sorted(len(h.calls), all, func(i int) int { return int(h.calls[i].client) })
	h.turnRows = sorted(len(h.sched.Turns.Rows), maxCPUs, func(i int) int { return int(h.sched.Turns.Rows[i].CPU) })
	for i := range h.threads.Threads {
		pid := h.pid(int32(i))
		h.processes[pid] = append(h.processes[pid], int32(i))
	}
	for i := range h.spans {
		if name := h.spans[i].name; isFrame(name) || strings.HasPrefix(name, gpuWait) {
			pid := h.pid(h.spans[i].thread)
			h.draws[pid] = append(h.draws[pid], int32(i))
			if strings.HasPrefix(name, drawFrame) {
				h.renders[h.spans[i].thread] = true
			}
		}
	}
	return h
}

// maxWork limits the rows that are examined for all frames together. A made-up trace may have
// frames that each last as long as the trace.
const maxWork = 30_000_000

// before returns the index in list of the last row that begins before a time; -1 for none.
func before(list []int32, t time.Duration, at func(row int32) time.Duration) int {
	i, _ := slices.BinarySearchFunc(list, t, func(row int32, t time.Duration) int { return cmp.Compare(at(row), t) })
	return i - 1
}

// stateBefore returns a thread's state just before a time. It returns nil, and when the state
// before ended, if the trace does not show it.
func (h *history) stateBefore(thread int32, t time.Duration) (*sched.State, time.Duration) {
	list := h.stateRows.of(thread)
	i := before(list, t, func(row int32) time.Duration { return h.sched.States.Rows[row].At })
	if i < 0 {
		return nil, 0
	}
	s := &h.sched.States.Rows[list[i]]
	if end := s.At + s.For; s.For >= 0 && end < t {
		return nil, end
	}
	return s, 0
}

// next returns the thread's state after one that ended at a time, nil if the trace does not show
// it.
func (h *history) next(thread int32, t time.Duration) *sched.State {
	list := h.stateRows.of(thread)
	i := before(list, t, func(row int32) time.Duration { return h.sched.States.Rows[row].At }) + 1
	if i >= len(list) || h.sched.States.Rows[list[i]].At != t {
		return nil
	}
	return &h.sched.States.Rows[list[i]]
}

// within returns the innermost slice of a thread just before a time, none for none.
func (h *history) within(thread int32, t time.Duration) int32 {
	list := h.spanRows.of(thread)
	i := before(list, t, func(row int32) time.Duration { return h.spans[row].at })
	if i < 0 {
		return none
	}
	row := list[i]
	for row != none && h.spans[row].endsBefore(t) {
		row = h.spans[row].parent
		*h.work++
	}
	return row
}

// between returns a thread's slices that begin at or after from and before to.
func (h *history) between(thread int32, from, to time.Duration) []int32 {
	list := h.spanRows.of(thread)
	return h.amid(list, from, to)
}

// amid does so for a list of slices in chronological order.
func (h *history) amid(list []int32, from, to time.Duration) []int32 {
	if to <= from {
		return nil
	}
	at := func(row int32) time.Duration { return h.spans[row].at }
	out := list[before(list, from, at)+1 : before(list, to, at)+1]
	*h.work += 1 + len(out)
	return out
}

// callAt returns the call that a thread waited for just before a time, nil for none.
func (h *history) callAt(thread int32, t time.Duration) *call {
	const near = 8 // calls that may have begun later and ended, as when the thread answered one
	list := h.callRows.of(thread)
	last := before(list, t, func(row int32) time.Duration { return h.calls[row].sent })
	for i := last; i >= 0 && last-i < near; i-- {
		if c := &h.calls[list[i]]; c.answered() >= t {
			return c
		}
	}
	return nil
}

// turns calls f with each turn of a thread other than the idle one on a CPU between two times.
func (h *history) turns(cpu int32, from, to time.Duration, f func(thread int32, took time.Duration)) {
	list := h.turnRows.of(cpu)
	at := func(row int32) time.Duration { return h.sched.Turns.Rows[row].At }
	for i := max(before(list, from, at), 0); i < len(list); i++ {
		*h.work++
		t := &h.sched.Turns.Rows[list[i]]
		if t.At >= to {
			return
		}
		end := t.At + t.For
		if t.For < 0 {
			end = to
			if i+1 < len(list) {
				end = min(end, at(list[i+1]))
			}
		}
		if took := min(end, to) - max(t.At, from); took > 0 && t.Thread > 0 {
			f(t.Thread, took)
		}
	}
}

// mainThread names each process's main thread, to which the kernel gives the end of the process's
// name.
const mainThread = "main"

// name returns a thread's name and that of its process: "" if unknown. The trace may name them
// after their first events.
func (h *history) name(thread int32) (own, process string) {
	if thread < 0 || int(thread) >= len(h.threads.Threads) {
		return "", ""
	}
	t := &h.threads.Threads[thread]
	pid := h.pid(thread)
	own = t.Name
	if pid > 0 && t.TID == pid {
		own = mainThread
	}
	if m := h.roster.Threads[t.TID]; own == "" && m != nil {
		own = m.Name
	}
	if own == "" && h.renders[thread] {
		own = "RenderThread" // in a trace that names no threads
	}
	return own, processOf(h.threads, h.roster, pid)
}

// pid returns the id of a thread's process, 0 if unknown.
func (h *history) pid(thread int32) int32 {
	if thread < 0 || int(thread) >= len(h.threads.Threads) {
		return 0
	}
	t := &h.threads.Threads[thread]
	if t.Process != none {
		return h.threads.Processes[t.Process].PID
	}
	if m := h.roster.Threads[t.TID]; m != nil {
		return m.PID
	}
	if h.roster.Processes[t.TID] != nil {
		return t.TID
	}
	return 0
}

// main returns the main thread of a process, none if the trace does not have it.
func (h *history) main(pid int32) int32 {
	list := h.processes[pid]
	for i := len(list) - 1; i >= 0; i-- {
		if h.threads.Threads[list[i]].TID == pid {
			return list[i]
		}
	}
	return none
}
