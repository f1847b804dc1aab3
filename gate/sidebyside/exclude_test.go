package sidebyside

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// wavering returns a build of n rounds whose values swing up and down by the share: the base's the
// other way round, so that the differences swing by twice that.
func wavering(id, session string, n int, event bool, swing float64) []run.Run {
	r := gatetest.Repeated(id, session, "a", make([]float64, n)...)
	for i := range r.Iterations {
		level := 10 * (1 + swing*[]float64{1, -1}[i%2]*(1+0.001*float64(i)))
		r.Iterations[i].Metrics["frames.duration_ms"] = level
		if event {
			r.Iterations[i].Metrics["frames.duration_ms"] = 10
			r.Iterations[i].Events = []run.Bucket{{Name: "tap", Metrics: map[string]float64{"frames.duration_ms": level}}}
		}
	}
	return gatetest.Runs(r)
}

// A pass requires that a worsening is excluded: for the whole run by a tenth, for an event or
// against another session by a quarter. Identical builds that vary by more are a doubt, which
// reports how much worse they may be and what would settle it.
func TestPassExcludesAWorsening(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	for name, c := range map[string]struct {
		session string // of the head
		rounds  int
		event   bool
		swing   float64 // differences of rounds swing by twice that
		want    gate.Outcome
		said    string
	}{
		"calm":                       {"s", 14, false, 0.02, gate.Pass, "the whole run is worse by at most 4"},
		"rounds 16 % apart":          {"s", 14, false, 0.08, gate.Inconclusive, "14 rounds of each build do not exclude a worsening: time per frame may still be worse by up to 17"},
		"an event 16 % apart":        {"s", 14, true, 0.08, gate.Pass, "nothing got worse in 2 comparisons"},
		"an event 60 % apart":        {"s", 14, true, 0.3, gate.Inconclusive, "time per frame after tap may still be worse by up to 8"},
		"another session, 8 % apart": {"t", 14, false, 0.04, gate.Pass, "nothing got worse"},
		"another session, far apart": {"t", 14, false, 0.3, gate.Inconclusive, "14 iterations of each build do not exclude a worsening: time per frame may still be worse by up to "},
	} {
		base, head := wavering("b", "s", c.rounds, c.event, -c.swing), wavering("h", c.session, c.rounds, c.event, c.swing)
		for _, turned := range []bool{false, true} {
			catalogue := metric.Default()
			if turned {
				if c.event {
					continue
				}
				catalogue, base, head = frameRate(t), asRate(base), asRate(head)
			}
			v := Compare(p, catalogue, base, head)
			if v.Verdict != c.want || !turned && !strings.Contains(v.Reason, c.said) {
				t.Errorf("%s, as a rate %t: %s: %q, want %s and %q", name, turned, v.Verdict, v.Reason, c.want, c.said)
			}
			undecided := false
			for _, d := range v.Scenarios[0].Comparisons {
				undecided = undecided || d.Open
			}
			if undecided != (c.want == gate.Inconclusive) || undecided != (v.Hint != "") {
				t.Errorf("%s, as a rate %t: open %t, hint %q", name, turned, undecided, v.Hint)
			}
		}
	}
}

// A number that was zero in both builds is no doubt, nor is an exact number; an event that is not
// surely better is one, whatever else improved.
func TestNoDoubt(t *testing.T) {
	of := func(values map[string]float64) []run.Run {
		return gatetest.Runs(gatetest.Rounds("r", 14, func(i int) map[string]float64 {
			out := map[string]float64{"frames.duration_ms": 8 + 0.1*float64(i%3)}
			for name, v := range values {
				if m, _ := metric.Default().Lookup(name); !m.Exact || i == 0 { // read once
					out[name] = v
				}
			}
			return out
		}))
	}
	for name, c := range map[string]struct {
		base, head map[string]float64
		want       gate.Outcome
	}{
		"no ANR":           {map[string]float64{"anr.count": 0}, map[string]float64{"anr.count": 0}, gate.Pass},
		"no wakelock":      {map[string]float64{"wakelock.time_ms": 0}, map[string]float64{"wakelock.time_ms": 0}, gate.Pass},
		"as large":         {map[string]float64{"apk.size_bytes": 5e6}, map[string]float64{"apk.size_bytes": 5e6}, gate.Pass},
		"larger by little": {map[string]float64{"apk.size_bytes": 5e6}, map[string]float64{"apk.size_bytes": 5.1e6}, gate.Pass},
	} {
		p := gatetest.Judging(t, gate.PresetDefault, "frames.duration_ms", "anr.count", "wakelock.time_ms", "apk.size_bytes")
		if v := Compare(p, metric.Default(), of(c.base), of(c.head)); v.Verdict != c.want {
			t.Errorf("%s: %s: %s", name, v.Verdict, v.Reason)
		}
	}
}

// Samples half-way to the worsening or beyond are not below what would fail, however little they
// vary: of 10 % that is 5 %, or log 1.05 of log 1.1, 0.51 of the way.
func TestBelowFailing(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	for change, below := range map[float64]bool{-0.2: true, 0: true, 0.03: true, 0.08: false} {
		x := &test{metric: ms, effect: 0.1, minChange: 0.05}
		head := 8 * (1 + change)
		x.measure([]stat.Pair{{X: []float64{8, 8, 8, 8, 8}, Y: []float64{head, head, head, head, head}}}, 0.05)
		if x.below != below {
			t.Errorf("changed by %+.0f %%: below what would fail %t, want %t", 100*change, x.below, below)
		}
	}
}

// A test is undecided over all contexts; a deviation has more to report.
func TestUndecidedTests(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	of := func(alone bool, direction gate.Direction) *test {
		return &test{metric: ms, alone: alone, Direction: direction, below: true, missed: 0.5}
	}
	for name, c := range map[string]struct {
		test *test
		want bool
	}{
		"not excluded":                {of(false, gate.None), true},
		"not excluded in one context": {of(true, gate.None), false},
		"a doubt":                     {of(false, gate.Suspect), false},
		"a regression":                {of(false, gate.ToRegression), false},
	} {
		if got := c.test.undecided(); got != c.want {
			t.Errorf("%s: open %t, want %t", name, got, c.want)
		}
	}
}

// Of five undecided comparisons three are reported, the one that may be worst first, and what would
// settle all of them; for one that nothing would settle no number is reported.
func TestDescribeOpen(t *testing.T) {
	of := func(event string, most, missed float64) *test {
		x := tested(event, false, 0.5, 0.0001)
		x.below, x.missed, x.effect = true, missed, 0.1
		x.Base, x.Shift, x.Change = 10, 0, 0
		x.ShiftLow, x.ShiftHigh, x.ChangeLow, x.ChangeHigh = new(-0.1), new(10*most), new(-0.01), new(most)
		return x
	}
	s := &scenario{unit: Round, strata: []*stratum{{baseUnits: make([]unit, 10), headUnits: make([]unit, 10)}}}
	for i := range 5 {
		s.tests = append(s.tests, of(fmt.Sprint("E", i), 0.1+0.1*float64(i), 0.01))
	}
	reason, hint := s.describeOpen(s.undecidedTests())
	want := "10 rounds of each build do not exclude a worsening: time per frame after E4 may still be worse by up to 50.0 %, " +
		"time per frame after E3 may still be worse by up to 40.0 %, time per frame after E2 may still be worse by up to 30.0 %, and 2 more"
	// 0.01 is a score of 2.326 for ten rounds, 0.005 is 2.576: 12.3 rounds.
	if reason != want || hint != "about 13 rounds of each build would settle it" {
		t.Errorf("%q, %q; want %q, 13 rounds", reason, hint, want)
	}
	s.tests[0].below = false
	if _, hint := s.describeOpen(s.undecidedTests()); hint != "measure more rounds, or on a calmer device" {
		t.Errorf("%q, want no number", hint)
	}
	few := of("", 0, 0.5)
	few.ShiftHigh, few.N = nil, 3
	if got := few.leftOpen(); got != "time per frame has 3 values and too few values for a bound" {
		t.Errorf("%q", got)
	}
}

// What a pass leaves possible for a ratio is shown in points: 89.5 % of smooth frames where the
// base has 90 % are half a point worse, and not 0.56 %.
func TestPassShowsRatiosInPoints(t *testing.T) {
	of := func(id string, share float64) []run.Run {
		r := gatetest.Rounds(id, 16, func(int) map[string]float64 { return map[string]float64{"frames.smooth_ratio": share} })
		r.Session = "s"
		return gatetest.Runs(r)
	}
	base, head := of("b", 0.9), of("h", 0.895)
	v := Compare(gatetest.Policy(t, gate.PresetDefault), metric.Default(), base, head)
	if want := "worse by at most 0.5 points (smooth ratio)"; v.Verdict != gate.Pass || !strings.Contains(v.Reason, want) {
		t.Errorf("%s: %q, want %q", v.Verdict, v.Reason, want)
	}
}
