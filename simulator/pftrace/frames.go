package pftrace

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// Fields of the frame timeline, as set by SurfaceFlinger
// (services/surfaceflinger/FrameTimeline/FrameTimeline.cpp).
const (
	packetFrameTimeline = 76
	packetClock         = 58

	expectedDisplay = 1
	actualDisplay   = 2
	expectedSurface = 3
	actualSurface   = 4
	frameEnd        = 5

	validPrediction   = 1
	jankNone          = 1
	surfaceFlingerPID = 512
	sequenceFlinger   = 3
)

// Frames writes the frames that SurfaceFlinger reports in a time: a display frame once its
// successor is under way, with the apps' frames in it. ahead is the offset of CLOCK_BOOTTIME
// from the timeline.
func (w *Writer) Frames(t *timeline.Timeline, during timeline.Interval, ahead time.Duration) {
	v := frames{w: w, ahead: ahead}
	for i := range t.Displays {
		d := &t.Displays[i]
		if d.Traced <= during.From || d.Traced > during.To {
			continue
		}
		v.display(d)
		for _, s := range d.Shows {
			if s.Layer.Own { // it has no vsync id (FrameTimeline::createSurfaceFrameForToken)
				continue
			}
			v.surface(s.Layer, s.Of())
		}
	}
}

// frames writes events, with a cookie for each frame.
type frames struct {
	w      *Writer
	ahead  time.Duration
	cookie uint64
}

func (v *frames) display(d *timeline.DisplayFrame) {
	about := func() []byte {
		return number(number(number(nil, 1, v.cookie), 2, uint64(d.Token)), 3, surfaceFlingerPID)
	}
	v.event(expectedDisplay, d.Expected, about)
	v.event(actualDisplay, d.Actual, func() []byte {
		return quality(about(), 4, d.Present, d.OnTime, d.GPU, d.Jank)
	})
}

func (v *frames) surface(l *timeline.Layer, f *timeline.Frame) {
	about := func() []byte {
		b := number(number(number(nil, 1, v.cookie), 2, uint64(f.Token)), 3, uint64(f.Display))
		return message(number(b, 4, uint64(l.PID)), 5, fmt.Appendf(nil, "TX - %s#%d", l.Title, l.ID))
	}
	v.event(expectedSurface, f.Expected, about)
	v.event(actualSurface, f.Actual, func() []byte {
		const isBuffer = 11
		return number(quality(about(), 6, f.Present, f.OnTime, false, f.Jank), isBuffer, 1)
	})
}

// quality encodes how a frame was presented, starting with a field.
func quality(b []byte, field protowire.Number, p timeline.PresentType, onTime, gpu bool, jank timeline.Jank) []byte {
	b = number(b, field, uint64(p))
	b = number(b, field+1, protowire.EncodeBool(onTime))
	b = number(b, field+2, protowire.EncodeBool(gpu))
	b = number(b, field+3, uint64(max(jank, jankNone)))
	return number(b, field+4, validPrediction)
}

// event writes the beginning and the end of one frame.
func (v *frames) event(kind protowire.Number, in timeline.Interval, body func() []byte) {
	v.cookie++
	v.packet(in.From, message(nil, kind, body()))
	v.packet(in.To, message(nil, frameEnd, number(nil, 1, v.cookie)))
}

func (v *frames) packet(at time.Duration, event []byte) {
	v.w.packetOn(sequenceFlinger, at+v.ahead, clockBoottime, 0, packetFrameTimeline, event)
}
