package timeline

import (
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Layer is a window and what SurfaceFlinger shows of it.
type Layer struct {
	ID     int
	PID    int32
	Title  string // the window's: PACKAGE/CLASS of an activity
	Hash   int    // its ViewRootImpl's
	Opened time.Duration
	Closed time.Duration // 0 while it is open
	Frames []Frame       // by when they began
	// Surface is the layer of a SurfaceView in the window, which the app draws itself, without
	// the numbers of vsyncs; nil: none. Own says that this is such a layer.
	Surface *Layer
	Own     bool
}

// WithSurfaces are layers and those of the surfaces in them.
func WithSurfaces(layers []*Layer) []*Layer {
	out := layers[:len(layers):len(layers)]
	for _, l := range layers {
		if l.Surface != nil {
			out = append(out, l.Surface)
		}
	}
	return out
}

// Frame is one frame of a window.
type Frame struct {
	Token   int64 // of the vsync that it was begun for, see AppToken
	Display int64 // the token of the display's frame that shows it; 0: none does yet, or ever
	Kind    Kind
	Flags   int64 // as framestats have them
	Period  time.Duration

	// Expected is from the vsync that it was meant for to its deadline, Due when it
	// was to be on the screen. Actual is from when the app took it up until it was
	// drawn: queued, and the GPU done with it.
	Expected, Actual Interval
	Due              time.Duration
	// Held is how long something else kept the UI thread at its vsync.
	Held time.Duration

	// When each stage began, in this order.
	Vsync      time.Duration // the vsync at which it could begin
	Input      time.Duration
	Animation  time.Duration
	Traversals time.Duration
	Draw       time.Duration
	SyncQueued time.Duration
	Sync       time.Duration
	Issue      time.Duration
	Swap       time.Duration
	Queued     time.Duration // the buffer is handed to SurfaceFlinger
	GPUDone    time.Duration
	Latched    time.Duration // SurfaceFlinger takes it
	Presented  time.Duration // it is on the screen
	Released   time.Duration // its buffer can be drawn to again, 0: its successor is not there yet

	// Rendered is when the render thread was done with it: the GPU may not have been.
	Rendered time.Duration
	// Delays are what it took longer by, by time. Little says that its threads were kept
	// on the little CPUs, SlowClock that the CPUs' speed was held down.
	Delays            []Delay
	Little, SlowClock bool

	Dequeue time.Duration // how long a buffer was waited for
	Queue   time.Duration // how long handing it over took

	// Jank, Present and OnTime are SurfaceFlinger's judgement.
	Jank    Jank
	Present PresentType
	OnTime  bool // it was drawn by its deadline

	// Counted is when the app's own JankTracker judges it; what follows is that
	// judgement.
	Counted  time.Duration
	Deadline time.Duration // as JankTracker moves it
	Charged  time.Duration // the duration that it counts
	Janky    bool
	Legacy   bool // janky by the rule before Android 12
	Types    JankTypes
}

// Delay is a time in which a frame's thread did or waited for what the app's file says.
type Delay struct {
	Interval
	Cause *simapp.Cause
}

// Drawn is when the frame was done: queued, and the GPU done with it.
func (f *Frame) Drawn() time.Duration { return f.Actual.To }

// JankTypes are what JankTracker says of a frame beside that it is janky: bits.
type JankTypes int8

// The types.
const (
	MissedVsync JankTypes = 1 << iota
	HighInputLatency
	SlowUI
	SlowSync
	SlowRender
	MissedDeadline
)

// Kind is who draws a frame.
type Kind int8

// The kinds of frames.
const (
	Whole        Kind = iota // the UI thread and the render thread
	RenderThread             // the render thread alone
)

// The flags of frames, as framestats have them.
const (
	WindowChanged = 1 // a window is laid out
	RTAnimation   = 2 // the render thread draws alone
)

// Jank is why a frame came late: bits, as FrameTimelineEvent has them; 0 where it came
// on time.
type Jank int32

// The reasons.
const (
	SFScheduling   Jank = 2
	SFCPUDeadline  Jank = 16
	SFGPUDeadline  Jank = 32
	AppDeadline    Jank = 64
	BufferStuffing Jank = 128
	UnknownJank    Jank = 256

	NoJank Jank = 0
)

// PresentType says when a frame came to the screen. The numbers are those of
// FrameTimelineEvent.
type PresentType int8

// The types.
const (
	NotPresented PresentType = iota
	OnTimePresent
	LatePresent
	EarlyPresent
	DroppedPresent
)

// DisplayFrame is one frame of the display, which SurfaceFlinger composes.
type DisplayFrame struct {
	Token            int64
	Period           time.Duration
	Expected, Actual Interval // from the vsync to the screen
	Jank             Jank
	Present          PresentType
	OnTime           bool
	GPU              bool // the GPU composed it, not the display's hardware
	// Takes is how long SurfaceFlinger's thread composes it where that is longer than ever,
	// else 0.
	Takes time.Duration
	// Traced is when SurfaceFlinger tells of it, and of the frames that it shows: not
	// before the next frame of the display, which finds this one's fence signalled.
	// 0: not yet.
	Traced time.Duration
	Shows  []Shown
}

// Shown is a frame that a frame of the display shows: a place in its layer's Frames.
type Shown struct {
	Layer *Layer
	Frame int
}

// Of is the frame itself.
func (s Shown) Of() *Frame { return &s.Layer.Frames[s.Frame] }
