package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

func TestADeviationInASentence(t *testing.T) {
	k := &check{policy: policy(t, PresetDefault), catalogue: metric.Default()}
	const ms = "frames.duration_ms"
	for want, d := range map[string]Comparison{
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
	for want, d := range map[string]Comparison{
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
	want := []Comparison{
		{Event: "1", Direction: ToRegression, Change: 0.5, P: 0.04},
		{Event: "2", Direction: ToRegression, Change: -0.3, P: 0.01},
		{Event: "3", Direction: ToRegression, Change: 0.9, AfterEffectOf: "1"},
		{Event: "4", Direction: Suspect, Change: 0.1, P: 0.1},
		{Event: "5", Direction: Suspect, Change: 0.9, P: 0.2},
		{Event: "6", Direction: ToImprovement, Change: -0.9, P: 0.04},
		{Event: "7", Direction: ToImprovement, Change: -0.2, P: 0.01},
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

// The number that a comparison is shown by: that of all contexts together, or where
// only some show it, the largest of these.
func TestABWhatADirectionRestsOn(t *testing.T) {
	in := func(context int, d Direction, change float64) ABContextShift {
		return ABContextShift{Context: context, Direction: d, ABShift: ABShift{Change: change}}
	}
	all := ABShift{Change: 0.01}
	for name, c := range map[string]struct {
		d    ABComparison
		in   int
		want float64
	}{
		"all together":                {ABComparison{Direction: ToRegression, Together: ToRegression, ABShift: all, Contexts: []ABContextShift{in(0, ToRegression, 0.5)}}, together, 0.01},
		"one context alone":           {ABComparison{Direction: ToRegression, Together: None, ABShift: all, Contexts: []ABContextShift{in(0, None, 0.9), in(1, ToRegression, 0.2)}}, 1, 0.2},
		"the larger of two":           {ABComparison{Direction: ToRegression, Together: Suspect, ABShift: all, Contexts: []ABContextShift{in(0, ToRegression, 0.2), in(1, ToRegression, -0.3), in(2, ToRegression, 0.1)}}, 1, -0.3},
		"less than all, and it alone": {ABComparison{Direction: ToRegression, Together: None, ABShift: all, Contexts: []ABContextShift{in(0, ToRegression, 0.001)}}, 0, 0.001},
		"there is one context alone":  {ABComparison{Direction: Suspect, Together: None, ABShift: all}, together, 0.01},
	} {
		if got := c.d.ShownIn(); got != c.in || c.d.Shown().Change != c.want {
			t.Errorf("%s: %g of context %d, want %g of %d", name, c.d.Shown().Change, got, c.want, c.in)
		}
	}
}

func TestABWhatWouldSettleIt(t *testing.T) {
	one, two := []*abStratum{{}}, []*abStratum{{}, {}}
	for want, c := range map[string]struct {
		s abScenario
		n int
	}{
		"about 8 rounds of each build would settle it":                                   {abScenario{unit: ABRound, strata: one}, 8},
		"about 1 run of each build on each device would settle it":                       {abScenario{unit: ABRun, strata: two}, 1},
		"measure more rounds, or on a calmer device":                                     {abScenario{unit: ABRound, strata: one}, 0},
		"compare the builds in rounds (apkgate compare), or by runs of several sessions": {abScenario{unit: ABIteration, strata: one}, 8},
	} {
		if got := c.s.settle(c.n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Three rounds, one comparison: five are the first to find 1/32 below 0.05. Of ten
	// comparisons eight find 1/256 below 0.005.
	three := list(repeated("b", "s", "a", rising(3, 1)...))
	v := compareAB(t, three, list(repeated("h", "s", "a", rising(3, 1)...)))
	if !strings.HasPrefix(v.Hint, "about 5 rounds") {
		t.Errorf("%q, want five rounds", v.Hint)
	}
	s := abScenario{}
	for range 10 {
		s.tests = append(s.tests, &abTest{number: 1, contexts: 1, paired: true})
	}
	if n := s.voice(policy(t, PresetDefault)); n != 8 {
		t.Errorf("%d rounds could prove one of ten, want 8", n)
	}
}

// In the fine grain only events are judged, and a pass is worth what they show.
func TestTheFineGrainPassesByEventsAlone(t *testing.T) {
	p := policy(t, PresetDefault)
	p.Grain = Fine
	history := steady(10, nil, 8, "E1", "E2")
	now := history[1]
	now.ID = "new"
	v := checkOne(p, now, history...)
	if v.Verdict != Pass || len(v.Comparisons) != 2 || v.Reason != "nothing deviates in 2 comparisons" || len(v.Warnings) != 0 {
		t.Errorf("%s: %s; %d comparisons, warnings %v", v.Verdict, v.Reason, len(v.Comparisons), v.Warnings)
	}
	few := checkOne(p, now, history[:3]...)
	if few.Verdict != Inconclusive {
		t.Errorf("of three runs %s: %s", few.Verdict, few.Reason)
	}
	p.Grain = Coarse
	if v := checkOne(p, now, history...); len(v.Comparisons) != 1 || v.Comparisons[0].Event != "" {
		t.Errorf("the coarse grain compares %d numbers", len(v.Comparisons))
	}
}

// Student's t: one value lies 3 standard deviations above five like it. At 5 % one
// needs t = 2.1318 with four degrees of freedom, and there are 3/√1.2 = 2.7386: five
// are enough. Of ten comparisons t = 4.6041 is asked, and 3/√(1+1/n) never gets there.
func TestHowManyRunsWouldSettleIt(t *testing.T) {
	p := policy(t, PresetDefault)
	j := &judgement{x: 3, evidence: evidence{moments: stat.Moments{Mean: 0, SD: 1}}}
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
	history := slices.Concat(on("a", "frames.duration_ms", 8), on("b", "frames.duration_ms", 10), on("c", "frames.duration_ms", 10.1),
		on("d", "frames.duration_ms", 9.9), on("e", "frames.duration_ms", 10.2), on("f", "frames.duration_ms", 10))
	c := checkOne(policy(t, PresetDefault), nearly("a", "frames.duration_ms", 8), history...).Comparisons[0]
	if about(t, "expected", c.Expected, 8); c.Low != nil || c.High != nil {
		t.Errorf("%g is expected, from %v to %v; want 8 and no interval", c.Expected, c.Low, c.High)
	}
	if c = checkOne(policy(t, PresetDefault), nearly("new", "frames.duration_ms", 10), history...).Comparisons[0]; c.Low == nil {
		t.Error("a phone never seen has no interval")
	}
}

// Two metrics creep for the worse, each its own way: both are of one family.
func TestDriftCorrectsTheWorseSideTogether(t *testing.T) {
	line := func(metricName string, rising, falling, change float64) *driftTest {
		m, _ := metric.Default().Lookup(metricName)
		d := &driftTest{metric: m, cell: run.Cell{Metric: metricName}, trend: stat.Drift{Rising: rising, Falling: falling}}
		d.Direction, d.P, d.Creep = None, 1, &DriftShift{From: 100, Change: change, Shift: 100 * change}
		return d
	}
	frames, cpu := line("frames.count", 0.999, 0.001, -0.2), line("cpu.time_ms", 0.002, 0.998, 0.2)
	alone := line("cpu.time_ms", 0.004, 0.996, 0.2)
	alone.Context = map[string]string{"model": "a"}
	d := drift{policy: policy(t, PresetDefault), tests: []*driftTest{frames, cpu, alone}}
	d.correct(false)
	d.correct(true)
	// Half of the false alarms for all together, half for each alone; Holm over two.
	about(t, "frames", frames.P, 0.004)
	about(t, "CPU time", cpu.P, 0.004)
	about(t, "CPU time of one phone", alone.P, 0.008)
	for _, l := range d.tests {
		if l.Direction != ToRegression {
			t.Errorf("%s: %s", l.cell.Metric, l.Direction)
		}
	}
}
