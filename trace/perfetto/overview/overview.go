// Package overview reads of a trace what a process did as a whole: how long each of its threads ran,
// waited for a CPU and slept, and which parts its start had.
//
// It owns the names of a start's parts in Android's own slices. Why a frame was late belongs to
// package rendering.
package overview

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/sched"
	sections "github.com/apkgate/apkgate/trace/perfetto/slices"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// Process is what a process did in a trace.
type Process struct {
	Name    string
	PID     int32
	Threads []Thread // those that ran, the busiest first
	Start   []Part   // of its first start in the trace, in their order; nil if there is none
}

// Thread is a thread with its times in each kind of state.
type Thread struct {
	Name string
	TID  int32
	sched.Times
}

// Part is a part of a start. At counts from the start's beginning.
type Part struct {
	Name    string
	At, For time.Duration
}

// The parts of a start. Those between are Android's slices of the same names
// (ActivityThread.java, ActivityMetricsLogger.java).
const (
	UntilProcess = "until the process exists"
	UntilBound   = "until bindApplication"
	Bind         = "bindApplication"
	Start        = "activityStart"
	Resume       = "activityResume"
	FirstFrame   = "first frame"
	Displayed    = "displayed"
	FullyDrawn   = "reportFullyDrawn"
)

// Along returns a source that reads what processes did together with whatever is read of a trace
// first, so that it is not read once more for it, and the function that returns the result: the
// processes that ran, the busiest first, each with its threads, and with its start if it is wanted;
// none before the trace was read. What is kept grows with the threads and starts of a trace, not with
// its length.
func Along(in packets.Source) (packets.Source, func(wanted func(name string, pid int32) bool) []Process) {
	var r *reader
	along := func(f *packets.File, readers ...packets.Reader) error {
		if r != nil {
			return in(f, readers...)
		}
		at := slices.IndexFunc(readers, func(one packets.Reader) bool { _, is := one.(*threads.Tracker); return is })
		if at < 0 {
			at, readers = 0, append([]packets.Reader{threads.New(f)}, readers...)
		}
		beside := newReader(f, readers[at].(*threads.Tracker))
		if err := in(f, append(slices.Clone(readers), beside.states, beside.slices)...); err != nil {
			return err
		}
		r = beside
		return nil
	}
	return along, func(wanted func(string, int32) bool) []Process {
		if r == nil {
			return nil
		}
		return r.processes(wanted)
	}
}

// reader reads a trace whose threads the tracker reads in the same pass.
type reader struct {
	tracker *threads.Tracker
	states  *sched.Reader
	slices  *sections.Reader
}

func newReader(f *packets.File, tracker *threads.Tracker) *reader {
	r := &reader{tracker, sched.New(f, tracker, sched.Keep{Times: true}), sections.New(f, tracker)}
	r.slices.Only(newMarked().keeps)
	return r
}

// processes returns the processes that ran.
func (r *reader) processes(wanted func(name string, pid int32) bool) []Process {
	of, mains := map[int]*Process{}, map[int]string{}
	for _, t := range r.tracker.Threads {
		if t.Process > 0 && t.TID == r.tracker.Processes[t.Process].PID {
			mains[t.Process] = t.Name // which is the process's name where only the scheduler tells it
		}
	}
	for number, times := range r.states.Times {
		t := r.tracker.Threads[number]
		if t.Process <= 0 || times.Running == 0 {
			continue
		}
		process := r.tracker.Processes[t.Process]
		if of[t.Process] == nil {
			of[t.Process] = &Process{Name: cmp.Or(nameOf(process), mains[t.Process]), PID: process.PID}
		}
		of[t.Process].Threads = append(of[t.Process].Threads, Thread{t.Name, t.TID, times})
	}
	names := map[int]string{}
	for number, p := range of {
		if wanted(p.Name, p.PID) {
			names[number] = p.Name
		}
	}
	starts := startsOf(names, r.tracker, r.slices)
	out := []Process{}
	for number, p := range of {
		slices.SortFunc(p.Threads, func(a, b Thread) int { return cmp.Or(cmp.Compare(b.Running, a.Running), cmp.Compare(a.TID, b.TID)) })
		p.Start = starts[number]
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Process) int {
		return cmp.Or(cmp.Compare(b.Running(), a.Running()), cmp.Compare(a.PID, b.PID))
	})
	return out
}

// Running returns how long all threads of the process ran.
func (p Process) Running() (sum time.Duration) {
	for _, t := range p.Threads {
		sum += t.Running
	}
	return sum
}

func nameOf(p threads.Process) string {
	command, _, _ := strings.Cut(p.Cmdline, " ")
	if command != "" && strings.HasSuffix(command, p.Name) { // the kernel keeps the end of a name
		return command
	}
	return cmp.Or(p.Name, command)
}
