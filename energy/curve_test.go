package energy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/energytest"
	"github.com/apkgate/apkgate/energy/unmix"
)

func TestOfReadings(t *testing.T) {
	t.Parallel()
	c := energy.OfReadings([]energy.Reading{{Time: 0, Watts: 1}, {Time: energytest.Seconds(2), Watts: 3}, {Time: energytest.Seconds(2), Watts: 9}, {Time: energytest.Seconds(12), Watts: 3}}, energytest.Seconds(5))
	joules, covered := c.Energy(0, energytest.Seconds(20))
	energytest.Near(t, "from 1 W to 3 W in 2 s, then a gap", joules, 4)
	energytest.Near(t, "covered", covered.Seconds(), 2)
	joules, _ = c.Energy(energytest.Seconds(1), energytest.Seconds(20))
	energytest.Near(t, "its second half, from 2 W to 3 W", joules, 2.5)
	w, _, ok := c.At(energytest.Seconds(0.5))
	energytest.Near(t, "a quarter in", w, 1.5)
	if _, _, after := c.At(energytest.Seconds(2)); !ok || after {
		t.Errorf("known at 0.5 s: %v, at the end: %v", ok, after)
	}
	energytest.Near(t, "mean power of what is known", c.Mean(0, energytest.Seconds(20)), 2)
	energytest.Near(t, "mean power of what is not", c.Mean(energytest.Seconds(5), energytest.Seconds(6)), 0)
}

func TestOfCounts(t *testing.T) {
	t.Parallel()
	// A reset at 3 s: the energy used between 2 s and 3 s is unknown.
	c := energy.OfCounts([]energy.Count{{Time: 0, Joules: 100}, {Time: energytest.Seconds(2), Joules: 104}, {Time: energytest.Seconds(3), Joules: 1}, {Time: energytest.Seconds(5), Joules: 2}})
	joules, covered := c.Energy(0, energytest.Seconds(5))
	energytest.Near(t, "4 J and 1 J", joules, 5)
	energytest.Near(t, "covered", covered.Seconds(), 4)
	_, first, _ := c.At(energytest.Seconds(0.1))
	_, same, _ := c.At(energytest.Seconds(1.9))
	_, next, _ := c.At(energytest.Seconds(4))
	if first != same || same == next {
		t.Errorf("updates %d, %d and %d: want the same twice, then another", first, same, next)
	}
	if c.Update() != 2*time.Second {
		t.Errorf("an update in %v, want 2s", c.Update())
	}
}

func TestOfReadingsOutOfOrder(t *testing.T) {
	t.Parallel()
	c := energy.OfReadings([]energy.Reading{{Time: 0, Watts: 1}, {Time: energytest.Seconds(10), Watts: 1}, {Time: energytest.Seconds(5), Watts: 9}, {Time: energytest.Seconds(12), Watts: 1}}, 0)
	joules, covered := c.Energy(0, energytest.Seconds(20))
	energytest.Near(t, "12 s of 1 W", joules, 12)
	energytest.Near(t, "covered", covered.Seconds(), 12)
	c = energy.OfCounts([]energy.Count{{Time: 0}, {Time: energytest.Seconds(10), Joules: 10}, {Time: energytest.Seconds(5), Joules: 50}, {Time: energytest.Seconds(12), Joules: 12}})
	joules, covered = c.Energy(0, energytest.Seconds(20))
	energytest.Near(t, "12 J", joules, 12)
	energytest.Near(t, "covered", covered.Seconds(), 12)
}

func TestSumCoversCommonTime(t *testing.T) {
	t.Parallel()
	ramp := energy.OfReadings([]energy.Reading{{Time: 0, Watts: 0}, {Time: energytest.Seconds(10), Watts: 10}}, 0)
	flat := energy.OfCounts([]energy.Count{{Time: energytest.Seconds(2), Joules: 0}, {Time: energytest.Seconds(4), Joules: 4}, {Time: energytest.Seconds(6), Joules: 14}})
	sum := energy.Sum(ramp, flat)
	from, to := sum.Span()
	if from != energytest.Seconds(2) || to != energytest.Seconds(6) {
		t.Errorf("known from %v to %v, want 2s to 6s", from, to)
	}
	// The ramp from 2 W to 6 W over 4 s is 16 J; the counter adds 14 J.
	joules, _ := sum.Energy(0, energytest.Seconds(20))
	energytest.Near(t, "both", joules, 30)
	w, _, _ := sum.At(energytest.Seconds(5))
	energytest.Near(t, "5 W of the ramp and 5 W of the counter", w, 10)
	if _, covered := energy.Sum(ramp, energy.Curve{}).Energy(0, energytest.Seconds(20)); covered != 0 {
		t.Error("the sum with a curve that knows nothing knows something")
	}
}

func TestEven(t *testing.T) {
	t.Parallel()
	c := energy.Even(6, energytest.Seconds(1), energytest.Seconds(4))
	joules, _ := c.Energy(energytest.Seconds(2), energytest.Seconds(3))
	energytest.Near(t, "a third of 6 J", joules, 2)
	if _, covered := energy.Even(6, energytest.Seconds(4), energytest.Seconds(4)).Energy(0, energytest.Seconds(9)); covered != 0 {
		t.Error("joules were spread over no time")
	}
}

// A reading covers the time since the one before, but no longer than twice the usual time; the
// reported value is the end of the line to it.
func TestReadingsOfACurve(t *testing.T) {
	t.Parallel()
	c := energy.OfReadings([]energy.Reading{{Time: 0, Watts: 1}, {Time: energytest.Seconds(1), Watts: 3}, {Time: energytest.Seconds(2), Watts: 2}, {Time: energytest.Seconds(7), Watts: 4}}, 0)
	want := []unmix.Reading{
		{From: 0, To: energytest.Seconds(1), Watts: 3}, {From: energytest.Seconds(1), To: energytest.Seconds(2), Watts: 2},
		{From: energytest.Seconds(5), To: energytest.Seconds(7), Watts: 4},
	}
	if got := c.Readings(); !slices.Equal(got, want) {
		t.Errorf("readings %v, want %v", got, want)
	}
	counts := energy.OfCounts([]energy.Count{{Time: 0, Joules: 1}, {Time: energytest.Seconds(1), Joules: 3}, {Time: energytest.Seconds(2), Joules: 4}})
	if got, want := counts.Readings(), []unmix.Reading{{From: 0, To: energytest.Seconds(1), Watts: 2}, {From: energytest.Seconds(1), To: energytest.Seconds(2), Watts: 1}}; !slices.Equal(got, want) {
		t.Errorf("readings of a counter %v, want %v", got, want)
	}
	if got := (energy.Curve{}).Readings(); got != nil {
		t.Errorf("of nothing %v", got)
	}
}
