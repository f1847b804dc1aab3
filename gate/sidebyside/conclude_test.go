package sidebyside

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
)

// A comparison shows the shift of all contexts together, or where only some show it, the largest of
// these.
func TestShown(t *testing.T) {
	in := func(context int, d gate.Direction, change float64) ContextDifference {
		return ContextDifference{Context: context, Direction: d, Difference: Difference{Change: change}}
	}
	all := Difference{Change: 0.01}
	for name, c := range map[string]struct {
		d    Comparison
		in   int
		want float64
	}{
		"all together":                {Comparison{Direction: gate.ToRegression, Together: gate.ToRegression, Difference: all, Contexts: []ContextDifference{in(0, gate.ToRegression, 0.5)}}, together, 0.01},
		"one context alone":           {Comparison{Direction: gate.ToRegression, Together: gate.None, Difference: all, Contexts: []ContextDifference{in(0, gate.None, 0.9), in(1, gate.ToRegression, 0.2)}}, 1, 0.2},
		"the larger of two":           {Comparison{Direction: gate.ToRegression, Together: gate.Suspect, Difference: all, Contexts: []ContextDifference{in(0, gate.ToRegression, 0.2), in(1, gate.ToRegression, -0.3), in(2, gate.ToRegression, 0.1)}}, 1, -0.3},
		"less than all, and it alone": {Comparison{Direction: gate.ToRegression, Together: gate.None, Difference: all, Contexts: []ContextDifference{in(0, gate.ToRegression, 0.001)}}, 0, 0.001},
		"there is one context alone":  {Comparison{Direction: gate.Suspect, Together: gate.None, Difference: all}, together, 0.01},
	} {
		if got := c.d.ShownIn(); got != c.in || c.d.Shown().Change != c.want {
			t.Errorf("%s: %g of context %d, want %g of %d", name, c.d.Shown().Change, got, c.want, c.in)
		}
	}
}

func TestSettlingHint(t *testing.T) {
	one, two := []*stratum{{}}, []*stratum{{}, {}}
	for want, c := range map[string]struct {
		s scenario
		n int
	}{
		"about 8 rounds of each build would settle it":                                   {scenario{unit: Round, strata: one}, 8},
		"about 1 run of each build on each device would settle it":                       {scenario{unit: Run, strata: two}, 1},
		"measure more rounds, or on a calmer device":                                     {scenario{unit: Round, strata: one}, 0},
		"compare the builds in rounds (apkgate compare), or by runs of several sessions": {scenario{unit: Iteration, strata: one}, 8},
	} {
		if got := c.s.settle(c.n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Three rounds, one comparison: five are the first to reach 1/32 below 0.05. For ten
	// comparisons eight reach 1/256 below 0.005.
	three := gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(3, 1)...))
	v := compareBoth(t, three, gatetest.Runs(gatetest.Repeated("h", "s", "a", gatetest.Rising(3, 1)...)))
	if !strings.HasPrefix(v.Hint, "about 5 rounds") {
		t.Errorf("%q, want five rounds", v.Hint)
	}
	s := scenario{}
	for range 10 {
		s.tests = append(s.tests, &test{number: 1, contexts: 1, paired: true})
	}
	if n := s.leastUnits(gatetest.Lenient(t)); n != 8 {
		t.Errorf("%d rounds could prove one of ten, want 8", n)
	}
}
