package gfxinfo

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Metrics sums up frames under the catalogue's names: counts, the smooth ratio
// (paper, section 5.1), mean and percentiles of the duration in milliseconds, and of
// the time beyond the deadline where frames state one (Frame.Overrun).
// Only frames that count are taken (Frame.Counted). The display is that of
// frames that state no deadline. Without frames there are the counts alone, all 0.
func Metrics(frames []Frame, on Display) map[string]float64 {
	var durations, overruns []float64
	janky, slow, frozen, sum := 0, 0, 0, 0.0
	for _, f := range frames {
		if !f.Counted() {
			continue
		}
		d := f.Duration()
		durations = append(durations, ms(d))
		sum += ms(d)
		if over, stated := f.Overrun(); stated {
			overruns = append(overruns, ms(over))
		}
		janky += count(f.Janky(on))
		slow += count(d > SlowLimit)
		frozen += count(d > FrozenLimit)
	}
	n := float64(len(durations))
	out := map[string]float64{
		"frames.count": n, "frames.janky": float64(janky),
		"frames.slow": float64(slow), "frames.frozen": float64(frozen),
	}
	if n == 0 {
		return out
	}
	out["frames.smooth_ratio"] = 1 - float64(janky)/n
	out["frames.duration_ms"] = sum / n
	spread(out, "frames.duration_ms", durations)
	if len(overruns) > 0 {
		sum := 0.0
		for _, over := range overruns {
			sum += over
		}
		out["frames.overrun_ms"] = sum / float64(len(overruns))
		spread(out, "frames.overrun_ms", overruns)
	}
	return out
}

// spread adds the percentiles of what some frames took, in ms.
func spread(out map[string]float64, name string, ms []float64) {
	slices.Sort(ms)
	for _, rank := range ranks {
		out[percentileName(name, rank)] = quantile(ms, float64(rank)/100)
	}
}

// ranks are the percentiles of the catalogue.
var ranks = []int{50, 90, 95, 99}

func percentileName(name string, rank int) string { return name + ".p" + strconv.Itoa(rank) }

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

// Metrics sums up what a summary block states, and what its histogram tells
// where it has one: slow and frozen frames and the mean, to the histogram's
// precision (1 ms up to 32 ms, 50 ms from 150 ms on).
func (s Stats) Metrics() map[string]float64 {
	out := map[string]float64{"frames.count": float64(s.Total)}
	if s.hasJanky {
		out["frames.janky"] = float64(s.Janky)
	}
	if len(s.Histogram) > 0 {
		slow, frozen := int64(0), int64(0)
		for _, b := range s.Histogram {
			if b.MS > SlowLimit.Milliseconds() {
				slow += b.Count
			}
			if b.MS >= FrozenLimit.Milliseconds() {
				frozen += b.Count
			}
		}
		out["frames.slow"], out["frames.frozen"] = float64(slow), float64(frozen)
	}
	if s.Total == 0 {
		return out
	}
	if s.hasJanky {
		out["frames.smooth_ratio"] = 1 - float64(s.Janky)/float64(s.Total)
	}
	if n := frames(s.Histogram); n > 0 {
		sum := 0.0
		for _, b := range s.Histogram {
			sum += float64(b.MS) * float64(b.Count)
		}
		out["frames.duration_ms"] = sum / float64(n)
	}
	for _, rank := range ranks {
		if ms, ok := s.Percentiles[rank]; ok {
			out[percentileName("frames.duration_ms", rank)] = ms
		}
	}
	return out
}

// percentile reads a percentile off a histogram as Android does
// (ProfileData::findPercentile): the label of the bin that holds the frame.
func percentile(bins []Bin, rank int) float64 {
	total := frames(bins)
	remaining := total - int64(rank)*total/100
	for i := len(bins) - 1; i >= 0; i-- {
		if remaining -= bins[i].Count; remaining <= 0 {
			return float64(bins[i].MS)
		}
	}
	return 0
}

// sum adds blocks up. Percentiles are those stated where one block alone has
// frames; of several they are read off the joined histogram, and left out
// where a block has none.
func sum(blocks []Stats) Stats {
	var busy []Stats
	for _, b := range blocks {
		if b.Total > 0 {
			busy = append(busy, b)
		}
	}
	if len(busy) == 1 {
		return busy[0]
	}
	out := Stats{hasTotal: true, hasJanky: true}
	whole := len(busy) > 0
	bins := map[int64]int64{}
	for _, b := range busy {
		out.Total += b.Total
		out.Janky += b.Janky
		out.hasJanky = out.hasJanky && b.hasJanky
		whole = whole && len(b.Histogram) > 0
		for _, bin := range b.Histogram {
			bins[bin.MS] += bin.Count
		}
	}
	if !whole {
		return out
	}
	for ms, n := range bins {
		out.Histogram = append(out.Histogram, Bin{ms, n})
	}
	slices.SortFunc(out.Histogram, func(a, b Bin) int { return int(a.MS - b.MS) })
	out.Percentiles = map[int]float64{}
	for _, rank := range ranks {
		out.Percentiles[rank] = percentile(out.Histogram, rank)
	}
	return out
}
