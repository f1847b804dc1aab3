package stat

import (
	"math"
	"slices"
	"testing"
)

// in returns the segments of a series without weights, a value a day.
func in(values []float64, sd float64, s Segmentation) []Segment {
	times, weights := make([]float64, len(values)), make([]float64, len(values))
	for i := range values {
		times[i], weights[i] = float64(i), 1
	}
	return Segments(times, values, weights, sd, s)
}

// Two levels of 0 and 3 with deviations of 1: the sum of squares about one level is 8·1 + 8·1.5²
// = 26, about two it is 8. The change explains 18, so that it is one up to that cost.
func TestSegmentsByHand(t *testing.T) {
	values := []float64{1, -1, 1, -1, 4, 2, 4, 2}
	for cost, want := range map[float64]int{17.9: 2, 18.1: 1} {
		got := in(values, 1, Segmentation{Change: cost, Slope: 1e9, Least: 2, LeastSloped: 4})
		if len(got) != want {
			t.Errorf("at a cost of %g: %+v, want %d levels", cost, got, want)
		}
		if want == 2 && (got[0] != Segment{0, 4, 0, 0} || got[1] != Segment{4, 8, 3, 3}) {
			t.Errorf("%+v, want 0 and 3, four values each", got)
		}
	}
	// In variances of twice the noise it explains a fourth.
	if got := in(values, 2, Segmentation{Change: 4.6, Slope: 1e9, Least: 2, LeastSloped: 4}); len(got) != 1 {
		t.Errorf("%+v, want one level", got)
	}
}

// A line is one moving stretch rather than a staircase, and constant where slopes are too dear.
func TestSegmentsOfLine(t *testing.T) {
	values := make([]float64, 20)
	for i := range values {
		values[i] = float64(i)
	}
	got := in(values, 1, Segmentation{Change: 10, Slope: 10, Least: 3, LeastSloped: 10})
	if len(got) != 1 || !got[0].Sloped() || math.Abs(got[0].Start) > 1e-9 || math.Abs(got[0].End-19) > 1e-9 {
		t.Errorf("%+v, want one line from 0 to 19", got)
	}
	if got := in(values, 1, Segmentation{Change: 10, Slope: 1e9, Least: 3, LeastSloped: 10}); len(got) < 2 || got[0].Sloped() {
		t.Errorf("%+v, want levels", got)
	}
}

// The weight of a value is how often it counts: 1, 1 and 4 with the weights 1, 1 and 2 is 2.5.
func TestWeightedSegment(t *testing.T) {
	got := Segments([]float64{0, 1, 2}, []float64{1, 1, 4}, []float64{1, 1, 2}, 1, Segmentation{Least: 2, LeastSloped: 4})
	if len(got) != 1 || math.Abs(got[0].Start-2.5) > 1e-12 {
		t.Errorf("%+v, want 2.5", got)
	}
	if got := Segments(nil, nil, nil, 1, Segmentation{}); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestJoined(t *testing.T) {
	values := []float64{0, 0, 0, 1, 1, 1, 5, 5, 5}
	times, ones := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, slices.Repeat([]float64{1}, 9)
	three := []Segment{{0, 3, 0, 0}, {3, 6, 1, 1}, {6, 9, 5, 5}}
	for least, want := range map[float64][]Segment{
		0.5: three,
		2:   {{0, 6, 0.5, 0.5}, {6, 9, 5, 5}},
		5:   {{0, 9, 2, 2}},
	} {
		got := Joined(three, times, values, ones, least)
		if len(got) != len(want) {
			t.Errorf("least %g: %+v, want %+v", least, got, want)
			continue
		}
		for i, s := range got {
			if s.From != want[i].From || s.To != want[i].To || math.Abs(s.Start-want[i].Start) > 1e-12 {
				t.Errorf("least %g: %+v, want %+v", least, got, want)
			}
		}
	}
}

// A wild value is moved to the median of its neighbours and the reach; a step keeps its edge.
func TestWinsorized(t *testing.T) {
	got := Winsorized([]float64{0, 0, 0, 9, 0, 0, 0, 5, 5, 5, 5, 5}, 5, 1)
	if want := []float64{0, 0, 0, 1, 0, 0, 0, 5, 5, 5, 5, 5}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Values that alternate by 2 differ by 2 or 0: neither a step nor few values change their noise.
func TestStepNoise(t *testing.T) {
	for name, values := range map[string][]float64{"nothing": nil, "two": {1, 2}, "constant": {3, 3, 3, 3, 3}} {
		if got := StepNoise(values); got != 0 {
			t.Errorf("%s: %g, want 0", name, got)
		}
	}
	quiet, stepped := make([]float64, 60), make([]float64, 60)
	for i := range quiet {
		quiet[i] = math.Sin(float64(i * i)) // of the standard deviation 1/√2
		stepped[i] = quiet[i]
		if i >= 30 {
			stepped[i] += 50
		}
	}
	a, b := StepNoise(quiet), StepNoise(stepped)
	if a < 0.5 || a > 1.1 || b > 1.2*a {
		t.Errorf("noise %g, with a step %g; want about 0.71 for both", a, b)
	}
}
