package history

import (
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

func TestADeviationInASentence(t *testing.T) {
	k := &check{policy: gatetest.Policy(t, gate.PresetDefault), catalogue: metric.Default()}
	const ms = "frames.duration_ms"
	for want, d := range map[string]gate.Comparison{
		"time per frame: 12.00 ms":                              {Metric: ms, Value: 12, P: 1},
		"time per frame after tap: 12.00 ms":                    {Metric: ms, Event: "tap", Value: 12, P: 1},
		"time per frame: 12.00 ms where 8.00 ms was expected":   {Metric: ms, Value: 12, Expected: 8, N: 5, P: 1},
		"time per frame: 12.00 ms, beyond the limit of 9.00 ms": {Metric: ms, Value: 12, Expected: 8, N: 5, P: 0.01, Limit: new(9.0)},
		"time per frame: 12.00 ms where 8.00 ms was expected (+50 %, 95 % interval −1.0 % to +90 %, p = 0.04)": {Metric: ms, Value: 12, Expected: 8, N: 5, P: 0.04, Change: 0.5, Low: new(-0.01), High: new(0.9)},
		"time per frame: 12.00 ms where 8.00 ms was expected (95 % interval +0.0 % to +0.0 %, p < 0.0001)":     {Metric: ms, Value: 12, Expected: 8, N: 5, P: 0.00001, Low: new(0.0), High: new(0.0)},
	} {
		if got := k.describe(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, d := range map[string]gate.Comparison{
		"about 8 accepted runs in this context": {Enough: 8}, "about 5 accepted runs in this context": {Enough: 3},
		"accept more runs in this context, or measure this one again": {},
	} {
		if got := settle(d, 5); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Regressions before doubts before improvements, causes before after-effects, the
// surer doubt and the larger change first.
func TestTheGravestDeviationComesFirst(t *testing.T) {
	want := []gate.Comparison{
		{Event: "1", Direction: gate.ToRegression, Change: 0.5, P: 0.04},
		{Event: "2", Direction: gate.ToRegression, Change: -0.3, P: 0.01},
		{Event: "3", Direction: gate.ToRegression, Change: 0.9, AfterEffectOf: "1"},
		{Event: "4", Direction: gate.Suspect, Change: 0.1, P: 0.1},
		{Event: "5", Direction: gate.Suspect, Change: 0.9, P: 0.2},
		{Event: "6", Direction: gate.ToImprovement, Change: -0.9, P: 0.04},
		{Event: "7", Direction: gate.ToImprovement, Change: -0.2, P: 0.01},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortStableFunc(got, graverDeviation)
	for i := range want {
		if got[i].Event != want[i].Event {
			t.Errorf("place %d is that of %s", i+1, got[i].Event)
		}
	}
}

// In the fine grain only events are judged, and a pass is worth what they show.
func TestTheFineGrainPassesByEventsAlone(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Grain = gate.Fine
	history := gatetest.Steady(10, nil, 8, "E1", "E2")
	now := history[1]
	now.ID = "new"
	v := checkOne(p, now, history...)
	if v.Verdict != gate.Pass || len(v.Comparisons) != 2 || v.Reason != "nothing deviates in 2 comparisons" || len(v.Warnings) != 0 {
		t.Errorf("%s: %s; %d comparisons, warnings %v", v.Verdict, v.Reason, len(v.Comparisons), v.Warnings)
	}
	few := checkOne(p, now, history[:3]...)
	if few.Verdict != gate.Inconclusive {
		t.Errorf("of three runs %s: %s", few.Verdict, few.Reason)
	}
	p.Grain = gate.Coarse
	if v := checkOne(p, now, history...); len(v.Comparisons) != 1 || v.Comparisons[0].Event != "" {
		t.Errorf("the coarse grain compares %d numbers", len(v.Comparisons))
	}
}

// Student's t: one value lies 3 standard deviations above five like it. At 5 % one
// needs t = 2.1318 with four degrees of freedom, and there are 3/√1.2 = 2.7386: five
// are enough. Of ten comparisons t = 4.6041 is asked, and 3/√(1+1/n) never gets there.
func TestHowManyRunsWouldSettleIt(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	j := &judgement{x: 3, evidence: past.Evidence{Moments: stat.Moments{Mean: 0, SD: 1}}}
	for tests, want := range map[float64]int{1: 5, 10: 0} {
		j.tests = tests
		if got := enough(p, j); got != want {
			t.Errorf("%g tests: %d, want %d", tests, got, want)
		}
	}
	// At 1 % the six degrees of freedom that count at most ask for t = 3.1427, and four
	// for 3.7469: of 3.3 there are 3.1307 by nine runs and 3.1464 by ten.
	j.x, j.tests = 3.3, 5
	if got := enough(p, j); got != 10 {
		t.Errorf("%d runs, want 10", got)
	}
}

// Of a phone with few runs beside others the interval would be about the level of
// these: there is none.
func TestNoIntervalAboutOthersLevel(t *testing.T) {
	history := slices.Concat(gatetest.On("a", "frames.duration_ms", 8), gatetest.On("b", "frames.duration_ms", 10), gatetest.On("c", "frames.duration_ms", 10.1),
		gatetest.On("d", "frames.duration_ms", 9.9), gatetest.On("e", "frames.duration_ms", 10.2), gatetest.On("f", "frames.duration_ms", 10))
	c := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "frames.duration_ms", 8), history...).Comparisons[0]
	if gatetest.About(t, "expected", c.Expected, 8); c.Low != nil || c.High != nil {
		t.Errorf("%g is expected, from %v to %v; want 8 and no interval", c.Expected, c.Low, c.High)
	}
	if c = checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("new", "frames.duration_ms", 10), history...).Comparisons[0]; c.Low == nil {
		t.Error("a phone never seen has no interval")
	}
}
