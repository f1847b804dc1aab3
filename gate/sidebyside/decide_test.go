package sidebyside

import (
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// tested returns a test of time per frame that has the chance p on the worse side, and could have
// reached least.
func tested(event string, alone bool, p, least float64) *test {
	m, _ := metric.Default().Lookup("frames.duration_ms")
	t := &test{cell: run.Cell{Event: event, Metric: m.Name}, metric: m, alone: alone, perBuild: 10, contexts: 1, paired: true}
	t.ranks = stat.RankTest{Greater: p, Less: 1 - p, Least: least}
	t.leastApart = least
	t.PRaw, t.P, t.Direction = p, 1, gate.None
	t.minChange, t.surely, t.number = 0.05, 0.05, 1
	t.Base, t.Head, t.Shift, t.Change = 10, 12, 2, 0.2
	return t
}

// Whole runs and events have half of the false alarms each, each context alone and all together
// half of that; Holm multiplies within these.
func TestCorrectionByHand(t *testing.T) {
	const least = 0.0001
	for name, c := range map[string]struct {
		tests []*test
		want  []float64
	}{
		"one":                         {[]*test{tested("", false, 0.01, least)}, []float64{0.01}},
		"two":                         {[]*test{tested("", false, 0.01, least), tested("", false, 0.03, least)}, []float64{0.02, 0.03}},
		"a whole run and an event":    {[]*test{tested("", false, 0.01, least), tested("E", false, 0.02, least)}, []float64{0.02, 0.04}},
		"events alone":                {[]*test{tested("E", false, 0.01, least), tested("F", false, 0.02, least)}, []float64{0.02, 0.02}},
		"two contexts":                {[]*test{tested("", false, 0.01, least), tested("", true, 0.01, least), tested("", true, 0.03, least)}, []float64{0.02, 0.04, 0.06}},
		"two contexts, events":        {[]*test{tested("", false, 0.01, least), tested("", true, 0.01, least), tested("E", false, 0.005, least)}, []float64{0.04, 0.04, 0.02}},
		"one that could find nothing": {[]*test{tested("", false, 0.01, least), tested("", false, 0.3, 0.3)}, []float64{0.01, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &comparing{policy: gatetest.Lenient(t), scenarios: []*scenario{{tests: c.tests}}}
			k.correct()
			for i, test := range c.tests {
				gatetest.About(t, "P", test.P, c.want[i])
			}
		})
	}
	better := tested("", false, 0.01, least)
	better.ranks.Less, better.ranks.Greater = better.ranks.Greater, better.ranks.Less
	k := &comparing{policy: gatetest.Lenient(t), scenarios: []*scenario{{tests: []*test{tested("", false, 0.02, least), better}}}}
	k.correct()
	gatetest.About(t, "P of what is better", better.P, 0.02)
}

func TestDirections(t *testing.T) {
	for name, c := range map[string]struct {
		p, least, change float64
		set              func(*test)
		want             gate.Direction
		settles          bool
	}{
		"sure and large":                    {0.01, 0.001, 0.2, nil, gate.ToRegression, false},
		"sure and small":                    {0.01, 0.001, 0.04, nil, gate.None, false},
		"large and nearly sure":             {0.08, 0.001, 0.2, nil, gate.Suspect, true},
		"small and nearly sure":             {0.08, 0.001, 0.04, nil, gate.None, false},
		"large and not sure":                {0.11, 0.001, 0.2, nil, gate.None, false},
		"as far as it could go":             {0.25, 0.25, 0.2, nil, gate.Suspect, true},
		"short of as far as it could":       {0.375, 0.25, 0.2, nil, gate.None, false},
		"as far, and 9 % is no doubt":       {0.25, 0.25, 0.09, nil, gate.None, false},
		"better and nearly sure":            {0.92, 0.001, -0.2, nil, gate.None, false},
		"better and sure":                   {0.99, 0.001, -0.2, nil, gate.ToImprovement, false},
		"a shift against the ranks":         {0.01, 0.001, -0.2, nil, gate.None, false},
		"below what the metric resolves":    {0.01, 0.001, 0.2, func(t *test) { t.Shift = 0.009 }, gate.None, false},
		"as far, and it is not resolved":    {0.25, 0.25, 0.2, func(t *test) { t.Shift = 0.009 }, gate.None, false},
		"one session tells no builds apart": {0.01, 0.001, 0.2, func(t *test) { t.minChange, t.surely = 0.1, 0.25 }, gate.Suspect, false},
		"beyond a budget":                   {0.9, 0.001, 0, func(t *test) { t.Limit = new(11.0) }, gate.ToRegression, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := tested("", false, c.p, c.least)
			got.Change, got.Shift = c.change, 10*c.change
			if c.set != nil {
				c.set(got)
			}
			p := gatetest.Lenient(t)
			correctTests([]*test{got}, 1, p.Alpha)
			decide(p, got)
			if got.Direction != c.want || (got.enough > 0) != c.settles {
				t.Errorf("%s, settled by %d; want %s", got.Direction, got.enough, c.want)
			}
		})
	}
}

// The score of a rank test grows with the root of the number: 1.4051 (p = 0.08) for ten rounds
// becomes 1.6449 (p = 0.05) at 13.7. Where one of 40 comparisons has 0.005, 2.5758, it takes 33.6.
func TestEnoughRounds(t *testing.T) {
	p := gatetest.Lenient(t)
	for name, c := range map[string]struct {
		set  func(*test)
		want int
	}{
		"ten rounds at 0.08":              {func(t *test) { t.number = 1 }, 14},
		"ten rounds, ten comparisons":     {func(t *test) { t.number = 10 }, 34},
		"three rounds, as far as they go": {func(t *test) { t.PRaw, t.perBuild, t.number = 0.125, 3, 1 }, 7},
		// 2^-5 is the first below 0.05.
		"three rounds that leave no doubt": {func(t *test) { t.PRaw, t.perBuild, t.number = 0.001, 3, 1 }, 5},
		// 1/C(8,4) = 1/70 is the first below 0.05 for runs; 1/C(6,3) is exactly 0.05.
		"two runs that leave no doubt": {func(t *test) { t.PRaw, t.perBuild, t.number, t.paired = 0.001, 2, 1, false }, 3},
		"two runs on two phones":       {func(t *test) { t.PRaw, t.perBuild, t.number, t.paired, t.contexts = 0.001, 2, 10, false, 2 }, 3},
		"as likely as not":             {func(t *test) { t.PRaw = 0.5 }, 0},
		"more than two hundred":        {func(t *test) { t.PRaw, t.number = 0.4, 100 }, 0},
	} {
		got := tested("", false, 0.08, 0.001)
		c.set(got)
		if n := enough(p, got); n != c.want {
			t.Errorf("%s: %d, want %d", name, n, c.want)
		}
	}
	gatetest.About(t, "least of six pairs", leastOf(6, true), 1.0/64)
	gatetest.About(t, "least of four and four", leastOf(4, false), 1.0/70)
	gatetest.About(t, "least of three and six, twice", leastApart([]stat.Pair{{X: make([]float64, 3), Y: make([]float64, 6)}, {X: make([]float64, 1), Y: make([]float64, 1)}}, false), 1.0/168)
	gatetest.About(t, "least of two and three pairs", leastApart([]stat.Pair{{X: make([]float64, 2)}, {X: make([]float64, 3)}}, true), 1.0/32)
}

// One run of each build on each of six phones are paired; with two of one build on a phone they are
// not.
func TestRunsOfSeveralDevicesArePaired(t *testing.T) {
	var base, head []run.Run
	for i := range 6 {
		level := 8 * math.Exp(0.3*float64(i)) // the phones differ far more than the builds
		model := string(rune('a' + i))
		base, head = append(base, gatetest.Repeated("b"+model, "", model, level)), append(head, gatetest.Repeated("h"+model, "", model, 1.1*level))
	}
	v := compareBoth(t, base, head)
	d := v.Scenarios[0].Comparisons[0]
	if v.Verdict != gate.Regression || v.Scenarios[0].Unit != Run || d.N != 6 || math.Abs(d.PRaw-1.0/64) > 1e-9 {
		t.Errorf("%s: %s; %+v", v.Verdict, v.Reason, d)
	}
	v = compareBoth(t, append(base, gatetest.Repeated("again", "", "a", 8)), head)
	if d := v.Scenarios[0].Comparisons[0]; d.N != 13 {
		t.Errorf("%d values, want the 13 runs", d.N)
	}
}

// The gravest of several scenarios is the verdict, and its reason names the scenario.
func TestGravestScenario(t *testing.T) {
	of := func(scenario string, r run.Run) run.Run { r.Scenario = scenario; return r }
	for _, order := range [][2]string{{"scroll", "start"}, {"start", "scroll"}} {
		var base, head []run.Run
		for _, name := range order {
			factor := map[string]float64{"scroll": 1.3, "start": 1}[name]
			base = append(base, of(name, gatetest.Repeated("b"+name, "s", "a", gatetest.Rising(12, 1)...)))
			head = append(head, of(name, gatetest.Repeated("h"+name, "s", "a", gatetest.Rising(12, factor)...)))
		}
		v := compareBoth(t, base, head)
		if v.Verdict != gate.Regression || !strings.HasPrefix(v.Reason, "scroll: ") || len(v.Scenarios) != 2 {
			t.Errorf("%q: %s: %s", order, v.Verdict, v.Reason)
		}
	}
}

// The largest possible worsening follows the direction of the metric.
func TestWorstCaseWhereHigherIsBetter(t *testing.T) {
	base, head := gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(10, 1)...)), gatetest.Runs(gatetest.Repeated("h", "s", "a", gatetest.Rising(10, 1.02)...))
	for i := range head[0].Iterations { // half of the rounds are 1 % faster
		if i%2 == 0 {
			head[0].Iterations[i].Metrics["frames.duration_ms"] *= 0.99 / 1.02
		}
	}
	v := Compare(gatetest.Lenient(t), frameRate(t), asRate(base), asRate(head))
	// Two per cent more time are 1.96 % fewer frames a second.
	if v.Verdict != gate.Pass || !strings.Contains(v.Reason, "worse by at most 2.0 % (frames a second)") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}
