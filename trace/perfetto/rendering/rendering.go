// Package rendering reads from a trace how an app's frames came about: which there were,
// what each stage of them took, whether anybody saw that one was late, and on its critical
// path what every moment was spent on, by whom.
//
// It owns the facts about single frames. What they mean for an app is judged elsewhere,
// from records. It takes three stands. A frame is late by what was seen: one that took too
// long while a buffer was ready is no jank ("Aging or Glitching?", section 2.3). The
// critical path is walked backwards, from the end of a frame, over whoever was waited for:
// work beside it explains nothing. And a trace is read as a stream of which only the last
// moments are kept, so that memory does not grow with the file.
package rendering

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Trace is what a trace tells of an app's frames.
type Trace struct {
	// Source says what the frames are told by: FrameTimeline, or DoFrame where the trace
	// has no frame timeline. "" where it tells of none.
	Source string
	// Wakers is run.Wakers*: what tells who woke threads; "" without scheduling.
	Wakers string
	// Frames are those that the app drew, by At.
	Frames []Frame
	// Clusters are the CPUs of the device by how fast they are, the slowest first; nil where the
	// trace does not tell.
	Clusters []Cluster
	// Lost counts where parts of the trace are missing that frames stand in, and frames of
	// which the trace does not tell the end.
	Lost int
	// KernelLost counts where events of the kernel are missing.
	KernelLost int
	Warnings   []run.Warning
}

// What frames are told by (Trace.Source).
const (
	FrameTimeline = "frametimeline" // Android 12 and later
	DoFrame       = "doframe"       // slices of Choreographer and of the render thread
)

// Cluster is CPUs that are alike.
type Cluster struct {
	CPUs   []int
	MaxKHz int64 // the highest frequency that was seen
}

// Frame is one frame of an app.
type Frame struct {
	Token int64 // of its vsync, 0 where not told
	PID   int32
	Layer string // "" where not told
	// At is the vsync that the frame was meant for: on CLOCK_MONOTONIC where the trace leads
	// there, else on the trace's own clock.
	At time.Duration
	// Took is from there to its end, Deadline how long that could have been: 0 where the
	// trace does not tell.
	Took, Deadline time.Duration
	// Class is run.NormalFrames, run.SlowFrames, run.FrozenFrames, or run.BufferedFrames for
	// one that was late by time, yet a buffer was ready, so that nobody saw it.
	Class string
	// Ready is how many buffers waited to be shown at its vsync; -1 where not told.
	Ready int
	// Jank is what Android calls what was wrong with it, in its own words; "" where it says
	// nothing.
	Jank   string
	Stages []Stage
	// Path is the critical path: what the frame's end waited for at each moment from At to
	// At+Took, in the order of time and without gaps. It is nil where scheduling and
	// slices don't tell.
	Path  []Step
	Cores Cores
}

// Stage is a part of a frame on one thread, in time after Frame.At. Stages of several
// threads overlap; one of a thread may lie within another.
type Stage struct {
	Name     string // run.Stage*
	Thread   string
	From, To time.Duration
}

// Step is a part of the critical path, in time after Frame.At.
type Step struct {
	From, To time.Duration
	// Doing is who did what. Steps of several frames may share one, which nobody changes.
	*Doing
	KHz int32 // the CPU's frequency then, 0 where not told
	CPU int16 // where it ran, -1 where it didn't
}

// String is all that the step says.
func (s Step) String() string {
	return fmt.Sprintf("%v to %v: %+v on CPU %d at %d kHz", s.From, s.To, *s.Doing, s.CPU, s.KHz)
}

// Doing is what a thread did in a step.
type Doing struct {
	Thread, Process string // "" where not told
	TID, PID        int32  // 0 where not told
	Stage           string // run.Stage* that the frame was in, "" for none
	// Kind is run.Wait*: what the frame's own threads waited for, or run.WaitRunning where
	// they ran; run.WaitUnknown where the trace does not tell. Does is what Thread itself did, which may be one that
	// they waited for: a peer that answers a call (Kind binder) may wait for a disk (Does io).
	Kind, Does string
	// What says more, by Kind. binder: "PROCESS INTERFACE::METHOD" of the call. lock: the
	// thread that holds it, and where. io: the kernel's function, or the device. runnable:
	// who ran on that CPU instead, for the most time. running: the innermost slice. buffer:
	// who holds the buffers. gc: what was collected for. sleep: who woke the thread.
	What  string
	Slice string // the innermost slice of Thread that is neither a stage nor a wait, "" for none
}

// Cores are facts about the CPUs during a frame. Each is -1 where the trace does not tell.
type Cores struct {
	// Little is the share of the path's running time that was on the slowest cluster.
	Little float64
	// LittleBusy and BigBusy are the shares of the time of the frame that the slowest
	// cluster's CPUs, and all the others', ran something.
	LittleBusy, BigBusy float64
	// Frequency is the mean frequency of the CPUs that the path ran on, while it ran there,
	// as a share of the highest seen.
	Frequency float64
}

// App says which processes are the app's.
type App struct {
	// Package is the app's name: its processes are called so, or begin with that and a
	// colon. "" where Process decides alone.
	Package string
	// Process reports that a process is the app's by its number; nil where Package decides alone.
	Process func(pid int) bool
}
