// Package jank decides which frames are janky, and sums frames up as metrics.
//
// It has a rule for each source of frames: hwui's rows in a dump of gfxinfo (Row, Android 6 and
// later), Perfetto's frame timeline (OnTimeline, Android 12 and later), and buffers that the
// compositor showed (Shown, Android 11). It owns the names of the metrics of frames. It reads
// nothing: the readers, trace/gfxinfo, trace/perfetto/frames and trace/perfetto/shown, hand it
// times.
package jank

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Frame is one frame that counts.
type Frame struct {
	// At is the vsync that it was meant for, on CLOCK_MONOTONIC.
	At time.Duration
	// Took is from there to its end, Unknown where that is not told.
	Took time.Duration
	// Over is by how much it missed its deadline, below 0 where it met it; Due tells
	// whether it has one.
	Over time.Duration
	Due  bool
	// Janky says that it was late, and by the app's fault.
	Janky bool
	// Interval is the display's period when it was drawn, 0 where not told.
	Interval time.Duration
	// First says that it is the first of a window, which is drawn by apps too that draw
	// all else themselves.
	First bool
}

// Unknown is the time of a frame that is not told.
const Unknown time.Duration = -1

// FrozenLimit is the duration above which a frame is called frozen.
const FrozenLimit = 700 * time.Millisecond

// SlowLimit is the duration above which a frame is called slow, whatever the
// display's rate: a period of one of 60 Hz.
const SlowLimit = time.Second / 60

// Metrics sums up frames under the catalogue's names: counts, the smooth ratio
// (paper, section 5.1), mean and percentiles of the duration in milliseconds, and of
// the time beyond the deadline, with how many missed it, where frames have one. Without frames there are the
// counts alone, all 0.
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

// spread adds the mean and the percentiles of what some frames took, in ms.
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

// PercentileName is the name of a percentile of a metric.
func PercentileName(name string, rank int) string { return name + ".p" + strconv.Itoa(rank) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// quantile interpolates between the order statistics (type 7 of Hyndman and
// Fan, "Sample quantiles in statistical packages", 1996). sorted is not empty.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(math.Floor(at))
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
