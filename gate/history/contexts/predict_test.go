package contexts

import (
	"fmt"
	"math"
	"slices"
	"testing"

	devctx "github.com/apkgate/apkgate/context"
)

// aPrior is 15 % for another Android and 57 % for another phone.
var aPrior = Prior{System: 0.15, Device: 0.57, Session: 0.1}

// phoneOn returns the context of a phone on an Android.
func phoneOn(model, sdk string) devctx.Properties {
	return devctx.Properties{"model": model, "sdk": sdk}
}

// even returns so many runs about a level, 1 % apart.
func even(level float64) []float64 { return []float64{level - 0.01, level, level + 0.01} }

// The prediction for a new Android is the same phone's level before it, and not another's, with the
// prior's width where no Android change was seen.
func TestPredictNewAndroid(t *testing.T) {
	c := With([]devctx.Properties{phoneOn("a", "15"), phoneOn("b", "15")}, phoneOn("a", "16"))
	p, known := c.Predict(2, [][]float64{even(2), even(3), nil}, aPrior)
	if !known || math.Abs(p.Centre-2) > 1e-9 || math.Abs(p.SD-0.15) > 0.01 || p.DF != 8 || !slices.Equal(p.Unlike, []string{"sdk"}) || p.Runs != 3 {
		t.Errorf("%+v, %t; want 2 ± 0.15 by the three runs of the phone", p, known)
	}
	if p.Session < 0.005 || p.Session > 0.02 {
		t.Errorf("sessions differ by %g, want 0.01", p.Session)
	}
	// With one run each it is unknown how much sessions differ.
	p, known = c.Predict(2, [][]float64{{2}, {3}, nil}, aPrior)
	if !known || p.Session != 0.1 || math.Abs(p.SD-math.Hypot(0.15, 0.1)) > 1e-9 {
		t.Errorf("by one run: %+v, %t; want what the prior has", p, known)
	}
}

// A new phone may be anywhere within the range of phones, until many have shown that they agree.
func TestPredictNewPhone(t *testing.T) {
	c := With([]devctx.Properties{phoneOn("a", "15")}, phoneOn("b", "15"))
	p, known := c.Predict(1, [][]float64{even(2), nil}, aPrior)
	if !known || math.Abs(p.SD-0.57) > 0.01 || p.DF != 4 {
		t.Errorf("%+v, %t; want ± 0.57", p, known)
	}
	var many []devctx.Properties
	var groups [][]float64
	for i := range 21 {
		many, groups = append(many, phoneOn(fmt.Sprint(i), "15")), append(groups, even(2+0.01*float64(i%3)))
	}
	p, known = With(many, phoneOn("b", "15")).Predict(21, append(groups, nil), aPrior)
	// The prior's 4 draws and 20 with almost no difference.
	if want := 0.57 * math.Sqrt(4.0/24); !known || math.Abs(p.SD-want) > 0.03 || p.DF != 24 {
		t.Errorf("%+v, %t; want ± %.3f", p, known, want)
	}
}

// Androids that made a large difference before may do so again; each is one draw, however many
// phones have it.
func TestPredictAfterAndroidsDiffered(t *testing.T) {
	var seen []devctx.Properties
	var groups [][]float64
	for i := range 10 {
		for k, sdk := range []string{"14", "15"} {
			seen, groups = append(seen, phoneOn(fmt.Sprint(i), sdk)), append(groups, even(float64(i)+0.6*float64(k)))
		}
	}
	p, known := With(seen, phoneOn("3", "16")).Predict(20, append(groups, nil), aPrior)
	if want := math.Sqrt((8*0.15*0.15 + 0.6*0.6) / 9); !known || math.Abs(p.SD-want) > 0.02 || p.DF != 9 {
		t.Errorf("%+v, %t; want ± %.3f by nine draws", p, known, want)
	}
}

// Where no two contexts differ in the property only, those that differ in more limit its effect,
// and never widen it.
func TestPredictLimitedByContextsUnlikeInMore(t *testing.T) {
	for _, apart := range []float64{0.001, 1} {
		var seen []devctx.Properties
		var groups [][]float64
		for i := range 9 {
			seen, groups = append(seen, phoneOn(fmt.Sprint(i), fmt.Sprint(i))), append(groups, even(apart*float64(i)))
		}
		p, known := With(seen, phoneOn("3", "16")).Predict(9, append(groups, nil), aPrior)
		want, df := 0.15, 8.0
		if apart < 0.1 {
			want, df = 0.15*math.Sqrt(0.5), 16
		}
		if !known || math.Abs(p.SD-want) > 0.02 || p.DF != df {
			t.Errorf("%g apart: %+v, %t; want ± %.3f by %g draws", apart, p, known, want, df)
		}
	}
}

// The chance is two-sided if requested, heavier than normal, and wider by the run's own noise.
func TestPredictedChance(t *testing.T) {
	p := Predicted{LevelEstimate: LevelEstimate{Centre: 2, SD: 0.3}, Session: 0.4, DF: 8}
	// Student's t of 8 degrees of freedom is above 2.306 in 2.5 %.
	for _, c := range []struct {
		x, noise float64
		above    bool
		want     float64
	}{{2 + 2.306*0.5, 0, true, 0.025}, {2 - 2.306*0.5, 0, false, 0.025}, {2, 0, true, 0.5}, {2 + 2.306*1.3, 1.2, true, 0.025}} {
		if got := p.Chance(c.x, c.noise, c.above); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%+v: %g", c, got)
		}
	}
	if got := p.Reach(0.025, 1.2); math.Abs(got-2.306*1.3) > 1e-3 {
		t.Errorf("reaches %g, want %g", got, 2.306*1.3)
	}
}

// Phones on one new Android share its draw; those on two don't, nor do two new phones.
func TestPredictedCorrelation(t *testing.T) {
	seen := []devctx.Properties{phoneOn("a", "15"), phoneOn("b", "15")}
	groups := [][]float64{even(2), even(2), nil}
	predict := func(own devctx.Properties) Predicted {
		p, known := With(seen, own).Predict(2, groups, aPrior)
		if !known {
			t.Fatalf("nothing is expected of %v", own)
		}
		return p
	}
	a16, b16, b17 := predict(phoneOn("a", "16")), predict(phoneOn("b", "16")), predict(phoneOn("b", "17"))
	if got := a16.Correlation(b16, 0); got < 0.95 || got > 1 {
		t.Errorf("correlation %g on one new Android, want nearly 1", got)
	}
	if got, want := a16.Correlation(b16, a16.SD), 0.5; math.Abs(got-want) > 0.01 {
		t.Errorf("correlation %g with as much noise, want %g", got, want)
	}
	if got := a16.Correlation(b17, 0); got != 0 {
		t.Errorf("correlation %g on two new Androids", got)
	}
	if got := predict(phoneOn("c", "15")).Correlation(predict(phoneOn("d", "15")), 0); got != 0 {
		t.Errorf("correlation %g of two new phones", got)
	}
}

// Of two predictions that share a draw one may be surer: the shared error is limited to its own,
// 0.3² of the 0.3·0.5 that they vary by.
func TestCorrelationWithWiderPrediction(t *testing.T) {
	android := []property{{"sdk", "16"}}
	sure, wide := Predicted{LevelEstimate: LevelEstimate{SD: 0.3}, new: android}, Predicted{LevelEstimate: LevelEstimate{SD: 0.5}, new: android}
	for _, got := range []float64{sure.Correlation(wide, 0), wide.Correlation(sure, 0)} {
		if math.Abs(got-0.6) > 1e-12 {
			t.Errorf("correlation %g, want 0.6", got)
		}
	}
}

func TestPredictUnknown(t *testing.T) {
	c := With([]devctx.Properties{phoneOn("a", "15")}, phoneOn("a", "16"))
	for name, groups := range map[string][][]float64{
		"of no run":         {nil, nil},
		"of infinite ones":  {{math.Inf(1)}, nil},
		"of infinite pairs": {{math.Inf(1), 1}, nil},
	} {
		if p, known := c.Predict(1, groups, aPrior); known {
			t.Errorf("%s: %+v", name, p)
		}
	}
	three := With([]devctx.Properties{phoneOn("a", "15"), phoneOn("a", "14"), phoneOn("b", "15")}, phoneOn("a", "16"))
	for name, groups := range map[string][][]float64{
		"of an infinite one beside others": {{math.Inf(1)}, even(2), even(2), nil},
		"of two that are infinite":         {{math.Inf(1)}, {math.Inf(-1)}, even(2), nil},
	} {
		if p, known := three.Predict(3, groups, aPrior); known {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
