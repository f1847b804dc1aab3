package timeline

import (
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Layer is a window and its frames in SurfaceFlinger.
type Layer struct {
	ID     int
	PID    int32
	Title  string // the window's: PACKAGE/CLASS of an activity
	Hash   int    // of its ViewRootImpl
	Opened time.Duration
	Closed time.Duration // 0 while it is open
	Frames []Frame       // by their beginning
	// Surface is the layer of a SurfaceView in the window, which the app draws itself, without
	// vsync ids; nil: none. Own reports that this is such a layer.
	Surface *Layer
	Own     bool
}

// WithSurfaces returns the layers and their surfaces.
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
	Token   int64 // of the vsync for which it was begun, see AppToken
	Display int64 // the token of the display frame that shows it; 0: none yet, or never
	Kind    Kind
	Flags   int64 // as in framestats
	Period  time.Duration

	// Expected is from the intended vsync to its deadline, Due when it should be on the
	// screen. Actual is from when the app began it until it was drawn: queued, and the GPU
	// done.
	Expected, Actual Interval
	Due              time.Duration
	// Held is how long the UI thread was busy otherwise at its vsync.
	Held time.Duration

	// The beginnings of the stages, in this order.
	Vsync      time.Duration // the vsync at which it could begin
	Input      time.Duration
	Animation  time.Duration
	Traversals time.Duration
	Draw       time.Duration
	SyncQueued time.Duration
	Sync       time.Duration
	Issue      time.Duration
	Swap       time.Duration
	Queued     time.Duration // the buffer is queued to SurfaceFlinger
	GPUDone    time.Duration
	Latched    time.Duration // SurfaceFlinger latches it
	Presented  time.Duration // it is on the screen
	Released   time.Duration // its buffer is free again, 0: its successor is not there yet

	// Rendered is when the render thread was done with it, perhaps before the GPU.
	Rendered time.Duration
	// Delays are its delays, by time. Little reports that its threads were limited to the
	// little CPUs, SlowClock that the CPUs' frequency was limited.
	Delays            []Delay
	Little, SlowClock bool

	Dequeue time.Duration // the wait for a buffer
	Queue   time.Duration // how long queueing took

	// Jank, Present and OnTime are SurfaceFlinger's classification.
	Jank    Jank
	Present PresentType
	OnTime  bool // it was drawn by its deadline

	// Counted is when the app's own JankTracker classifies it; the fields below are the
	// result.
	Counted  time.Duration
	Deadline time.Duration // as adjusted by JankTracker
	Charged  time.Duration // the duration that JankTracker counts
	Janky    bool
	Legacy   bool // janky by the rule before Android 12
	Types    JankTypes
}

// Delay is a span in which a frame's thread did or waited for what the app's file specifies.
type Delay struct {
	Interval
	Cause  *simapp.Cause
	Thread string // that does the task for which it waits
}

// Drawn returns when the frame was done: queued, and drawn by the GPU.
func (f *Frame) Drawn() time.Duration { return f.Actual.To }

// JankTypes are JankTracker's reasons for a janky frame: bits.
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

// Kind is which threads draw a frame.
type Kind int8

// The kinds of frames.
const (
	Whole        Kind = iota // the UI thread and the render thread
	RenderThread             // the render thread only
)

// The flags of frames, as in framestats.
const (
	WindowChanged = 1 // a window is laid out
	RTAnimation   = 2 // drawn by the render thread only
)

// Jank is why a frame was late: bits, as in FrameTimelineEvent; 0 if it was on time.
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

// PresentType is when a frame was shown relative to its due time. The numbers are those of
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

// DisplayFrame is one frame of the display, composed by SurfaceFlinger.
type DisplayFrame struct {
	Token            int64
	Period           time.Duration
	Expected, Actual Interval // from the vsync to the screen
	Jank             Jank
	Present          PresentType
	OnTime           bool
	GPU              bool // composed by the GPU, not by the display's hardware
	// Takes is the duration of a long composition, 0 for the usual one.
	Takes time.Duration
	// Traced is when SurfaceFlinger reports it and its frames: not before the next display
	// frame, which finds that this one's fence has signalled. 0: not yet.
	Traced time.Duration
	Shows  []Shown
}

// Shown is a frame in a display frame: an index into its layer's Frames.
type Shown struct {
	Layer *Layer
	Frame int
}

// Of returns the frame.
func (s Shown) Of() *Frame { return &s.Layer.Frames[s.Frame] }
