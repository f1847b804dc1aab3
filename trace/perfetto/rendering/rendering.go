// Package rendering derives from a trace how an app's frames were rendered: which frames there
// were, how long each of their stages took, whether a user saw that one was late, and on its
// critical path which thread spent each moment on what.
//
// It owns the facts about single frames; records decide elsewhere what they mean for an app. A
// frame is late if that was visible: one that took too long while a buffer was ready is no jank
// ("Aging or Glitching?", section 2.3). The critical path is walked backwards from the end of a
// frame over the threads that it waited for: concurrent work explains nothing. A trace is read as a
// stream of which only the last moments are kept, so that memory does not grow with the file.
package rendering

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Trace is what a trace reports of an app's frames.
type Trace struct {
	// Source is the source of the frames: FrameTimeline, or DoFrame if the trace has no frame
	// timeline. It is "" if there are none.
	Source string
	// Wakers is run.Wakers*: the source of wake-ups; "" without scheduling.
	Wakers string
	// Frames are those that the app drew, by At.
	Frames []Frame
	// Clusters are the device's CPUs by speed, the slowest first; nil if unknown.
	Clusters []Cluster
	// Lost counts missing parts of the trace that may have frames, and frames without an end.
	Lost int
	// KernelLost counts gaps in the kernel's events.
	KernelLost int
	Warnings   []run.Warning
	// Stretches are the paths of App.Stretches, in their order: nil for one whose thread is not
	// known for certain.
	Stretches [][]Step
}

// Sources of frames (Trace.Source).
const (
	FrameTimeline = "frametimeline" // Android 12 and later
	DoFrame       = "doframe"       // slices of Choreographer and of the render thread
)

// Cluster is a group of equal CPUs.
type Cluster struct {
	CPUs   []int
	MaxKHz int64 // the highest frequency seen
}

// Frame is one frame of an app.
type Frame struct {
	Token int64 // of its vsync, 0 if unknown
	PID   int32
	Layer string // "" if unknown
	// At is the vsync that the frame was meant for: on CLOCK_MONOTONIC if the trace leads there,
	// otherwise on the trace's own clock.
	At time.Duration
	// Took is the time from At to its end, Deadline the allowed time: 0 if unknown.
	Took, Deadline time.Duration
	// Class is run.NormalFrames, run.SlowFrames, run.FrozenFrames, or run.BufferedFrames for a late
	// frame that was not visible because a buffer was ready.
	Class string
	// Ready is how many buffers waited to be shown at its vsync; -1 if unknown.
	Ready int
	// Jank is Android's name of what was wrong with it; "" if there is none.
	Jank   string
	Stages []Stage
	// Path is the critical path: what the frame's end waited for at each moment from At to At+Took,
	// in chronological order and without gaps. It is nil if scheduling and slices do not show it.
	Path  []Step
	Cores Cores
}

// Stage is a part of a frame on one thread, in time after Frame.At. Stages of several threads
// overlap; one of a thread may be nested in another.
type Stage struct {
	Name     string // run.Stage*
	Thread   string
	From, To time.Duration
}

// Step is a part of the critical path, in time after Frame.At.
type Step struct {
	From, To time.Duration
	// Doing is which thread did what. Steps of several frames may share one, which must not be
	// changed.
	*Doing
	KHz int32 // the CPU's frequency at the time, 0 if unknown
	CPU int16 // where it ran, -1 if it didn't
}

// String formats all fields of the step.
func (s Step) String() string {
	return fmt.Sprintf("%v to %v: %+v on CPU %d at %d kHz", s.From, s.To, *s.Doing, s.CPU, s.KHz)
}

// Doing is the activity of a thread in a step.
type Doing struct {
	Thread, Process string // "" if unknown
	TID, PID        int32  // 0 if unknown
	Stage           string // run.Stage* that the frame was in, "" for none
	// Kind is run.Wait*: what the frame's own threads waited for, or run.WaitRunning while they
	// ran; run.WaitUnknown if the trace does not show it. Does is the activity of Thread itself,
	// which may be one that they waited for: a peer that answers a call (Kind binder) may wait for
	// a disk (Does io).
	Kind, Does string
	// What is a detail that depends on Kind. binder: "PROCESS INTERFACE::METHOD" of the call. lock:
	// the thread that holds it, and where. io: the kernel's function, or the device. runnable: the
	// thread that ran on that CPU instead, for the most time. running: the innermost slice. buffer:
	// the owner of the buffers. gc: the reason of the collection. sleep: the thread that woke it.
	What  string
	Slice string // the innermost slice of Thread that is neither a stage nor a wait, "" for none
}

// Cores are facts about the CPUs during a frame. Each is -1 if unknown.
type Cores struct {
	// Little is the share of the path's running time on the slowest cluster.
	Little float64
	// LittleBusy and BigBusy are the shares of the frame's time in which the slowest cluster's
	// CPUs, and all the others', were busy.
	LittleBusy, BigBusy float64
	// Frequency is the mean frequency of the CPUs while the path ran on them, as a share of the
	// highest seen.
	Frequency float64
}

// App identifies the app's processes.
type App struct {
	// Package is the app's name: its processes have this name, or begin with it and a colon. It is
	// "" if Process decides alone.
	Package string
	// Process reports whether a process is the app's by its id; nil if Package decides alone.
	Process func(pid int) bool
	// Stretches are times of the app's threads whose path is wanted, whether a frame waits for them
	// or not.
	Stretches []Stretch
}
