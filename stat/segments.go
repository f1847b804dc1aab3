package stat

import (
	"math"
	"slices"
)

// Segment is a stretch of a series that stays at one level, or moves steadily.
type Segment struct {
	From, To int     // its values are those of the indexes [From, To)
	Start    float64 // the fitted value at the first of them
	End      float64 // and at the last one; equal to Start at a constant level
}

// Sloped reports whether the stretch moves.
func (s Segment) Sloped() bool { return s.Start != s.End }

// Segmentation is what a series may be split into, and at which cost.
type Segmentation struct {
	// Change is what each change point costs, and Slope what a moving stretch costs in addition:
	// sums of squares in variances of the noise that it has to explain at least.
	Change, Slope float64
	// Least is the least number of values of a level, and LeastSloped that of a moving stretch.
	Least, LeastSloped int
}

// Segments splits a series in the order of time into constant levels and steadily moving stretches,
// so that the weighted sum of squares about them, in variances sd² of the noise, plus the costs is
// least. The best split of all is found, by optimal partitioning (Jackson et al. 2005) with a
// choice of two models for each stretch: a slow rise would otherwise be a staircase. sd must be
// above zero. A series of fewer than Least values is one level.
func Segments(times, values, weights []float64, sd float64, s Segmentation) []Segment {
	n := len(values)
	if n == 0 {
		return nil
	}
	f := newFit(times, values, weights, sd)
	if n < 2*s.Least {
		return []Segment{f.segment(0, n, false)}
	}
	best, from, sloped := make([]float64, n+1), make([]int, n+1), make([]bool, n+1)
	best[0] = -s.Change
	for to := 1; to <= n; to++ {
		best[to] = math.Inf(1)
		for at := 0; at <= to-s.Least; at++ {
			level, line := f.costs(at, to)
			isLine := to-at >= s.LeastSloped && line+s.Slope < level
			if isLine {
				level = line + s.Slope
			}
			if cost := best[at] + s.Change + level; cost < best[to] {
				best[to], from[to], sloped[to] = cost, at, isLine
			}
		}
	}
	var out []Segment
	for to := n; to > 0; to = from[to] {
		out = append(out, f.segment(from[to], to, sloped[to]))
	}
	slices.Reverse(out)
	return out
}

// Joined returns the segments without those changes of level that are less than least: their
// neighbours become one level, smallest change first. A stretch that moves by less is constant.
func Joined(segments []Segment, times, values, weights []float64, least float64) []Segment {
	f := newFit(times, values, weights, 1)
	out := slices.Clone(segments)
	for i, s := range out {
		if s.Sloped() && math.Abs(s.End-s.Start) < least {
			out[i] = f.segment(s.From, s.To, false)
		}
	}
	for {
		at, smallest := 0, least
		for i := 1; i < len(out); i++ {
			if jump := math.Abs(out[i].Start - out[i-1].End); !out[i].Sloped() && !out[i-1].Sloped() && jump < smallest {
				at, smallest = i, jump
			}
		}
		if at == 0 {
			return out
		}
		out[at-1] = f.segment(out[at-1].From, out[at].To, false)
		out = slices.Delete(out, at, at+1)
	}
}

// fit has the sums of a series up to each index, so that the fit of any stretch takes no time.
type fit struct {
	times, values       []float64
	w, x, y, xx, xy, yy []float64
	variance            float64
}

func newFit(times, values, weights []float64, sd float64) *fit {
	n := len(values) + 1
	f := &fit{times: times, values: values, variance: sd * sd}
	f.w, f.x, f.y, f.xx, f.xy, f.yy = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, y := range values {
		x, w := times[i]-times[0], weights[i]
		y -= values[0] // near zero, so that differences of sums stay exact
		f.w[i+1], f.x[i+1], f.y[i+1] = f.w[i]+w, f.x[i]+w*x, f.y[i]+w*y
		f.xx[i+1], f.xy[i+1], f.yy[i+1] = f.xx[i]+w*x*x, f.xy[i]+w*x*y, f.yy[i]+w*y*y
	}
	return f
}

// sums returns weight, means, and sums of squares about them of a stretch.
func (f *fit) sums(from, to int) (w, x, y, xx, xy, yy float64) {
	w = f.w[to] - f.w[from]
	x, y = (f.x[to]-f.x[from])/w, (f.y[to]-f.y[from])/w
	xx = f.xx[to] - f.xx[from] - w*x*x
	xy = f.xy[to] - f.xy[from] - w*x*y
	yy = f.yy[to] - f.yy[from] - w*y*y
	return w, x, y, xx, xy, yy
}

// costs returns the sums of squares about the level and about the line of a stretch, in variances.
func (f *fit) costs(from, to int) (level, line float64) {
	_, _, _, xx, xy, yy := f.sums(from, to)
	level, line = max(0, yy), max(0, yy)
	if xx > 0 {
		line = max(0, yy-xy*xy/xx)
	}
	return level / f.variance, line / f.variance
}

func (f *fit) segment(from, to int, sloped bool) Segment {
	_, x, y, xx, xy, _ := f.sums(from, to)
	s := Segment{From: from, To: to, Start: y + f.values[0], End: y + f.values[0]}
	if sloped && xx > 0 {
		slope := xy / xx
		s.Start += slope * (f.times[from] - f.times[0] - x)
		s.End += slope * (f.times[to-1] - f.times[0] - x)
	}
	return s
}

// StepNoise returns the standard deviation of a series' values about levels that change rarely: by
// the differences of neighbours, and of values two and three apart, of which the largest counts,
// since neighbouring values may follow each other. 0 for fewer than three values.
func StepNoise(values []float64) float64 {
	most := 0.0
	for lag := 1; lag <= 3 && lag < len(values)-1; lag++ {
		apart := make([]float64, len(values)-lag)
		for i := range apart {
			apart[i] = values[i+lag] - values[i]
		}
		most = max(most, RobustSD(apart)/math.Sqrt2)
	}
	return most
}

// Winsorized returns the values with those that lie more than reach off the median of the width values
// around them moved to that distance: wild values hide no level, and levels keep their edges.
func Winsorized(values []float64, width int, reach float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		middle := Median(values[max(0, i-width/2):min(len(values), i+width/2+1)])
		out[i] = min(max(v, middle-reach), middle+reach)
	}
	return out
}
