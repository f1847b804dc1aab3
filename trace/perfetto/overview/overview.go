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

// Read reads the processes that ran, the busiest first, each with its threads, and with its start if
// it is wanted.
func Read(in packets.Source, wanted func(name string, pid int32) bool) ([]Process, error) {
	file := packets.New()
	tracker := threads.New(file)
	states := sched.New(file, tracker, sched.Keep{Times: true})
	marks := sections.New(file, tracker)
	marks.Only(isMark)
	if err := in(file, tracker, states, marks); err != nil {
		return nil, err
	}
	of, mains := map[int]*Process{}, map[int]string{}
	for _, t := range tracker.Threads {
		if t.Process > 0 && t.TID == tracker.Processes[t.Process].PID {
			mains[t.Process] = t.Name // which is the process's name where only the scheduler tells it
		}
	}
	for number, times := range states.Times {
		t := tracker.Threads[number]
		if t.Process <= 0 || times.Running == 0 {
			continue
		}
		process := tracker.Processes[t.Process]
		if of[t.Process] == nil {
			of[t.Process] = &Process{Name: cmp.Or(nameOf(process), mains[t.Process]), PID: process.PID}
		}
		of[t.Process].Threads = append(of[t.Process].Threads, Thread{t.Name, t.TID, times})
	}
	out := []Process{}
	for number, p := range of {
		slices.SortFunc(p.Threads, func(a, b Thread) int { return cmp.Or(cmp.Compare(b.Running, a.Running), cmp.Compare(a.TID, b.TID)) })
		if wanted(p.Name, p.PID) {
			p.Start = startOf(number, p.Name, tracker, marks)
		}
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Process) int {
		return cmp.Or(cmp.Compare(b.Running(), a.Running()), cmp.Compare(a.PID, b.PID))
	})
	return out, nil
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
