package gfxinfo

import (
	"slices"

	"github.com/apkgate/apkgate/trace/jank"
)

// Metrics returns the metrics of the frames that count (Frame.Counted) under the catalogue's names.
// The display applies to frames that state no deadline.
func Metrics(frames []Frame, on jank.Display) map[string]float64 {
	var drawn []jank.Frame
	for _, f := range frames {
		if f.Counted() {
			drawn = append(drawn, f.Drawn(on))
		}
	}
	return jank.Metrics(drawn)
}

// Metrics returns the totals of a summary block, and if it has a histogram the slow and frozen
// frames and the mean, to the histogram's precision (1 ms up to 32 ms, 50 ms from 150 ms on).
func (s Stats) Metrics() map[string]float64 {
	out := map[string]float64{"frames.count": float64(s.Total)}
	if s.hasJanky {
		out["frames.janky"] = float64(s.Janky)
	}
	if len(s.Histogram) > 0 {
		slow, frozen := int64(0), int64(0)
		for _, b := range s.Histogram {
			if b.MS > jank.SlowLimit.Milliseconds() {
				slow += b.Count
			}
			if b.MS >= jank.FrozenLimit.Milliseconds() {
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
	for _, rank := range jank.Ranks {
		if ms, ok := s.Percentiles[rank]; ok {
			out[jank.PercentileName("frames.duration_ms", rank)] = ms
		}
	}
	return out
}

// percentile reads a percentile from a histogram as Android does (ProfileData::findPercentile): the
// label of the bin with the frame.
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

// sum adds up blocks. Percentiles are the stated ones if only one block has frames. For several
// they are read from the joined histogram, and left out if a block has none.
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
	for _, rank := range jank.Ranks {
		out.Percentiles[rank] = percentile(out.Histogram, rank)
	}
	return out
}
