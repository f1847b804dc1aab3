package energy_test

import (
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

func TestReadingsAreJoinedByTrapezoids(t *testing.T) {
	t.Parallel()
	c := energy.OfReadings([]energy.Reading{{Time: 0, Watts: 1}, {Time: seconds(2), Watts: 3}, {Time: seconds(2), Watts: 9}, {Time: seconds(12), Watts: 3}}, seconds(5))
	joules, covered := c.Energy(0, seconds(20))
	near(t, "from 1 W to 3 W in 2 s, then a gap", joules, 4)
	near(t, "covered", covered.Seconds(), 2)
	joules, _ = c.Energy(seconds(1), seconds(20))
	near(t, "its second half, from 2 W to 3 W", joules, 2.5)
	w, _, ok := c.At(seconds(0.5))
	near(t, "a quarter in", w, 1.5)
	if _, _, after := c.At(seconds(2)); !ok || after {
		t.Errorf("known at 0.5 s: %v, at the end: %v", ok, after)
	}
	near(t, "mean power of what is known", c.Mean(0, seconds(20)), 2)
	near(t, "mean power of what is not", c.Mean(seconds(5), seconds(6)), 0)
}

func TestCountsGiveMeanPowers(t *testing.T) {
	t.Parallel()
	// A reset at 3 s: what was used between 2 s and 3 s is not known.
	c := energy.OfCounts([]energy.Count{{Time: 0, Joules: 100}, {Time: seconds(2), Joules: 104}, {Time: seconds(3), Joules: 1}, {Time: seconds(5), Joules: 2}})
	joules, covered := c.Energy(0, seconds(5))
	near(t, "4 J and 1 J", joules, 5)
	near(t, "covered", covered.Seconds(), 4)
	_, first, _ := c.At(seconds(0.1))
	_, same, _ := c.At(seconds(1.9))
	_, next, _ := c.At(seconds(4))
	if first != same || same == next {
		t.Errorf("updates %d, %d and %d: want the same twice, then another", first, same, next)
	}
	if c.Update() != 2*time.Second {
		t.Errorf("an update in %v, want 2s", c.Update())
	}
}

func TestReadingsOutOfOrderAreLeftOut(t *testing.T) {
	t.Parallel()
	c := energy.OfReadings([]energy.Reading{{Time: 0, Watts: 1}, {Time: seconds(10), Watts: 1}, {Time: seconds(5), Watts: 9}, {Time: seconds(12), Watts: 1}}, 0)
	joules, covered := c.Energy(0, seconds(20))
	near(t, "12 s of 1 W", joules, 12)
	near(t, "covered", covered.Seconds(), 12)
	c = energy.OfCounts([]energy.Count{{Time: 0}, {Time: seconds(10), Joules: 10}, {Time: seconds(5), Joules: 50}, {Time: seconds(12), Joules: 12}})
	joules, covered = c.Energy(0, seconds(20))
	near(t, "12 J", joules, 12)
	near(t, "covered", covered.Seconds(), 12)
}

func TestSumIsKnownWhereAllAre(t *testing.T) {
	t.Parallel()
	ramp := energy.OfReadings([]energy.Reading{{Time: 0, Watts: 0}, {Time: seconds(10), Watts: 10}}, 0)
	flat := energy.OfCounts([]energy.Count{{Time: seconds(2), Joules: 0}, {Time: seconds(4), Joules: 4}, {Time: seconds(6), Joules: 14}})
	sum := energy.Sum(ramp, flat)
	from, to := sum.Span()
	if from != seconds(2) || to != seconds(6) {
		t.Errorf("known from %v to %v, want 2s to 6s", from, to)
	}
	// The ramp from 2 W to 6 W over 4 s is 16 J; the counter adds 14 J.
	joules, _ := sum.Energy(0, seconds(20))
	near(t, "both", joules, 30)
	w, _, _ := sum.At(seconds(5))
	near(t, "5 W of the ramp and 5 W of the counter", w, 10)
	if _, covered := energy.Sum(ramp, energy.Curve{}).Energy(0, seconds(20)); covered != 0 {
		t.Error("the sum with a curve that knows nothing knows something")
	}
}

func TestEven(t *testing.T) {
	t.Parallel()
	c := energy.Even(6, seconds(1), seconds(4))
	joules, _ := c.Energy(seconds(2), seconds(3))
	near(t, "a third of 6 J", joules, 2)
	if _, covered := energy.Even(6, seconds(4), seconds(4)).Energy(0, seconds(9)); covered != 0 {
		t.Error("joules were spread over no time")
	}
}
