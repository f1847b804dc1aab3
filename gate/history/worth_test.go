package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// One or two runs of each phone show almost nothing of noise, however many phones there are and
// however many runs are checked together.
func TestFewRunsOfEachPhoneDoNotPass(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	events := []string{"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8"}
	reason := func(each int) string {
		return fmt.Sprintf("the history has %d accepted %s in this context, and 5 are needed to tell a change from noise", each, prose.Plural(each, "run", "runs"))
	}
	for phones, each := range map[int]int{1: 2, 2: 1, 3: 1, 6: 1, 15: 1} {
		for _, context := range []func(string) map[string]string{gatetest.Phone, func(model string) map[string]string { return map[string]string{"model": model} }} {
			var history []run.Run
			for i := range phones {
				history = append(history, gatetest.Steady(each, context(fmt.Sprint("m", i)), 8, events...)...)
			}
			refs := gatetest.Summaries(p, history...)
			var subjects []Subject
			for i := range phones {
				now := gatetest.Steady(2, context(fmt.Sprint("m", i)), 8, events...)[1]
				now.ID = fmt.Sprint("new", i)
				subjects = append(subjects, Subject{Run: now, References: refs})
			}
			v := Check(p, metric.Default(), subjects)
			if v.Verdict != gate.Inconclusive || v.Runs[0].Reason != reason(each) {
				t.Errorf("%d phones, %d runs of each: %s: %s", phones, each, v.Verdict, v.Runs[0].Reason)
			}
		}
	}
	// Four pairs show how much runs of one phone differ, but not a phone's level.
	var history []run.Run
	for i := range 4 {
		history = append(history, gatetest.Steady(2, gatetest.Phone(fmt.Sprint("m", i)), 8)...)
	}
	if v := checkOne(p, gatetest.Timed("new", gatetest.Phone("m0"), 8), history...); v.Verdict != gate.Inconclusive {
		t.Errorf("four pairs of runs: %s: %s", v.Verdict, v.Reason)
	}
}

// A history that varies wildly would not show a build that is half as slow again: its pass would be
// worthless.
func TestNoisyHistoryDoesNotPass(t *testing.T) {
	noisy := gatetest.On("a", "frames.duration_ms", 8, 14, 9, 21, 11)
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "frames.duration_ms", 11), noisy...)
	if v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, " got worse by 10 % (risk of missing it: ") || v.Hint == "" {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if want := fmt.Sprintf("(risk of missing it: %.0f %%)", 100*gatetest.End(v.Comparisons[0].Missed)); !strings.Contains(v.Reason, want) {
		t.Errorf("%s, want %s", v.Reason, want)
	}
	calm := gatetest.On("a", "frames.duration_ms", 10, 10.2, 10.1, 9.9, 10)
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "frames.duration_ms", 10), calm...); v.Verdict != gate.Pass {
		t.Errorf("of a calm history %s: %s", v.Verdict, v.Reason)
	}
	// There never was an ANR: any would show.
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "anr.count", 0), gatetest.On("a", "anr.count", 0, 0, 0, 0, 0, 0)...); v.Verdict != gate.Pass {
		t.Errorf("of no ANR %s: %s", v.Verdict, v.Reason)
	}
}

// A loss can't exceed all frames.
func TestLossLimitedToAllFrames(t *testing.T) {
	p := gatetest.Judging(t, gate.PresetDefault, "frames.count", "cpu.time_ms")
	v := checkOne(p, gatetest.Nearly("a", "frames.count", 300), gatetest.On("a", "frames.count", 80, 700, 300, 150, 500)...)
	if d := v.Comparisons[0]; d.Detectable != 0 || v.Verdict != gate.Inconclusive {
		t.Errorf("%s: a loss of %.0f %% would have been seen", v.Verdict, 100*d.Detectable)
	}
	beside := slices.Concat(gatetest.On("a", "frames.count", 80, 700, 300, 150, 500))
	for i := range beside {
		beside[i].Iterations[0].Metrics["cpu.time_ms"] = 100 + float64(i)
	}
	now := gatetest.Nearly("a", "frames.count", 300)
	now.Iterations[0].Metrics["cpu.time_ms"] = 102
	if v := checkOne(p, now, beside...); v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, "that frames rendered got worse") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// Ten runs have frames and one of another phone a start: the start can't be judged, and that is
// reported.
func TestMetricWithTooFewValuesIsReported(t *testing.T) {
	history := append(gatetest.On("a", "cpu.time_ms", 100, 101, 102, 103, 104, 105, 106, 107, 108, 109), gatetest.On("b", "startup.ttid_ms", 100)...)
	now := gatetest.Nearly("a", "cpu.time_ms", 103)
	now.Iterations[0].Metrics["startup.ttid_ms"] = 150
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...)
	if !strings.Contains(v.Reason, "time to initial display has no comparable run of this context") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	now.Iterations[0].Metrics["startup.ttid_ms"] = 1000
	v = checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...)
	if v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, "perhaps worse: time to initial display") || !strings.Contains(v.Reason, "no accepted run of this context has it") {
		t.Errorf("ten times as long: %s: %s", v.Verdict, v.Reason)
	}
}

// One accepted run has no spread, whatever is configured.
func TestOneRunIsNoHistory(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.MinHistory = 1
	for _, ms := range []float64{100, 1000} {
		if v := checkOne(p, gatetest.Nearly("a", "cpu.time_ms", ms), gatetest.On("a", "cpu.time_ms", 100)...); v.Verdict != gate.Inconclusive {
			t.Errorf("%g ms after 100: %s: %s", ms, v.Verdict, v.Reason)
		}
	}
	if v := checkOne(p, gatetest.Nearly("a", "cpu.time_ms", 1000), gatetest.On("a", "cpu.time_ms", 100, 101, 99)...); v.Verdict != gate.Regression {
		t.Errorf("ten times as much as three runs: %s: %s", v.Verdict, v.Reason)
	}
}

func TestNothingToCheckDoesNotPass(t *testing.T) {
	for _, preset := range gate.Presets() {
		if v := Check(gatetest.Policy(t, preset), metric.Default(), nil); v.Verdict != gate.Inconclusive || len(v.Warnings) != 1 {
			t.Errorf("%s: %s, %v", preset, v.Verdict, v.Warnings)
		}
	}
}

// A pass covers the whole run and the events that its history can judge: an event that varies
// wildly does not decide, unless a threshold names it.
func TestPassIsWorthWhatEachShows(t *testing.T) {
	runs := func(whole, event []float64) (out []run.Run) {
		for i := range whole {
			tap := run.Bucket{Name: "tap", Metrics: map[string]float64{"frames.duration_ms": event[i]}}
			out = append(out, gatetest.Run(fmt.Sprint("h", i), map[string]float64{"frames.duration_ms": whole[i]}, tap))
		}
		return out
	}
	noisy, calm := []float64{8, 14, 9, 21, 11}, []float64{10, 10.2, 10.1, 9.9, 10}
	for what, c := range map[string]struct {
		history []run.Run
		asked   bool
		want    gate.Outcome
		said    string
	}{
		"the whole run":              {runs(noisy, calm), false, gate.Inconclusive, "that time per frame got worse"},
		"an event":                   {runs(calm, noisy), false, gate.Pass, "nothing deviates"},
		"an event that is asked for": {runs(calm, noisy), true, gate.Inconclusive, "that time per frame after tap got worse by 10 %"},
		"neither":                    {runs(calm, calm), false, gate.Pass, ""},
	} {
		p := gatetest.Policy(t, gate.PresetDefault)
		if least := 0.05; c.asked {
			p.Thresholds = []gate.Threshold{{Metric: "frames.duration_ms", Event: "tap", MinChange: &least}}
		}

		now := c.history[4]
		now.ID = "new"
		history := append(c.history, c.history[0])
		history[5].ID = "h5"
		v := checkOne(p, now, history...)
		if v.Verdict != c.want || !strings.Contains(v.Reason, c.said) {
			t.Errorf("%s is all over the place: %s: %s, want %s", what, v.Verdict, v.Reason, c.want)
		}
	}
}

func TestIntervalLevel(t *testing.T) {
	for preset, want := range map[string]float64{gate.PresetDefault: 0.99, gate.PresetDune: 0} {
		if v := Check(gatetest.Policy(t, preset), metric.Default(), []Subject{{Run: gatetest.Nearly("a", "cpu.time_ms", 1)}}); v.Level != want {
			t.Errorf("%s: %g, want %g", preset, v.Level, want)
		}
		if v := sidebyside.Compare(gatetest.Policy(t, preset), metric.Default(), nil, nil); v.Level != 0.99 {
			t.Errorf("two builds, %s: %g, want 0.99", preset, v.Level)
		}
	}
}

// Where the history is long enough, noise is the reason for no decision, and the number of runs is
// not given as one; nor the other way round.
func TestUndecidedIsNoisyOrFew(t *testing.T) {
	m, _ := metric.Default().Lookup("frames.duration_ms")
	of := func(own int, lent bool) *judgement {
		j := &judgement{metric: m, share: 0.05, evidence: past.Evidence{N: own, Own: own, Lent: lent}}
		j.Comparison = gate.Comparison{Metric: m.Name, Screen: gate.Open, Missed: new(0.3)}
		return j
	}
	for name, c := range map[string]struct {
		of   *judgement
		want string
	}{
		"ten sessions":            {of(10, false), "too noisy to exclude that time per frame got worse by 5 % (risk of missing it: 30 %)"},
		"three, and other phones": {of(3, true), "too noisy to exclude that time per frame got worse by 5 % (risk of missing it: 30 %)"},
		"three":                   {of(3, false), "the history has 3 accepted runs in this context, and 5 are needed to tell a change from noise"},
	} {
		chk := &check{policy: gatetest.Policy(t, gate.PresetDefault), catalogue: metric.Default(), judged: []*judgement{c.of}}
		chk.seen.Own, chk.seen.OwnRuns, chk.seen.OwnSessions = true, c.of.evidence.Own, c.of.evidence.Own
		if got := chk.describeOpen(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
