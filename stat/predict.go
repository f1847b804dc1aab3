package stat

import (
	"cmp"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Moments are the location and scale of a sample and the degrees of freedom
// behind the scale.
type Moments struct {
	Mean, SD float64
	N        float64 // effective number of values behind Mean
	DF       float64 // degrees of freedom behind SD
}

// farOut is Tukey's outer fence: a value beyond it belongs to another distribution and must not
// widen the scale by which new values are judged.
const farOut = 3.0

// MomentsOf returns the sample's weighted mean and standard deviation, without the values beyond
// Tukey's outer fences (3 interquartile ranges): one bad run that was once accepted must not make
// the gate blind.
func MomentsOf(s Sample) Moments {
	s = s.within(FencesOf(s, farOut))
	m := Moments{N: s.EffectiveN()}
	m.DF = max(m.N-1, 0)
	if len(s.Values) == 0 {
		m.Mean, m.SD = math.NaN(), math.NaN()
		return m
	}
	m.Mean = gonum.Mean(s.Values, s.Weights)
	if m.DF > 0 {
		m.SD = math.Sqrt(s.variance(m.Mean) * m.N / m.DF)
	}
	return m
}

// Variance returns the variance of a sample of at least two values, about its mean.
func Variance(values []float64) float64 { return gonum.Variance(values, nil) }

// variance returns the weighted mean of the squared distances to the mean.
func (s Sample) variance(mean float64) float64 {
	return gonum.MomentAbout(2, s.Values, mean, s.Weights)
}

func (s Sample) within(f Fences) Sample {
	var out Sample
	for i, v := range s.Values {
		if v < f.Lower || v > f.Upper {
			continue
		}
		out.Values = append(out.Values, v)
		if s.Weights != nil {
			out.Weights = append(out.Weights, s.Weights[i])
		}
	}
	return out
}

// standardError returns that of the difference between one new value and the mean.
func (m Moments) standardError() float64 { return m.SD * math.Sqrt(1+1/m.N) }

// Tail returns the chance that one more value of the same distribution lies as far below (or above)
// the mean as x does, on the side of x: Student's t for a prediction. It is 1 where there is no
// scale.
func (m Moments) Tail(x float64) float64 {
	se := m.standardError()
	if !(m.DF > 0) || math.IsNaN(se) {
		return 1
	}
	if se == 0 {
		if x == m.Mean {
			return 0.5
		}
		return 0
	}
	t := math.Abs(x-m.Mean) / se
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m.DF}.Survival(t)
}

// Reach returns how far from the mean one more value may lie before Tail falls to p: the half-width
// of a prediction interval. It is +Inf where there is no scale.
func (m Moments) Reach(p float64) float64 {
	se := m.standardError()
	if !(m.DF > 0) || math.IsNaN(se) || p <= 0 {
		return math.Inf(1)
	}
	return -distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m.DF}.Quantile(p) * se
}

// Holm returns each p corrected for len(ps) tests, by Holm's step-down method: under any dependence
// the chance of even one false alarm at level a is at most a. A NaN counts as 1.
func Holm(ps []float64) []float64 {
	weights := make([]float64, len(ps))
	for i := range weights {
		weights[i] = 1
	}
	return WeightedHolm(ps, weights)
}

// WeightedHolm is Holm's method where the tests share the false alarms by these weights, each above
// 0 and chosen independently of the ps (Holm 1979, section 4): of n weights that sum to n, a weight
// of 2 gets two equal parts. There are as many weights as ps.
func WeightedHolm(ps, weights []float64) []float64 {
	n := len(ps)
	parts := make([]float64, n) // of an equal part of the false alarms
	rest := 0.0
	for i, p := range ps {
		if math.IsNaN(p) {
			p = 1
		}
		parts[i] = p / weights[i]
		rest += weights[i]
	}
	out := make([]float64, n)
	highest := 0.0
	for _, i := range ascending(parts) {
		highest = max(highest, min(1, parts[i]*rest))
		out[i] = highest
		rest -= weights[i]
	}
	return out
}

func ascending(ps []float64) []int {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	return order
}
