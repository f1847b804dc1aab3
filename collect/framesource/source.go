package framesource

import (
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/trace/perfetto/shown"
)

// Source is what tells of frames. Those of one are never set beside those of another.
type Source int

// The sources.
const (
	Dumps    Source = iota // gfxinfo, which the app takes time for
	Timeline               // the compositor's frame timeline, of frames that bear a vsync's number
	Shown                  // the compositor's record of buffers, of whatever is drawn
)

// Recorded reports whether the frames are in what Perfetto records, so that nobody asks the
// app for them.
func (s Source) Recorded() bool { return s != Dumps }

// String is the source in words.
func (s Source) String() string {
	return [...]string{"dumps of gfxinfo", "the system's frame timeline", "the compositor's record of buffers"}[s]
}

// HasTimeline reports whether the device is of Android 12 or later, whose compositor
// tells Perfetto of each frame.
func HasTimeline(f target.Facts) bool { return f.API >= 31 }

// HasBuffers reports whether the device is of Android 11 or later, whose compositor tells
// Perfetto of each layer's buffers: FrameTracer came with that version.
func HasBuffers(f target.Facts) bool { return f.API >= 30 }

// Asker is by what name frames ask Perfetto.
const Asker = "frames"

// Ask is what frames need of Perfetto: what the compositor tells of each, and nothing of the
// kernel's.
func Ask(s Source) recorders.Ask {
	// A frame of an app's window takes some 300 bytes of the timeline, and the display's as
	// much (measured in a trace of 120 Hz). Of a buffer up to eight events are told, of some
	// 75 bytes each with the layer's name. Either is room for three windows at that rate.
	const bytesOfTimeline, bytesOfBuffers = 96 << 10, 256 << 10
	one := recorders.Source{Name: recorders.FrameTimeline, BufferKB: 8 << 10, BytesPerSecond: bytesOfTimeline, Tells: true}
	if s == Shown {
		one.Name, one.BytesPerSecond = shown.Source, bytesOfBuffers
	}
	return recorders.Ask{Who: Asker, Whole: true, Sources: func(recorders.Known) []recorders.Source { return []recorders.Source{one} }}
}
