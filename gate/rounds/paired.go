package rounds

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// Paired is a metric in rounds of two builds: the values of both, side by side.
//
// It is tested by Wilcoxon's signed ranks: under chance alone the difference within a
// round is as likely to have one sign as the other, whatever the device's scale, and
// frame times have heavy tails that must not decide.
type Paired struct {
	Base, Head  float64 // the middle of each build's values, in the metric's unit
	metric      metric.Metric
	logs        bool // whether differences are those of logarithms
	differences []float64
}

// PairedOf is that of a metric's values of the base and the head build, of which those
// at one place are of one round.
func PairedOf(m metric.Metric, base, head []float64) Paired {
	p := Paired{metric: m, Base: centre(base, m.Mean), Head: centre(head, m.Mean)}
	if len(base) == 0 {
		return p
	}
	p.logs = m.Log && slices.Min(base) > 0 && slices.Min(head) > 0
	for i, b := range base {
		h := head[i]
		if p.logs {
			b, h = math.Log(b), math.Log(h)
		}
		p.differences = append(p.differences, h-b)
	}
	return p
}

// centre is the median, or the mean of what is rare.
func centre(values []float64, mean bool) float64 {
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

// N counts the rounds.
func (p Paired) N() int { return len(p.differences) }

// Test is the rank test of the head above the base.
func (p Paired) Test() stat.RankTest { return stat.SignedRank(p.differences) }

// Worse is the chance that builds which are alike come out as far for the worse.
func (p Paired) Worse() float64 { return p.worseSide(p.Test()) }

func (p Paired) worseSide(t stat.RankTest) float64 {
	if p.metric.Direction == metric.HigherIsBetter {
		return t.Less
	}
	return t.Greater
}

// Excludes is the chance that a head which is worse by the effect looks as good as this:
// where it is small, such a worsening is excluded.
func (p Paired) Excludes(effect float64) float64 {
	if len(p.differences) == 0 {
		return 1
	}
	margin := p.margin(effect)
	beyond := make([]float64, len(p.differences))
	for i, d := range p.differences {
		beyond[i] = d - margin
	}
	t := stat.SignedRank(beyond)
	if p.metric.Direction == metric.HigherIsBetter {
		return t.Greater
	}
	return t.Less
}

// margin is a worsening by the effect on the scale of the differences: a share of the
// base, points of a ratio; where there is nothing to be a share of, the least that
// means anything.
func (p Paired) margin(effect float64) float64 {
	sign := 1.0
	if p.metric.Direction == metric.HigherIsBetter {
		sign = -1
	}
	switch {
	case p.logs:
		return math.Log(max(1+sign*effect, 1e-3))
	case p.metric.Ratio:
		return sign * effect
	case p.metric.Signed:
		return sign * p.metric.Resolution
	}
	return sign * max(effect*math.Abs(p.Base), p.metric.Resolution)
}

// Shift is the estimate of how far the head lies above the base, with the ends that the
// test leaves at these one-sided levels, on the scale of the differences.
func (p Paired) shift(low, high float64) stat.Shift {
	if p.metric.Mean { // of rare things: the middle shift is none
		return stat.Shift{Estimate: p.Head - p.Base, Low: math.Inf(-1), High: math.Inf(1)}
	}
	s := stat.PairedShift(p.differences, 2*low)
	s.High = stat.PairedShift(p.differences, 2*high).High
	return s
}

// Worsening is how much worse the head is, as gate.Worsening tells it.
func (p Paired) Worsening() float64 {
	if len(p.differences) == 0 {
		return 0
	}
	s := p.shift(0.5, 0.5)
	shift, share := gate.Change(p.metric, p.Base, s.Estimate, p.logs)
	if math.Abs(shift) < (1-1e-9)*p.metric.Resolution {
		return 0
	}
	return gate.Worsening(p.metric, p.Base, shift, share)
}

// fill tells the shift in the metric's unit and as a share of the base.
func (p Paired) fill(out *gate.RoundsOf, s stat.Shift) {
	out.Rounds, out.Base, out.Head = p.N(), gate.Finite(p.Base), gate.Finite(p.Head)
	if p.N() == 0 {
		return
	}
	out.Shift, out.Change = gate.Change(p.metric, p.Base, s.Estimate, p.logs)
	end := func(x float64) (shift, change *float64) {
		if math.IsInf(x, 0) {
			return nil, nil
		}
		a, b := gate.Change(p.metric, p.Base, x, p.logs)
		return &a, &b
	}
	out.ShiftLow, out.ChangeLow = end(s.Low)
	out.ShiftHigh, out.ChangeHigh = end(s.High)
}

// better reports whether all of the shift's interval lies on the better side.
func (p Paired) better(s stat.Shift) bool {
	if p.metric.Direction == metric.HigherIsBetter {
		return s.Low > 0
	}
	return s.High < 0
}
