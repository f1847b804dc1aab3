package rounds

import (
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
)

func strictly(t *testing.T) gate.Policy {
	t.Helper()
	p, _ := gate.PolicyOf(gate.PresetDefault)
	p.Alpha = 0.01
	return p
}

// At 1 % a tenth is 0.001, which needs 10 rounds with all signs equal (1/1024), and 11 for more
// than that one order: 12 is the first look. The others lie by 40/12 = 3.33: 12·1.49 = 17.9,
// 12·2.23 = 26.8. With ten questions a tenth is 0.0001: 14 rounds, 15, 16; 16·1.36 = 21.7, 16·1.84
// = 29.5. To 60 by 5: 12·1.71 = 20.5, 21 and even; 12·2.92 = 35.1. With few rounds there are fewer
// looks, which share everything.
func TestPlanOf(t *testing.T) {
	p := strictly(t)
	for _, c := range []struct {
		most, questions int
		want            map[int]float64
	}{
		{40, 1, map[int]float64{12: 0.001, 18: 0.001, 28: 0.002, 40: 0.006}},
		{60, 1, map[int]float64{12: 0.001, 22: 0.001, 36: 0.002, 60: 0.006}},
		{40, 10, map[int]float64{16: 0.001, 22: 0.001, 30: 0.002, 40: 0.006}},
		{40, 0, map[int]float64{12: 0.001, 18: 0.001, 28: 0.002, 40: 0.006}},
		{41, 1, map[int]float64{12: 0.001, 18: 0.001, 28: 0.002, 41: 0.006}},
		{16, 1, map[int]float64{12: 0.01 / 9, 14: 0.02 / 9, 16: 0.06 / 9}},
		{14, 1, map[int]float64{10: 0.0025, 14: 0.0075}},
		{10, 1, map[int]float64{10: 0.01}},
		{7, 1, map[int]float64{7: 0.01}},
	} {
		plan, err := PlanOf(p, c.most, c.questions)
		if err != nil {
			t.Errorf("%d rounds: %v", c.most, err)
			continue
		}
		fails := map[int]float64{}
		for _, look := range plan.Looks {
			if look.Fail > 0 {
				fails[look.Rounds] = math.Round(1e9*look.Fail) / 1e9
			}
		}
		for n, level := range c.want {
			c.want[n] = math.Round(1e9*level) / 1e9
		}
		if !maps.Equal(fails, c.want) || plan.Most != c.most {
			t.Errorf("%d rounds, %d questions: %v, want %v", c.most, c.questions, fails, c.want)
		}
	}
}

// Nine tenths of 1 % are 0.0009 for each of ten questions, and a tenth of that needs 14 rounds with
// all signs equal (1/16384), and 15 for more than that one order: 16 is the first look. Where there
// is time for fewer, the plan is for these alone if they can prove 0.0009, as 11 can (1/2048) and
// nine can't. A second part has a twentieth of 1 %: 0.00005 needs 15 rounds (1/32768), a tenth of
// it 18, so that 20 is its first look; earlier rounds count.
func TestPlanWithin(t *testing.T) {
	for _, c := range []struct{ parts, before, fit, want int }{
		{0, 0, 30, 60}, {0, 0, 16, 60}, {0, 0, 15, 15}, {0, 0, 12, 12}, {0, 0, 11, 11}, {0, 0, 9, 60},
		{1, 12, 12, 72}, {1, 12, 5, 17}, {1, 2, 9, 62},
	} {
		plan, err := PlanWithin(strictly(t), c.parts, c.before, 60, c.fit, 10)
		if err != nil || plan.Most != c.want {
			t.Errorf("time for %d rounds after %d: planned are %d, want %d (%v)", c.fit, c.before, plan.Most, c.want, err)
		}
		if c.want == c.before+c.fit && plan.firstFail() > c.want {
			t.Errorf("time for %d rounds after %d: none may fail", c.fit, c.before)
		}
	}
	// Twelve rounds prove 1/4096: 0.009 of 36 questions is more, of 37 it is less.
	for questions, want := range map[int]int{36: 12, 37: 60} {
		if plan, err := PlanWithin(strictly(t), 0, 0, 60, 12, questions); err != nil || plan.Most != want {
			t.Errorf("%d questions: planned are %d rounds, want %d (%v)", questions, plan.Most, want, err)
		}
	}
	if _, err := PlanWithin(strictly(t), 0, 0, 9, 30, 10); err == nil {
		t.Error("nine rounds of ten questions are taken")
	}
}

// With known noise a worsening can be excluded from the second round on.
func TestPlanPassLooks(t *testing.T) {
	for most, want := range map[int][]int{13: {2, 4, 6, 8, 10, 12, 13}, 12: {2, 4, 6, 8, 10, 12}, 8: {2, 4, 6, 8}, 7: {2, 4, 6, 7}} {
		plan, err := PlanOf(strictly(t), most, 1)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, look := range plan.Looks {
			got = append(got, look.Rounds)
			if look.Pass != 0.005 {
				t.Errorf("after %d rounds at %g", look.Rounds, look.Pass)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d rounds: looks at %v, want %v", most, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%d rounds: looks at %v, want %v", most, got, want)
			}
		}
	}
}

// Whatever the arguments, the looks spend exactly the false alarms, are in order, and each at which
// a question may fail could prove something; or the error names the least number of rounds that is
// accepted.
func TestPlansKeepFalseAlarms(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.01, 0.05} {
		for _, questions := range []int{1, 2, 10, 80, 1000} {
			taken := false
			for most := range 100 {
				p := strictly(t)
				p.Alpha = alpha
				plan, err := PlanOf(p, most, questions)
				if err != nil {
					if taken {
						t.Fatalf("%d rounds are refused, and fewer are not", most)
					}
					continue
				}
				if can := math.Exp2(-float64(most)) <= alpha/float64(questions); !can {
					t.Fatalf("%d rounds can't prove anything of %d questions at %g", most, questions, alpha)
				}
				if least := math.Exp2(-float64(most)); !taken && least*2 <= alpha/float64(questions) {
					t.Errorf("%d rounds are the first that are taken, one less can prove %g", most, least*2)
				}
				taken = true
				sum, last := 0.0, 0
				for _, look := range plan.Looks {
					if look.Rounds <= last || look.Rounds > most {
						t.Fatalf("%d rounds: a look at %d after %d", most, look.Rounds, last)
					}
					last = look.Rounds
					sum += look.Fail
					if look.Fail > 0 && math.Exp2(-float64(look.Rounds)) > look.Fail/float64(questions) {
						t.Errorf("after %d rounds %g of %d questions can't be proven", look.Rounds, look.Fail, questions)
					}
				}
				if math.Abs(sum/alpha-1) > 1e-9 || last != most {
					t.Errorf("%d rounds spend %g of %g, the last look at %d", most, sum, alpha, last)
				}
			}
		}
	}
}

func TestPlanOfTooFewRounds(t *testing.T) {
	_, err := PlanOf(strictly(t), 12, 80)
	if err == nil || err.Error() != "12 rounds at most can't keep false alarms at 1 % for 80 comparisons: want at least 13" {
		t.Errorf("%v", err)
	}
	if _, err := PlanOf(strictly(t), 1, 1); err == nil || !strings.HasPrefix(err.Error(), "1 round at most") || !strings.Contains(err.Error(), "for 1 comparison: want at least 7") {
		t.Errorf("%v", err)
	}
	dune, _ := gate.PolicyOf(gate.PresetDune) // which sets no level: the default's counts
	if _, err := PlanOf(dune, 3, 1); err == nil {
		t.Error("three rounds are taken")
	}
}

// The first part of rounds may spend nine tenths of the false alarms, the next a twentieth, and
// each one after it half of that: they are kept however often rounds are continued. Earlier rounds
// count towards the maximum.
func TestPlanAfter(t *testing.T) {
	for parts, want := range []float64{0.009, 0.0005, 0.00025, 0.000125} {
		plan, err := PlanAfter(strictly(t), parts, 12*parts, 40, 1)
		if err != nil {
			t.Fatal(err)
		}
		spent := 0.0
		for _, look := range plan.Looks {
			spent += look.Fail
		}
		if math.Abs(spent/want-1) > 1e-9 || plan.Most != 40+12*parts {
			t.Errorf("after %d parts: %d rounds spend %g, want %d and %g", parts, plan.Most, spent, 40+12*parts, want)
		}
	}
}

// Where the time runs out before the last look, a final look spends what is left.
func TestPlanUntil(t *testing.T) {
	plan := Plan{Most: 20, Looks: []Look{{8, 0, 0.1}, {10, 0.2, 0.1}, {20, 0.3, 0.1}}}
	for name, c := range map[string]struct {
		measured int
		ended    bool
		want     []Look
	}{
		"going on":           {12, false, plan.Looks[:2]},
		"ended between":      {12, true, []Look{{8, 0, 0.1}, {10, 0.2, 0.1}, {12, 0.3, PassLevel}}},
		"ended at a look":    {10, true, []Look{{8, 0, 0.1}, {10, 0.5, 0.1}}},
		"ended at the last":  {20, true, plan.Looks},
		"ended at none":      {0, true, nil},
		"ended before any":   {3, true, []Look{{3, 0.5, PassLevel}}},
		"nothing so far":     {0, false, nil},
		"as far as the last": {20, false, plan.Looks},
	} {
		got := plan.until(c.measured, c.ended)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i, look := range got {
			if look != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
	if plan.Looks[1].Fail != 0.2 {
		t.Error("the plan itself was changed")
	}
}

// The better end has the level of the look at which a question could last fail, or will first.
func TestPlanEnds(t *testing.T) {
	plan := Plan{Most: 20, Looks: []Look{{8, 0, 0.1}, {10, 0.2, 0.15}, {14, 0, 0.1}, {20, 0.3, 0.25}}}
	for n, want := range map[int]Ends{6: {0.2, 0.1}, 8: {0.2, 0.1}, 10: {0.2, 0.15}, 14: {0.2, 0.1}, 19: {0.2, 0.1}, 20: {0.3, 0.25}} {
		if got := plan.ends(n, plan.until(n, false)); got != want {
			t.Errorf("after %d rounds %v, want %v", n, got, want)
		}
	}
	// A trial that ended there spends what is left: the interval of what it fails lies beyond no
	// change.
	for n, want := range map[int]Ends{6: {0.5, 0.1}, 10: {0.5, 0.15}, 14: {0.3, 0.1}, 20: {0.3, 0.25}} {
		if got := plan.ends(n, plan.until(n, true)); got != want {
			t.Errorf("ended after %d rounds %v, want %v", n, got, want)
		}
	}
}
