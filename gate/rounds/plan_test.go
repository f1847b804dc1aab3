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

// At 1 % a tenth is 0.001, which needs 10 rounds with all signs alike (1/1024), and 11
// for more than that one order: 12 is the first look. The others lie by 40/12 = 3.33:
// 12·1.49 = 17.9, 12·2.23 = 26.8. Of ten questions a tenth is 0.0001: 14 rounds, 15, 16;
// 16·1.36 = 21.7, 16·1.84 = 29.5. To 60 by 5: 12·1.71 = 20.5, 21 and even;
// 12·2.92 = 35.1. Of few rounds there are fewer looks, and they share all.
func TestWhenAQuestionMayFail(t *testing.T) {
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

// What is known of the noise can exclude a worsening from the second round on.
func TestWhenAWorseningIsExcluded(t *testing.T) {
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

// Whatever is asked, the looks spend the false alarms and no more, lie in order, and
// each at which a question may fail could prove something; or the error names the least
// number of rounds that is taken.
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

func TestTooFewRoundsAreRefused(t *testing.T) {
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

// Where the time is spent before the last look, one at the end spends what is left.
func TestWhatIsUnspentIsSpentAtTheEnd(t *testing.T) {
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

// The end towards the better has the level at which a question failed last, or would first.
func TestEndsOfAnIntervalHaveTheLevelsOfTheLooks(t *testing.T) {
	plan := Plan{Most: 20, Looks: []Look{{8, 0, 0.1}, {10, 0.2, 0.15}, {14, 0, 0.1}, {20, 0.3, 0.25}}}
	for n, want := range map[int]Ends{6: {0.2, 0.1}, 8: {0.2, 0.1}, 10: {0.2, 0.15}, 14: {0.2, 0.1}, 19: {0.2, 0.1}, 20: {0.3, 0.25}} {
		if got := plan.ends(n, plan.until(n, false)); got != want {
			t.Errorf("after %d rounds %v, want %v", n, got, want)
		}
	}
	// One that ended there spends what is left: what it fails lies beyond no change.
	for n, want := range map[int]Ends{6: {0.5, 0.1}, 10: {0.5, 0.15}, 14: {0.3, 0.1}, 20: {0.3, 0.25}} {
		if got := plan.ends(n, plan.until(n, true)); got != want {
			t.Errorf("ended after %d rounds %v, want %v", n, got, want)
		}
	}
}
