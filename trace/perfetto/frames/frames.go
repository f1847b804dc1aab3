// Package frames reads Android's frame timeline from a Perfetto trace: when each frame of an app
// and of the compositor was expected, when it came, and why it was late.
//
// Frames are paired and their jank is named as in Perfetto's own trace processor
// (importers/proto/frame_timeline_event_parser.cc), so that its tables can be compared with these.
// ReadTimeline decides which of them an app drew, and package jank which were too late.
//
// Format: FrameTimelineEvent in frameworks_native_trace_packet.proto of google/perfetto.
package frames

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
)

// Limits of what is kept.
const (
	MaxRows   = 1_000_000 // frames, if their list does not spill
	maxOpen   = 400_000   // frames whose ends are awaited, or that wait to be shown
	maxLayers = 100_000   // names of layers
)

// Frame is one frame of an app's layer, or of the display.
type Frame struct {
	At       time.Duration
	For      time.Duration // negative if it did not end in the trace
	Actual   bool          // otherwise expected
	PID      int32
	Token    int64
	Display  int64 // the token of the display's frame that shows it
	Surface  bool  // of an app's layer, otherwise of the display
	HasLayer bool
	Layer    int32 // in Reader.Layers

	// The following fields are of actual frames only.
	Jank        jank.Type
	Present     jank.Present
	Prediction  int32
	Severity    int32 // None if unknown
	OnTime, GPU bool
	// NoBuffer is set if nothing was drawn: a layer was moved, say.
	NoBuffer bool
}

// None stands for an unknown value.
const None = -1

// Reader reads frames.
type Reader struct {
	Frames spill.List[Frame]
	// Layers are names of layers, the first is "".
	Layers []string
	// Again counts frames that may have been expected before: the list spills, and the expectation
	// of such an early token is no longer known.
	Again int
	// Malformed counts events without a required number, Unpaired the ends of frames whose
	// beginning is not in the trace.
	Malformed, Unpaired int
	// Gaps counts gaps in the packets of the frame timeline.
	Gaps int

	display  bool // some actual frame is the display's
	file     *packets.File
	writers  map[*packets.Sequence]bool // those that wrote frames
	open     map[int64]int32            // by cookie, the index in Frames, None for one that is not listed
	expected map[token]int32            // the index in Frames
	before   map[token]int32            // likewise, of earlier tokens, if the list spills
	gone     int64                      // the last token whose expectation is no longer known
	layers   map[string]int32

	early   bool // times are only known at the end
	machine uint32
	stamps  []stamps // of frames, if times are only known at the end
}

// stamps are the times at which a frame began and ended.
type stamps struct {
	begin, end           int64 // ns
	beginClock, endClock int32 // as in packets.Stamp
}

type token struct {
	pid   int32
	token int64
}

// New returns a reader of a file.
func New(file *packets.File) *Reader {
	return &Reader{
		file: file, open: map[int64]int32{}, writers: map[*packets.Sequence]bool{}, expected: map[token]int32{}, gone: math.MinInt64,
		layers: map[string]int32{"": 0}, Layers: []string{""},
	}
}

// NewEarly returns a reader for the first pass over a file: its frames have times after Resolve.
func NewEarly(file *packets.File) *Reader {
	r := New(file)
	r.early, r.machine = true, math.MaxUint32
	return r
}

// Resolve converts all times to the file's own clock, which is known now. Times that can't be
// converted are left out.
func (r *Reader) Resolve() {
	kept := r.Frames.Rows[:0]
	clear(r.expected)
	for i, f := range r.Frames.Rows {
		at, ok := r.file.Time(packets.Stamp{Clock: r.stamps[i].beginClock, NS: r.stamps[i].begin})
		if !ok || at < 0 || r.machine != r.file.Home {
			continue
		}
		f.At, f.For = at, -1
		if end := (packets.Stamp{Clock: r.stamps[i].endClock, NS: r.stamps[i].end}); end != packets.NoStamp {
			if to, ok := r.file.Time(end); ok && to >= 0 {
				f.For = to - at
			}
		}
		if f.Surface && !f.Actual {
			r.expected[token{f.PID, f.Token}] = int32(len(kept))
		}
		kept = append(kept, f)
	}
	r.Frames.Rows, r.stamps, r.open, r.early = kept, nil, nil, false
}

// fits reports whether a packet of the first pass is of the machine that the trace is of, as far as
// is known. A packet of a lower number replaces those before it.
func (r *Reader) fits(p packets.Packet) bool {
	if p.At == packets.NoStamp || p.Machine > r.machine {
		return false
	}
	if p.Machine < r.machine {
		writers := r.writers
		*r = *NewEarly(r.file)
		r.machine, r.writers = p.Machine, writers
	}
	return true
}

// Wants returns events of the frame timeline.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketFrameTimelineEvent}}
}

// Packet reads a FrameTimelineEvent.
func (r *Reader) Packet(p packets.Packet) {
	if p.AfterGap() && r.writers[p.Seq] { // a sequence's first packet always has a gap
		r.Gaps++
	}
	r.writers[p.Seq] = true
	at := time.Duration(0)
	if r.early {
		if !r.fits(p) {
			return
		}
	} else {
		var ok bool
		if at, ok = r.file.Time(p.At); !ok || at < 0 || p.Machine != r.file.Home {
			return
		}
	}
	f := messages.FrameOf(p.Data)
	for _, one := range []struct {
		message         []byte
		actual, surface bool
	}{
		{f.ExpectedDisplayFrameStart, false, false}, {f.ActualDisplayFrameStart, true, false},
		{f.ExpectedSurfaceFrameStart, false, true}, {f.ActualSurfaceFrameStart, true, true},
	} {
		if one.message != nil {
			r.begin(at, p.At, one.message, one.actual, one.surface)
		}
	}
	if f.FrameEnd != nil {
		r.end(at, p.At, f.FrameEnd)
	}
}

func (r *Reader) begin(at time.Duration, stamp packets.Stamp, message []byte, actual, surface bool) {
	frame := Frame{At: at, For: -1, Actual: actual, Surface: surface, Severity: None}
	cookie, layer, whole := frame.read(message)
	if !whole {
		r.Malformed++
		return
	}
	if !r.file.Room("frames", r.Frames.Len(), r.Frames.Most(MaxRows)) {
		return
	}
	r.display = r.display || actual && !surface
	key := token{frame.PID, frame.Token}
	listed := !surface || actual || !r.expects(key) // the expectation of a token is the same for all its frames
	place := int32(None)
	if listed {
		frame.Layer = r.layer(layer)
		place = r.Frames.Add(frame)
		if r.early {
			r.stamps = append(r.stamps, stamps{begin: stamp.NS, beginClock: stamp.Clock, endClock: packets.NoStamp.Clock})
		}
		if surface && !actual {
			r.expected[key] = place
		}
	}
	if _, again := r.open[cookie]; again || r.file.Room("frames whose ends are awaited", len(r.open), maxOpen) {
		r.open[cookie] = place
	}
}

// expects reports whether the expectation of a token is known. If the list spills, as many tokens
// as it has rows in memory are known, and as many before these.
func (r *Reader) expects(key token) bool {
	if _, known := r.expected[key]; known {
		return true
	}
	if _, known := r.before[key]; known {
		return true
	}
	if len(r.expected) >= r.Frames.Held(MaxRows) {
		for old := range r.before {
			r.gone = max(r.gone, old.token)
		}
		r.before, r.expected = r.expected, map[token]int32{}
	}
	if key.token <= r.gone {
		r.Again++
	}
	return false
}

// layer returns the index of a layer's name, that of "" if there are too many.
func (r *Reader) layer(name string) int32 {
	one, known := r.layers[name]
	if !known && r.file.Room("names of layers", len(r.Layers)-1, maxLayers) {
		one = int32(len(r.Layers))
		r.layers[name] = one
		r.Layers = append(r.Layers, name)
	}
	return one
}

func (r *Reader) end(at time.Duration, stamp packets.Stamp, message []byte) {
	m := messages.FrameEndOf(message)
	place, known := r.open[m.Cookie]
	switch {
	case !m.HasCookie:
		r.Malformed++
		return
	case !known:
		r.Unpaired++
	case place != None && r.early:
		r.stamps[place].end, r.stamps[place].endClock = stamp.NS, stamp.Clock
	case place != None:
		r.Frames.Edit(place, func(f *Frame) { f.For = at - f.At })
	}
	delete(r.open, m.Cookie)
}

// read reads the message of a frame and returns its cookie and its layer's name. A frame of the
// display has no token of another one and no layer. An expected frame has the same fields as an
// actual one, as far as they apply.
func (f *Frame) read(message []byte) (cookie int64, layer string, whole bool) {
	if !f.Surface {
		m := messages.ActualDisplayOf(message)
		f.Token, f.Display, f.PID, f.Present, f.OnTime, f.GPU = m.Token, m.Token, m.PID, jank.Present(m.PresentType), m.OnTimeFinish, m.GPUComposition
		f.Jank, f.Prediction = jank.Type(m.JankType), m.PredictionType
		if m.HasJankSeverityType {
			f.Severity = m.JankSeverityType
		}
		return m.Cookie, "", m.HasCookie && m.HasToken && m.HasPID
	}
	m := messages.ActualSurfaceOf(message)
	f.Token, f.Display, f.PID, f.Present, f.OnTime, f.GPU = m.Token, m.DisplayFrameToken, m.PID, jank.Present(m.PresentType), m.OnTimeFinish, m.GPUComposition
	f.Jank, f.Prediction, f.NoBuffer, f.HasLayer = jank.Type(m.JankType), m.PredictionType, m.HasIsBuffer && !m.IsBuffer, m.LayerName != nil
	if m.HasJankSeverityType {
		f.Severity = m.JankSeverityType
	}
	return m.Cookie, packets.Name(m.LayerName), m.HasCookie && m.HasToken && m.HasDisplayFrameToken && m.HasPID
}
