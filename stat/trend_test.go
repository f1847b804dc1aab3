package stat

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestDriftByHand(t *testing.T) {
	// Slopes of (0,1) (1,3) (2,2) (4,9): 2, 1/2, 2, -1, 2, 7/2; their median is 2.
	d := DriftOf([]Series{{Times: []float64{4, 0, 2, 1}, Values: []float64{9, 1, 2, 3}}}, 0.05)
	near(t, "slope", d.Slope, 2, 1e-12)
	// Five pairs rise and one falls: S = 4; its variance is 4·3·13/18.
	near(t, "chance of rising so", d.Rising, distuv.UnitNormal.Survival(3/math.Sqrt(4*3*13/18.0)), 1e-12)
	// Two devices on levels of their own, each rising by one per step.
	two := DriftOf([]Series{{[]float64{0, 1, 2}, []float64{1, 2, 3}}, {[]float64{0, 1, 2}, []float64{101, 102, 103}}}, 0.05)
	near(t, "slope of two devices", two.Slope, 1, 1e-12)
	// Turned upside down the chances are swapped.
	down := DriftOf([]Series{{Times: []float64{0, 1, 2, 4}, Values: []float64{-1, -3, -2, -9}}}, 0.05)
	near(t, "slope downwards", down.Slope, -2, 1e-12)
	near(t, "chance of falling so", down.Falling, d.Rising, 1e-12)
	near(t, "chance of rising", down.Rising, distuv.UnitNormal.Survival(-5/math.Sqrt(4*3*13/18.0)), 1e-12)
	for name, s := range map[string][]Series{"nothing": nil, "one value": {{[]float64{1}, []float64{1}}}, "one time": {{[]float64{1, 1}, []float64{1, 2}}}} {
		if d := DriftOf(s, 0.05); !math.IsNaN(d.Slope) || d.Rising != 1 || d.Falling != 1 {
			t.Errorf("the drift of %s is %+v", name, d)
		}
	}
}

// The variance of the sum of orders, compared with every order of the values, with ties in times
// and in values.
func TestOrderVariance(t *testing.T) {
	for _, s := range []Series{
		{[]float64{1, 2}, []float64{7, 7}}, {[]float64{1, 1}, []float64{7, 8}}, {[]float64{1, 2}, []float64{7, 8}}, {[]float64{1}, []float64{1}},
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}}, {[]float64{1, 2, 3, 4, 5}, []float64{3, 3, 5, 3, 5}},
		{[]float64{1, 1, 2, 3, 3, 3}, []float64{0, 2, 2, 2, 9, 9}}, {[]float64{4, 4, 4}, []float64{1, 2, 3}},
	} {
		squares, ways := 0.0, 0.0
		permute(slices.Clone(s.Values), 0, func(values []float64) {
			order := 0
			for i := range values {
				for j := range i {
					order += cmp.Compare(s.Times[i], s.Times[j]) * cmp.Compare(values[i], values[j])
				}
			}
			squares += float64(order * order)
			ways++
		})
		near(t, fmt.Sprint("variance of ", s), s.orderVariance(), squares/ways, 1e-9)
	}
}

// permute calls each with every order of the values.
func permute(values []float64, from int, each func([]float64)) {
	if from == len(values) {
		each(values)
		return
	}
	for i := from; i < len(values); i++ {
		values[from], values[i] = values[i], values[from]
		permute(values, from+1, each)
		values[from], values[i] = values[i], values[from]
	}
}

// Devices without a pair do not affect the one that drifts.
func TestDriftIgnoresDevicesWithoutPairs(t *testing.T) {
	series := []Series{{Times: []float64{0, 1, 2, 3, 4, 5}, Values: []float64{1, 2, 3, 4, 5, 6}}}
	alone := DriftOf(series, 0.05)
	for range 20 {
		series = append(series, Series{Times: []float64{7, 7}, Values: []float64{1, 2}})
	}
	near(t, "chance of rising", DriftOf(series, 0.05).Rising, alone.Rising, 1e-12)
}

// Values without a drift are reported to drift in at most the share that alpha allows, and the
// interval contains the true slope.
func TestDriftIsCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const trials, slope = 4000, 0.3
	alarms, covered := 0, 0
	for range trials {
		var still, rising []Series
		for device := range 3 {
			a, b := Series{}, Series{}
			for i := range 10 {
				x := float64(5*device) + rng.NormFloat64()
				a.Times, a.Values = append(a.Times, float64(i)), append(a.Values, math.Round(2*x)/2)
				b.Times, b.Values = append(b.Times, float64(i)), append(b.Values, x+slope*float64(i))
			}
			still, rising = append(still, a), append(rising, b)
		}
		if DriftOf(still, 0.05).Rising <= 0.05 {
			alarms++
		}
		if d := DriftOf(rising, 0.05); d.Low <= slope && slope <= d.High {
			covered++
		}
	}
	if rate := float64(alarms) / trials; rate > 0.055 || rate < 0.03 {
		t.Errorf("%.3f of what stands still is said to rise, want 0.05", rate)
	}
	if rate := float64(covered) / trials; rate < 0.93 {
		t.Errorf("%.3f of the intervals hold the slope, want 0.95", rate)
	}
}

// For four rising values all six pairs rise: S is 6 with the variance 4·3·13/18.
func TestInOrder(t *testing.T) {
	four := []float64{0, 1, 2, 3}
	falling, rising := InOrder([]Series{{Times: four, Values: []float64{1, 2, 5, 9}}})
	near(t, "rising", rising, distuv.UnitNormal.Survival(5/math.Sqrt(26.0/3)), 1e-12)
	near(t, "falling", falling, distuv.UnitNormal.Survival(-7/math.Sqrt(26.0/3)), 1e-12)
	for what, series := range map[string][]Series{"nothing": nil, "one value": {{Times: []float64{1}, Values: []float64{2}}}, "what never changes": {{Times: four, Values: []float64{7, 7, 7, 7}}}} {
		if falling, rising := InOrder(series); falling != 1 || rising != 1 {
			t.Errorf("%s falls with p = %g and rises with p = %g, want 1", what, falling, rising)
		}
	}
}
