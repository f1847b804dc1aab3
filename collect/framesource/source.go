package framesource

import (
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/trace/perfetto/shown"
)

// Source is a source of frames. Frames of different sources are never compared.
type Source int

// The sources.
const (
	Dumps    Source = iota // gfxinfo, which costs the app time
	Timeline               // the compositor's frame timeline, of frames with a vsync number
	Shown                  // the compositor's record of buffers, of everything that is drawn
)

// Recorded reports whether the frames are in what Perfetto records, so that the app is not queried
// for them.
func (s Source) Recorded() bool { return s != Dumps }

// String returns the source's name.
func (s Source) String() string {
	return [...]string{"dumps of gfxinfo", "the system's frame timeline", "the compositor's record of buffers"}[s]
}

// HasTimeline reports whether the device has Android 12 or later, whose compositor reports each
// frame to Perfetto.
func HasTimeline(f target.Facts) bool { return f.API >= 31 }

// HasBuffers reports whether the device has Android 11 or later, whose compositor reports each
// layer's buffers to Perfetto: FrameTracer came with that version.
func HasBuffers(f target.Facts) bool { return f.API >= 30 }

// Asker is the name of the frames' requests to Perfetto.
const Asker = "frames"

// Request returns what frames need from Perfetto: the compositor's events on each, and nothing of
// the kernel's.
func Request(s Source) recorders.Request {
	// A frame of an app's window takes some 300 bytes of the timeline, and the display's as much
	// (measured in a trace of 120 Hz). A buffer has up to eight events of some 75 bytes each with
	// the layer's name. Either has room for three windows at that rate.
	const bytesOfTimeline, bytesOfBuffers = 96 << 10, 256 << 10
	one := recorders.Source{Name: recorders.FrameTimeline, BufferKB: 8 << 10, BytesPerSecond: bytesOfTimeline, DetectsLoss: true}
	if s == Shown {
		one.Name, one.BytesPerSecond = shown.Source, bytesOfBuffers
	}
	return recorders.Request{Who: Asker, Complete: true, Sources: func(recorders.Capabilities) []recorders.Source { return []recorders.Source{one} }}
}
