// Package jank decides which frames are janky, and computes the metrics of frames.
//
// It has a rule for each source of frames: hwui's rows in a dump of gfxinfo (Row, Android 6 and
// later), Perfetto's frame timeline (OnTimeline, Android 12 and later), and buffers that the
// compositor showed (Shown, Android 11). It owns the names of the metrics of frames. It reads
// nothing: the readers trace/gfxinfo, trace/perfetto/frames and trace/perfetto/shown pass it times.
package jank

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Frame is one frame that counts.
type Frame struct {
	// At is the vsync that the frame was meant for, on CLOCK_MONOTONIC.
	At time.Duration
	// Took is the time from At to the frame's end, Unknown if the source does not report it.
	Took time.Duration
	// Over is how far the frame missed its deadline, negative if it met it; Due is set if it has a
	// deadline.
	Over time.Duration
	Due  bool
	// Janky is set if the frame was late through the app's fault.
	Janky bool
	// Interval is the display's period when the frame was drawn, 0 if unknown.
	Interval time.Duration
	// First marks the first frame of a window, which even apps with a renderer of their own draw.
	First bool
}

// Unknown is the duration of a frame whose source does not report it.
const Unknown time.Duration = -1

// FrozenLimit is the duration above which a frame counts as frozen.
const FrozenLimit = 700 * time.Millisecond

// SlowLimit is the duration above which a frame counts as slow at any display rate: the period at
// 60 Hz.
const SlowLimit = time.Second / 60

// Metrics returns the metrics of frames under the catalogue's names: counts, the smooth ratio
// (paper, section 5.1), the mean and percentiles of the duration in milliseconds, and for frames
// with a deadline the overrun and how many missed it. Without frames it returns the counts alone,
// all 0.
func Metrics(frames []Frame) map[string]float64 {
	var durations, overruns []float64
	janky, slow, late, frozen := 0, 0, 0, 0
	for _, f := range frames {
		if f.Took != Unknown {
			durations = append(durations, ms(f.Took))
		}
		if f.Due {
			overruns = append(overruns, ms(f.Over))
			late += count(f.Over > 0)
		}
		janky += count(f.Janky)
		slow += count(f.Took > SlowLimit)
		frozen += count(f.Took > FrozenLimit)
	}
	n := float64(len(frames))
	out := map[string]float64{
		"frames.count": n, "frames.janky": float64(janky),
		"frames.slow": float64(slow), "frames.frozen": float64(frozen),
	}
	if n > 0 {
		out["frames.smooth_ratio"] = 1 - float64(janky)/n
	}
	if len(overruns) > 0 {
		out["frames.late"] = float64(late)
	}
	spread(out, "frames.duration_ms", durations)
	spread(out, "frames.overrun_ms", overruns)
	return out
}

// spread adds the mean and the percentiles of durations in ms.
func spread(out map[string]float64, name string, ms []float64) {
	if len(ms) == 0 {
		return
	}
	sum := 0.0
	for _, one := range ms {
		sum += one
	}
	out[name] = sum / float64(len(ms))
	slices.Sort(ms)
	for _, rank := range Ranks {
		out[PercentileName(name, rank)] = quantile(ms, float64(rank)/100)
	}
}

// Ranks are the percentiles of the catalogue.
var Ranks = []int{50, 90, 95, 99}

// PercentileName returns the name of a metric's percentile.
func PercentileName(name string, rank int) string { return name + ".p" + strconv.Itoa(rank) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// quantile interpolates between the order statistics (type 7 of Hyndman and Fan, "Sample quantiles
// in statistical packages", 1996). sorted must not be empty.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(math.Floor(at))
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
