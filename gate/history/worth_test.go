package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// What a pass says it would have seen is called a regression, and four fifths of
// it is not, whatever the judgement rests on.
func TestWhatCouldBeSeenIsSeen(t *testing.T) {
	const ms, count, ratio = "frames.duration_ms", "frames.count", "frames.smooth_ratio"
	phones := func(metricName string, values ...float64) (out []run.Run) {
		for i := range values {
			out = append(out, gatetest.On(fmt.Sprint("m", i), metricName, values[i])...)
		}
		return out
	}
	var fourPhones []run.Run
	for i := range 4 {
		fourPhones = append(fourPhones, gatetest.On(fmt.Sprint("p", i), ms, 10, 10.2, 10.1, 9.9, 10)...)
	}
	ten := gatetest.On("a", ms, 10, 10.3, 9.8, 10.1, 10, 9.9, 10.2)
	for name, c := range map[string]struct {
		model, metric string
		history       []run.Run
		kind          past.Kind
		unseen        bool
	}{
		"its own runs":                     {"a", ms, ten, past.OwnContext, false},
		"frames":                           {"a", count, gatetest.On("a", count, 600, 610, 595, 605, 600, 598), past.OwnContext, false},
		"a ratio":                          {"a", ratio, gatetest.On("a", ratio, 0.95, 0.93, 0.94, 0.96, 0.95, 0.94), past.OwnContext, false},
		"of its own few, others many":      {"a", ms, slices.Concat(gatetest.On("a", ms, 10, 10.1), gatetest.On("b", ms, 20, 20.3, 19.8, 20.1, 20, 19.9, 20.2)), past.OwnCentred, false},
		"five phones, its own is unknown":  {"new", ms, phones(ms, 10, 10.1, 9.9, 10.2, 10), past.EveryContext, false},
		"a phone never seen, four others":  {"new", ms, fourPhones, past.EveryContext, true},
		"frames of a phone never seen":     {"new", count, slices.Concat(gatetest.On("a", count, 600, 610, 595, 605, 600, 598), gatetest.On("b", count, 600, 590)), past.EveryContext, true},
		"its own are faster than all else": {"a", ms, slices.Concat(gatetest.On("a", ms, 8), phones(ms, 10, 10.1, 9.9, 10.2, 10, 10.1)), past.EveryContext, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, catalogue := gatetest.Judging(t, gate.PresetDefault, c.metric), metric.Default()
			at := func(x float64) (*judgement, gate.RunVerdict) {
				s := Subject{Run: gatetest.Nearly(c.model, c.metric, x), References: gatetest.Summaries(p, c.history...)}
				k := newCheck(p, catalogue, s)
				judgeTogether(p, []*check{k})
				return k.judged[0], k.verdict()
			}
			j, _ := at(c.history[0].Iterations[0].Metrics[c.metric])
			if j.evidence.Kind != c.kind || j.evidence.Unseen != c.unseen || !(j.Detectable > 0) {
				t.Fatalf("it rests on kind %d, unseen %t, and %g could be seen", j.evidence.Kind, j.evidence.Unseen, j.Detectable)
			}
			sign := 1.0
			if j.metric.Direction == metric.HigherIsBetter {
				sign = -1
			}
			if seen, v := at(j.Expected * (1 + sign*1.001*j.Detectable)); seen.Direction != gate.ToRegression {
				t.Errorf("%.1f %% worse is %s (p %.3g): %s", 100.1*j.Detectable, seen.Direction, seen.P, v.Reason)
			}
			if seen, v := at(j.Expected * (1 + sign*0.8*j.Detectable)); seen.Direction == gate.ToRegression {
				t.Errorf("%.1f %% worse is %s: %s", 80*j.Detectable, seen.Direction, v.Reason)
			}
		})
	}
}

func TestAContextThatWasNeverMeasuredIsSaid(t *testing.T) {
	history := gatetest.Steady(10, map[string]string{"model": "a"}, 8)
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Timed("new", map[string]string{"model": "b"}, 8.1), history...)
	if d := v.Comparisons[0]; v.Verdict != gate.Pass || d.Detectable < 0.25 || !strings.Contains(v.Reason, "this context was never measured") {
		t.Errorf("%s: %s (%g could be seen, want no less than 25 %%)", v.Verdict, v.Reason, d.Detectable)
	}
	if len(v.Warnings) != 1 || v.Warnings[0].Text != "this context was never measured" {
		t.Errorf("warnings: %v", v.Warnings)
	}
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Timed("new", map[string]string{"model": "a"}, 8.1), history...); strings.Contains(v.Reason, "never") {
		t.Errorf("measured ten times: %s", v.Reason)
	}
}

// One or two runs of each phone say next to nothing of noise, however many phones
// there are and however many runs are checked together.
func TestAFewRunsOfEachPhoneAreNoPass(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	events := []string{"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8"}
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
			if v.Verdict != gate.Inconclusive || !strings.Contains(v.Runs[0].Reason, "and 5 are needed to tell a change from noise") {
				t.Errorf("%d phones, %d runs of each: %s: %s", phones, each, v.Verdict, v.Runs[0].Reason)
			}
		}
	}
	// Four phones with two runs each, and four pairs: so much do runs of one phone differ.
	var history []run.Run
	for i := range 4 {
		history = append(history, gatetest.Steady(2, gatetest.Phone(fmt.Sprint("m", i)), 8)...)
	}
	if v := checkOne(p, gatetest.Timed("new", gatetest.Phone("m0"), 8), history...); v.Verdict != gate.Pass {
		t.Errorf("four pairs of runs: %s: %s", v.Verdict, v.Reason)
	}
}

// A history that is all over the place would not show a build that is half as slow
// again: its pass would be worth nothing.
func TestAPassThatSeesNothingIsNone(t *testing.T) {
	noisy := gatetest.On("a", "frames.duration_ms", 8, 14, 9, 21, 11)
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "frames.duration_ms", 11), noisy...)
	if v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, "no worsening of less than 50 % would have been seen") || v.Hint == "" {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	calm := gatetest.On("a", "frames.duration_ms", 10, 10.2, 10.1, 9.9, 10)
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "frames.duration_ms", 10), calm...); v.Verdict != gate.Pass {
		t.Errorf("of a calm history %s: %s", v.Verdict, v.Reason)
	}
	// There never was an ANR: any would be seen.
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "anr.count", 0), gatetest.On("a", "anr.count", 0, 0, 0, 0, 0, 0)...); v.Verdict != gate.Pass {
		t.Errorf("of no ANR %s: %s", v.Verdict, v.Reason)
	}
}

// More than all of the frames can't be lost.
func TestNoMoreThanAllFramesCanBeLost(t *testing.T) {
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
	if v := checkOne(p, now, beside...); v.Verdict != gate.Pass || !strings.Contains(v.Reason, "no worsening of frames rendered would have been seen") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// Ten runs have frames and one of another phone a start: nothing can be said of
// the start, and that is said.
func TestAMetricWithTooFewValuesIsSaid(t *testing.T) {
	history := append(gatetest.On("a", "cpu.time_ms", 100, 101, 102, 103, 104, 105, 106, 107, 108, 109), gatetest.On("b", "startup.ttid_ms", 100)...)
	now := gatetest.Nearly("a", "cpu.time_ms", 103)
	now.Iterations[0].Metrics["startup.ttid_ms"] = 1000
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...)
	if !strings.Contains(v.Reason, "time to initial display has 1 comparable run of the 5 that are needed") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// One accepted run has no spread, whatever the configuration asks for.
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

func TestNothingToCheckIsNoPass(t *testing.T) {
	for _, preset := range gate.Presets() {
		if v := Check(gatetest.Policy(t, preset), metric.Default(), nil); v.Verdict != gate.Inconclusive || len(v.Warnings) != 1 {
			t.Errorf("%s: %s, %v", preset, v.Verdict, v.Warnings)
		}
	}
}

// An event of which much could be seen says nothing of the whole run.
func TestAPassIsWorthWhatTheWholeRunShows(t *testing.T) {
	runs := func(whole, event []float64) (out []run.Run) {
		for i := range whole {
			tap := run.Bucket{Name: "tap", Metrics: map[string]float64{"frames.duration_ms": event[i]}}
			out = append(out, gatetest.Run(fmt.Sprint("h", i), map[string]float64{"frames.duration_ms": whole[i]}, tap))
		}
		return out
	}
	noisy, calm := []float64{8, 14, 9, 21, 11}, []float64{10, 10.2, 10.1, 9.9, 10}
	for want, history := range map[gate.Outcome][]run.Run{gate.Inconclusive: runs(noisy, calm), gate.Pass: runs(calm, noisy)} {
		now := history[4]
		now.ID = "new"
		history = append(history, history[0])
		history[5].ID = "h5"
		if v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...); v.Verdict != want {
			t.Errorf("%s: %s, want %s", v.Verdict, v.Reason, want)
		}
	}
}

// A history without any spread: half of what the metric resolves, or its
// restlessness, which is 3 % of a count of frames and 1 % of a time per frame.
func TestTheLeastSpread(t *testing.T) {
	for name, c := range map[string]struct {
		metric string
		log    bool
		mean   float64
		want   float64
	}{"no ANR": {"anr.count", false, 0, 0.01}, "600 frames": {"frames.count", false, 600, 18}, "two frames": {"frames.count", false, 2, 0.5}, "a time": {"frames.duration_ms", true, 2.1, 0.01}} {
		m, _ := metric.Default().Lookup(c.metric)
		j := &judgement{metric: m, scale: past.Scale{Log: c.log}}
		gatetest.About(t, name, j.leastSD(c.mean), c.want)
	}
}

func TestTheLevelOfIntervals(t *testing.T) {
	for preset, want := range map[string]float64{gate.PresetDefault: 0.95, gate.PresetDune: 0} {
		if v := Check(gatetest.Policy(t, preset), metric.Default(), []Subject{{Run: gatetest.Nearly("a", "cpu.time_ms", 1)}}); v.Level != want {
			t.Errorf("%s: %g, want %g", preset, v.Level, want)
		}
		if v := sidebyside.Compare(gatetest.Policy(t, preset), metric.Default(), nil, nil); v.Level != 0.95 {
			t.Errorf("two builds, %s: %g, want 0.95", preset, v.Level)
		}
	}
}
