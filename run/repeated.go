package run

import (
	"math"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// Repeated summarizes the repetitions of a cell in one session, on the scale on which it is judged:
// the logarithm where the metric's noise is multiplicative (metric.Metric.Log) and all repetitions
// are positive.
type Repeated struct {
	// N counts the repetitions that have the cell.
	N int
	// Centre is their robust centre (stat.HodgesLehmann), on that scale.
	Centre float64
	// SD is the standard deviation of single repetitions (stat.RobustSD), on that scale, kept with
	// seven digits. 0 where N is below 2.
	SD  float64
	Log bool
}

// RepeatedOf summarizes the repetitions of a metric. Counts of rare events (metric.Metric.Mean)
// have their mean and ordinary standard deviation: their robust ones would be 0, whatever happened.
func RepeatedOf(m metric.Metric, repetitions []float64) Repeated {
	values, log := scaled(m, repetitions)
	r := Repeated{N: len(values), Log: log}
	if m.Mean {
		r.Centre, r.SD = centreOf(values, Mean, true), stat.SD(values)
	} else {
		r.Centre, r.SD = stat.HodgesLehmann(values), stat.RobustSD(values)
	}
	return pack(r).unpack()
}

// scaled returns the repetitions on the scale on which the metric is judged.
func scaled(m metric.Metric, repetitions []float64) (values []float64, log bool) {
	if !m.Log {
		return repetitions, false
	}
	values = make([]float64, len(repetitions))
	for i, v := range repetitions {
		if !(v > 0) {
			return repetitions, false
		}
		values[i] = math.Log(v)
	}
	return values, true
}

// On converts it to the logarithmic scale, or to that of the values themselves, to the first order
// of SD. It returns false where there is no logarithm.
func (r Repeated) On(log bool) (Repeated, bool) {
	switch {
	case r.Log == log:
		return r, true
	case r.Log:
		centre := math.Exp(r.Centre)
		return Repeated{N: r.N, Centre: centre, SD: r.SD * centre}, true
	case !(r.Centre > 0):
		return Repeated{}, false
	}
	return Repeated{N: r.N, Centre: math.Log(r.Centre), SD: r.SD / r.Centre, Log: true}, true
}

// Repeated returns the repetitions of a cell; false where the summary lacks them.
func (s Summary) Repeated(cell Cell) (Repeated, bool) { return s.Cells.Repeated(cell) }

// Repeated returns the repetitions of a cell; false where unknown.
func (c Cells) Repeated(cell Cell) (Repeated, bool) {
	if c.layout == nil {
		return Repeated{}, false
	}
	i, ok := c.layout.at[cell]
	if !ok || c.repeated == nil {
		return Repeated{}, false
	}
	return c.repeated[i].unpack(), true
}

// packed is a Repeated in 16 bytes: a history has millions. Seven digits are more than the
// precision of a spread of few repetitions.
type packed struct {
	centre float64
	sd     float32
	n      int32 // below 0 on the logarithmic scale
}

func pack(r Repeated) packed {
	p := packed{r.Centre, float32(min(r.SD, math.MaxFloat32)), int32(r.N)}
	if r.Log {
		p.n = -p.n
	}
	return p
}

func packAll(list []Repeated) []packed {
	if list == nil {
		return nil
	}
	out := make([]packed, len(list))
	for i, r := range list {
		out[i] = pack(r)
	}
	return out
}

func (p packed) unpack() Repeated {
	r := Repeated{N: int(p.n), Centre: p.centre, SD: float64(p.sd)}
	if p.n < 0 {
		r.N, r.Log = -r.N, true
	}
	return r
}
