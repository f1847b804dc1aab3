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

// maxKeptFrames limits the frames that a record keeps for pictures.
const maxKeptFrames = 20_000

// FramesBy returns the value of the context's property metric.FramesBy for a source of frames.
func FramesBy(by framesource.Source) string {
	return [...]string{framesource.Dumps: metric.ByGfxinfo, framesource.Timeline: metric.ByTimeline, framesource.Shown: metric.ByShown}[by]
}

// ShortestInterval returns the shortest time between two vsyncs that any frame was drawn for, if
// their rows have it (Android 12 and later); 0 if none does. The display's rate before the workload
// is that of a still screen, 60 Hz on many a 120 Hz phone.
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

// drawn sums up frames; nil if nothing looked at them.
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

// bucketEvents returns how many UI events get a bucket.
func (m Measurement) bucketEvents() int { return min(len(m.Events), run.MaxEvents-1) }

// bucketOf returns the bucket of a frame that was due at this time: that of the last event before
// it.
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

// picture returns the frames whose time is known, in the order in which they were drawn.
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
