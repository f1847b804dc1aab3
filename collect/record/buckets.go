package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/jank"
)

// maxKeptFrames bounds the frames that a record keeps for pictures.
const maxKeptFrames = 20_000

// FramesBy is the value of the context's property metric.FramesBy for what told of frames.
func FramesBy(by framesource.Source) string {
	return [...]string{framesource.Dumps: metric.ByGfxinfo, framesource.Timeline: metric.ByTimeline, framesource.Shown: metric.ByShown}[by]
}

// ShortestInterval is the shortest time between two vsyncs that any frame was drawn for, where
// their rows tell it (Android 12 and later); 0 where none does. What the display told before
// the workload is the rate of a screen on which nothing moves, 60 Hz on many a phone of 120 Hz.
func ShortestInterval(measured []Measurement) (least time.Duration) {
	for _, m := range measured {
		for _, f := range m.Frames {
			if f.Interval > 0 && (least == 0 || f.Interval < least) {
				least = f.Interval
			}
		}
	}
	return least
}

// drawn sums frames up; nothing where nobody looked at them.
func (m Measurement) drawn(drawn []jank.Frame) map[string]float64 {
	if m.Unseen {
		return map[string]float64{}
	}
	out := jank.Metrics(drawn)
	if m.By == framesource.Shown { // a pause can't be told from an app that stood still (shown.Still)
		delete(out, "frames.frozen")
	}
	return out
}

// bucketEvents is how many UI events get a bucket.
func (m Measurement) bucketEvents() int { return min(len(m.Events), run.MaxEvents-1) }

// bucketOf is the bucket of a frame that was due at this time: that of the last
// event before it.
func (m Measurement) bucketOf(at time.Duration) int {
	lo, hi := 0, m.bucketEvents()
	for lo < hi {
		mid := (lo + hi) / 2
		if m.Events[mid].Time <= at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// picture lists the frames whose time is told, in the order in which they were drawn.
func (m Measurement) picture() []run.Frame {
	drawn := slices.Clone(m.Frames)
	slices.SortStableFunc(drawn, func(a, b jank.Frame) int { return cmp.Compare(a.At, b.At) })
	var out []run.Frame
	for _, f := range drawn {
		if f.Took != jank.Unknown && len(out) < maxKeptFrames {
			out = append(out, run.Frame{DurationMS: milliseconds(f.Took), Bucket: m.bucketOf(f.At)})
		}
	}
	return out
}
