package rounds

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// Paired is a metric in rounds of two builds, with the values of both in pairs.
//
// It is tested by Wilcoxon's signed ranks: by chance alone the difference within a round is as
// likely to have one sign as the other, whatever the device's scale, and frame times have heavy
// tails that must not decide.
type Paired struct {
	Base, Head             float64 // the median of each build's values, in the metric's unit
	metric                 metric.Metric
	scale                  metric.Scale // of the differences
	differences            []float64
	middle                 float64     // the median of the means of all pairs of differences (Hodges and Lehmann 1963)
	known                  *gate.Prior // nil: nothing is known except the values
	baseEvents, headEvents float64
	turn                   int   // repetitions behind a value
	rare                   *rare // for a count of rare events with a prior
}

// PairedOf returns the pairs of a metric's values of the base and the head build; those at the same
// index are of one round.
func PairedOf(m metric.Metric, base, head []float64) Paired {
	p := Paired{metric: m, Base: Centre(base, m.Mean), Head: Centre(head, m.Mean)}
	if len(base) == 0 {
		return p
	}
	p.scale = m.ScaleOf(min(slices.Min(base), slices.Min(head)))
	for i, b := range base {
		p.baseEvents, p.headEvents = p.baseEvents+b, p.headEvents+head[i]
		p.differences = append(p.differences, m.On(p.scale, head[i])-m.On(p.scale, b))
	}
	p.middle = stat.HodgesLehmann(p.differences)
	return p
}

// Centre returns the median, or the mean for rare events; 0 for no values.
func Centre(values []float64, mean bool) float64 {
	if len(values) == 0 {
		return 0
	}
	if !mean {
		return stat.Median(values)
	}
	sum := 0.0
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// Test returns the rank test of the head above the base.
func (p Paired) Test() stat.RankTest { return stat.SignedRank(p.differences) }

// Worse returns the chance that identical builds come out as far for the worse.
func (p Paired) Worse() float64 {
	if p.rare != nil && !p.rare.alone {
		return p.rare.worse()
	}
	return p.worseSide(p.Test())
}

func (p Paired) worseSide(t stat.RankTest) float64 {
	if p.metric.Direction == metric.HigherIsBetter {
		return t.Less
	}
	return t.Greater
}

// Excludes returns the chance that a head which is worse by the effect looks as good as this: where
// it is small, such a worsening is excluded.
func (p Paired) Excludes(effect float64) float64 {
	switch {
	case len(p.differences) == 0:
		return 1
	case p.rare != nil:
		return p.rare.excludes()
	case p.known != nil:
		return p.leaves(p.margin(effect))
	}
	margin := p.margin(effect)
	beyond := make([]float64, len(p.differences))
	for i, d := range p.differences {
		if beyond[i] = d - margin; math.Abs(beyond[i]) < rounding*math.Abs(margin) {
			beyond[i] = 0
		}
	}
	t := stat.SignedRank(beyond)
	if p.metric.Direction == metric.HigherIsBetter {
		return t.Greater
	}
	return t.Less
}

// rounding is the relative size below which a difference counts as zero.
const rounding = 1e-9

// fewCounts is the least worsening of a count, per repetition, that has to be excluded: zero has no
// share, and ten repetitions without any exclude it.
const fewCounts = 0.5

func (p Paired) margin(effect float64) float64 { return Margin(p.metric, p.Base, effect, p.scale) }

// Margin returns a worsening of the base by the effect, on the scale of differences: a share of the
// base, points of a ratio, and never less than the metric resolves.
func Margin(m metric.Metric, base, effect float64, scale metric.Scale) float64 {
	sign := 1.0
	if m.Direction == metric.HigherIsBetter {
		sign = -1
	}
	switch {
	case scale == metric.Odds:
		return sign * m.Step(effect)
	case scale == metric.Log && sign > 0:
		return max(m.Step(effect), math.Log1p(m.Resolution/base))
	case scale == metric.Log:
		return math.Log(max(1-max(effect, m.Resolution/base), rounding))
	case m.Ratio:
		return sign * max(effect, m.Resolution)
	case m.Signed:
		return sign * m.Resolution
	case m.Mean:
		return sign * max(effect*math.Abs(base), fewCounts)
	}
	if by := max(effect*math.Abs(base), m.Resolution); by > 0 {
		return sign * by
	}
	return sign * rounding
}

// Below reports whether the estimate lies below what would fail, as a share of the way to the
// effect: a build that is worse by that much is not excluded, however sure it is that it is no
// worse.
func (p Paired) Below(effect, minChange float64) bool {
	switch {
	case len(p.differences) == 0:
		return false
	case p.rare != nil:
		return true
	}
	return p.Worsening() == 0 || IsBelow(p.estimate()/p.margin(effect), effect, minChange)
}

// IsBelow reports whether a share of the way to the effect lies below what would fail.
func IsBelow(way, effect, minChange float64) bool { return way < max(minChange, effect/2)/effect }

// estimate returns how far the head lies above the base, on the scale of the differences.
func (p Paired) estimate() float64 {
	if p.metric.Mean { // for rare events: the middle shift is zero
		return p.Head - p.Base
	}
	return p.middle
}

// Ends are the one-sided levels of an interval's ends: the better end lies on the worse side of
// zero where the head fails, and the worse end lies short of what is excluded.
type Ends struct{ Better, Worse float64 }

// interval returns the interval at these levels, on the scale of the differences; an end is
// infinite where there are too few values for it.
func (p Paired) interval(at Ends) (low, high float64) {
	if p.metric.Mean || len(p.differences) == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	below, above := at.Better, at.Worse
	if p.metric.Direction == metric.HigherIsBetter {
		below, above = above, below
	}
	low, high = stat.PairedShift(p.differences, 2*below).Low, stat.PairedShift(p.differences, 2*above).High
	if p.known != nil { // the end that a pass is based on is computed as the pass is decided
		if p.metric.Direction == metric.HigherIsBetter {
			low = p.reach(at.Worse)
		} else {
			high = p.reach(at.Worse)
		}
	}
	return low, high
}

// Worsening returns how much worse the head is, as gate.Worsening; 0 where that is below the
// resolution.
func (p Paired) Worsening() float64 {
	if len(p.differences) == 0 {
		return 0
	}
	shift, share := gate.Change(p.metric, p.Base, p.estimate(), p.scale)
	if math.Abs(shift) < (1-rounding)*p.metric.Resolution {
		return 0
	}
	return gate.Worsening(p.metric, p.Base, shift, share)
}

// Result returns the result of the rounds: the shift in the metric's unit and as a share of the
// base, with its interval.
func (p Paired) Result(at Ends) gate.RoundsComparison {
	out := gate.RoundsComparison{Rounds: len(p.differences), Base: gate.Finite(p.Base), Head: gate.Finite(p.Head)}
	if out.Rounds == 0 {
		return out
	}
	out.Shift, out.Change = gate.Change(p.metric, p.Base, p.estimate(), p.scale)
	end := func(x float64) (shift, change *float64) {
		if math.IsInf(x, 0) {
			return nil, nil
		}
		a, b := gate.Change(p.metric, p.Base, x, p.scale)
		return &a, &b
	}
	low, high := p.interval(at)
	out.ShiftLow, out.ChangeLow = end(low)
	out.ShiftHigh, out.ChangeHigh = end(high)
	return out
}

// better reports whether all of the interval lies on the better side.
func (p Paired) better(at Ends) bool {
	low, high := p.interval(at)
	if p.metric.Direction == metric.HigherIsBetter {
		return low > 0
	}
	return high < 0
}
