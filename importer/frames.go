package importer

import (
	"math"
	"slices"
)

// The limits of a frame's time in milliseconds: one refresh of a 60 Hz display, and a frozen frame
// of Android vitals.
const (
	refreshMS = 1000.0 / 60
	frozenMS  = 700
)

// frames are the frames of one repetition in the order of the file.
type frames struct {
	cpuMS []float64
	// overrunMS is by how much each missed its deadline (below 0: met). It is nil where the file
	// has none (before Android 12).
	overrunMS []float64
}

func (f frames) append(g frames) frames {
	return frames{append(f.cpuMS, g.cpuMS...), append(f.overrunMS, g.overrunMS...)}
}

// metrics summarizes the frames under the catalogue's names.
//
// The time is that of the UI thread and the RenderThread for the frame: less than the whole frame,
// as it lacks what happens before Choreographer#doFrame and on the GPU. A frame is janky where it
// overran its deadline; where the file has no deadlines, where its CPU time alone exceeds one
// refresh at 60 Hz, which misses janks with other causes.
func (f frames) metrics() map[string]float64 {
	n := float64(len(f.cpuMS))
	slow := countAbove(f.cpuMS, refreshMS)
	janky := slow
	if f.overrunMS != nil {
		janky = countAbove(f.overrunMS, 0)
	}
	out := map[string]float64{
		"frames.count":        n,
		"frames.janky":        janky,
		"frames.slow":         slow,
		"frames.frozen":       countAbove(f.cpuMS, frozenMS),
		"frames.smooth_ratio": 1 - janky/n,
	}
	addSamples(out, "frames.duration_ms", f.cpuMS)
	return out
}

// addSamples adds the mean of samples as name and their percentiles as name.p50, .p90, .p95 and
// .p99. Without samples it adds nothing.
func addSamples(out map[string]float64, name string, samples []float64) {
	if len(samples) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(samples))
	out[name] = mean(samples)
	for suffix, p := range percentiles {
		out[name+suffix] = percentile(sorted, p)
	}
}

var percentiles = map[string]float64{".p50": 0.50, ".p90": 0.90, ".p95": 0.95, ".p99": 0.99}

// percentile interpolates between the two nearest of the sorted samples at position p(n-1), as
// androidx.benchmark does (MetricResult.getPercentile), so that the numbers agree with those in its
// files.
func percentile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := math.Floor(at)
	a, b := sorted[int(low)], sorted[int(math.Ceil(at))]
	return a + (b-a)*(at-low)
}

// mean divides before it adds, so that no sum of finite samples overflows.
func mean(samples []float64) float64 {
	n, sum := float64(len(samples)), 0.0
	for _, v := range samples {
		sum += v / n
	}
	return sum
}

func countAbove(values []float64, limit float64) float64 {
	n := 0.0
	for _, v := range values {
		if v > limit {
			n++
		}
	}
	return n
}
