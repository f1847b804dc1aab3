package frames

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Timeline is the frame timeline of a trace for one app.
type Timeline struct {
	// Frames are those that the app drew, by the vsync that they were meant for.
	Frames []jank.Frame
	// Written is set if the timeline was recorded at all, for any process.
	Written bool
	// Lost counts gaps in its packets, where frames may be missing.
	Lost int
	// Forgotten counts frames that took so long that the system no longer knew when they were due:
	// their time is counted from the last vsync that it knew before.
	Forgotten int
	// Unended counts frames whose end is not in the trace, Dropped those that the compositor
	// skipped for a newer one: their duration is unknown.
	Unended, Dropped int
}

// ErrNoClock is returned if nothing in a trace leads to CLOCK_MONOTONIC.
var ErrNoClock = errors.New("nothing in the trace leads to CLOCK_MONOTONIC")

// ReadTimeline reads the frames of an app's processes from a trace.
//
// A frame is a buffer that a process drew for one of its layers (SurfaceFrame::trace of Android's
// FrameTimeline.cpp): two windows that draw for one vsync have two. Moving a layer draws nothing.
func ReadTimeline(src io.ReadSeeker, of func(pid int) bool) (Timeline, error) {
	f := packets.New()
	r, kept := NewEarly(f), &packets.Losses{Source: "android.surfaceflinger.frametimeline"}
	if err := f.Survey(src, r, kept); err != nil {
		return Timeline{}, err
	}
	if f.HasClock() {
		r.Resolve()
	}
	return r.Timeline(kept.Chunks(), of)
}

// Timeline returns the frames read so far of an app's processes; chunks is the number of lost
// pieces of the record.
func (r *Reader) Timeline(chunks int, of func(pid int) bool) (Timeline, error) {
	f := r.file
	out := Timeline{Written: r.Frames.Len() > 0, Lost: r.Gaps + r.Malformed + chunks + f.TooMany["frames"]}
	if !out.Written {
		return out, nil
	}
	monotonic, ok := f.Monotonic()
	if !ok {
		return out, fmt.Errorf("read the frame timeline: %w", ErrNoClock)
	}
	for _, d := range r.Drawn(of) {
		out.add(d, monotonic)
	}
	slices.SortStableFunc(out.Frames, func(a, b jank.Frame) int { return cmp.Compare(a.At, b.At) })
	period := interval(out.Frames)
	for i := range out.Frames {
		out.Frames[i].Interval = period
	}
	return out, nil
}

// Drawing is a frame that an app drew, with its deadline. Its time is on the trace's own clock.
type Drawing struct {
	jank.Frame
	Place int32 // index in Reader.Frames
	End   End
}

// End is what is known of a frame's end.
type End int

// A frame's end is known; or not, because it is not in the trace, or because the compositor skipped
// the frame for a newer one; or it is known, but not when the frame was due.
const (
	Ended End = iota
	Unended
	Dropped
	Forgotten
)

// Drawn returns the frames that an app's processes drew, in the trace's order.
func (r *Reader) Drawn(of func(pid int) bool) []Drawing {
	made := r.made()
	seen := map[layer]bool{}
	var out []Drawing
	for i := range r.Frames.Rows {
		if f := &r.Frames.Rows[i]; f.Actual && f.Surface && !f.NoBuffer && of(int(f.PID)) {
			at := layer{f.PID, f.Layer}
			d := r.drawn(f, made)
			d.Place, d.First = int32(i), !seen[at]
			seen[at] = true
			out = append(out, d)
		}
	}
	return out
}

// layer is a process's layer, by name.
type layer struct {
	pid  int32
	name int32 // in Reader.Layers
}

func (r *Reader) drawn(f *Frame, made []making) Drawing {
	vsync, deadline, known := r.expectation(f)
	d := Drawing{Frame: jank.Frame{At: min(f.At, vsync), Took: jank.Unknown}}
	switch {
	case jank.Dropped(f.Jank, f.Present): // it ends when it is dropped
		d.End = Dropped
	case f.For < 0:
		d.End = Unended
	case f.Prediction == predictionExpired:
		d.End = Forgotten
		if at, known := before(made, f.Token); known && at < f.At {
			d.At, d.Took = at, f.At+f.For-at
		}
	default:
		end := f.At + f.For
		d.Took = end - d.At
		if known {
			d.Due, d.Over = true, end-deadline
		}
	}
	d.Janky = jank.OnTimeline(f.Jank, f.Present, d.Due && d.Over > 0)
	return d
}

func (t *Timeline) add(d Drawing, monotonic func(time.Duration) (time.Duration, bool)) {
	switch d.End {
	case Unended:
		t.Unended++
	case Dropped:
		t.Dropped++
	case Forgotten:
		t.Forgotten++
	}
	at, ok := monotonic(d.At)
	if !ok {
		t.Lost++
		return
	}
	drawn := d.Frame
	drawn.At = at
	t.Frames = append(t.Frames, drawn)
}

const predictionExpired = 2

// LateByDisplay reports whether the frame was shown late through the fault of the compositor or the
// display, rather than the app's.
func (f *Frame) LateByDisplay() bool { return jank.LateByDisplay(f.Jank, f.Present) }

// Stuffed reports whether the frame waited behind others of its app that were not shown yet.
func (f *Frame) Stuffed() bool { return f.Jank&jank.BufferStuffing != 0 }

// Undecided reports whether Android can't know if the frame was late.
func (f *Frame) Undecided() bool { return f.Jank&jank.ByApp == 0 && f.Jank&jank.UnknownJank != 0 }

// expectation returns the vsync that a frame was meant for, and its deadline. If the trace does not
// have them it returns the frame's beginning and false. Later versions of Android have an actual
// frame begin when the app did, which may be late.
func (r *Reader) expectation(f *Frame) (vsync, deadline time.Duration, known bool) {
	place, known := r.expected[token{f.PID, f.Token}]
	if !known || r.Frames.Rows[place].For < 0 {
		return f.At, 0, false
	}
	e := r.Frames.Rows[place]
	return e.At, e.At + e.For, true
}

// making is a token and the vsync that it was made for. The system numbers the vsyncs of all apps
// and its own in one sequence (TokenManager).
type making struct {
	token int64
	at    time.Duration
}

// made returns the tokens whose vsync is in the trace, in order.
func (r *Reader) made() []making {
	var out []making
	for i := range r.Frames.Rows {
		if f := &r.Frames.Rows[i]; !f.Actual {
			out = append(out, making{f.Token, f.At})
		}
	}
	slices.SortFunc(out, func(a, b making) int { return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.at, b.at)) })
	return out
}

// before returns the vsync of the last token made before one. In the trace, a frame whose own vsync
// was forgotten begins 2 ms before its end, however long it took
// (kPredictionExpiredStartTimeDelta).
func before(made []making, token int64) (time.Duration, bool) {
	i, _ := slices.BinarySearchFunc(made, token, func(m making, token int64) int { return cmp.Compare(m.token, token) })
	if i == 0 {
		return 0, false
	}
	return made[i-1].at, true
}

// leastPeriod is shorter than the time between two vsyncs of any display.
const leastPeriod = 2 * time.Millisecond

// interval returns the display's period at the highest rate at which frames were drawn: the 10th
// percentile of the time between two frames. It returns 0 if there are too few.
func interval(drawn []jank.Frame) time.Duration {
	var apart []time.Duration
	for i := 1; i < len(drawn); i++ {
		if d := drawn[i].At - drawn[i-1].At; d >= leastPeriod {
			apart = append(apart, d)
		}
	}
	const least = 10
	if len(apart) < least {
		return 0
	}
	slices.Sort(apart)
	return apart[len(apart)/10]
}
