package history

import (
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/stat"
)

func TestWhatWouldSettleADoubt(t *testing.T) {
	for want, d := range map[string]gate.Comparison{
		"about 8 accepted runs in this context": {Enough: 8}, "about 5 accepted runs in this context": {Enough: 3},
		"accept more runs in this context, or measure this one again": {},
	} {
		if got := settle(d, 5); got != want {
			t.Errorf("%q, want %q", got, want)
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
