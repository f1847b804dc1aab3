package sidebyside

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func TestComparesJoulesWithinSource(t *testing.T) {
	v := compareBoth(t, gatetest.Runs(gatetest.HungryRounds("rails", 30)), gatetest.Runs(gatetest.HungryRounds("rails", 36)))
	if v.Verdict != gate.Regression || !strings.Contains(v.Reason, "energy: ") || len(v.Warnings) > 0 {
		t.Errorf("one source: %s (%s), %v", v.Verdict, v.Reason, v.Warnings)
	}
	v = compareBoth(t, gatetest.Runs(gatetest.HungryRounds("rails", 30)), gatetest.Runs(gatetest.HungryRounds("battery", 90)))
	s := v.Scenarios[0]
	if v.Verdict != gate.Pass || len(s.Comparisons) != 1 || s.Comparisons[0].Metric != "frames.duration_ms" || s.Comparisons[0].N != 12 {
		t.Errorf("two sources: %s, %+v; want the frames alone compared", v.Verdict, s.Comparisons)
	}
	const want = `energy can't be compared: energy_from is "rails" of the base build and "battery" of the head build`
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, want) || !strings.Contains(v.Warnings[0].Text, "energy.source") {
		t.Errorf("warnings %v, want one with %s", v.Warnings, want)
	}
	if !strings.Contains(v.Reason, "energy was not compared") {
		t.Errorf("the reason keeps silent of it: %s", v.Reason)
	}
	alone := gate.Threshold{Metric: "frames.duration_ms", Ignore: true}
	p := gatetest.Lenient(t)
	p.Thresholds = []gate.Threshold{alone}
	v = Compare(p, metric.Default(), gatetest.Runs(gatetest.HungryRounds("rails", 30)), gatetest.Runs(gatetest.HungryRounds("battery", 90)))
	if v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, want) {
		t.Errorf("joules alone: %s (%s), want inconclusive", v.Verdict, v.Reason)
	}
}

// One phone of two changed its source: the other's joules are still compared.
func TestComparesWhatItCan(t *testing.T) {
	on := func(model string, r run.Run) run.Run {
		r.Context["model"], r.Session = model, "together on "+model
		return r
	}
	v := compareBoth(t,
		gatetest.Runs(on("a", gatetest.HungryRounds("rails", 30)), on("b", gatetest.HungryRounds("rails", 30))),
		gatetest.Runs(on("a", gatetest.HungryRounds("rails", 36)), on("b", gatetest.HungryRounds("battery", 90))))
	at := slices.IndexFunc(v.Scenarios[0].Comparisons, func(d Comparison) bool { return d.Metric == "energy.total_j" })
	if at < 0 || v.Scenarios[0].Comparisons[at].N != 12 || v.Verdict != gate.Regression {
		t.Fatalf("%s: %+v", v.Verdict, v.Scenarios[0].Comparisons)
	}
	if got := v.Scenarios[0].Comparisons[at].Change; got < 0.199 || got > 0.201 {
		t.Errorf("change %+.3f, want the +20 %% of phone a", got)
	}
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, " on b, and is left out") {
		t.Errorf("warnings %v, want one of phone b", v.Warnings)
	}
}

// Runs of a source that only one build has are left out, next to those of a source that both have:
// six of each build, and not the two from the battery.
func TestRunsOfAnotherSourceAreLeftOut(t *testing.T) {
	base, head := gatetest.HungryRuns(6, "rails", 8, 30), append(gatetest.HungryRuns(6, "rails", 8, 30), gatetest.HungryRuns(2, "battery", 8, 90)...)
	v := compareBoth(t, base, head)
	at := slices.IndexFunc(v.Scenarios[0].Comparisons, func(d Comparison) bool { return d.Metric == "energy.total_j" })
	if at < 0 {
		t.Fatalf("%+v", v.Scenarios[0].Comparisons)
	}
	if d := v.Scenarios[0].Comparisons[at]; d.N != 12 || d.Change != 0 {
		t.Errorf("%d values that changed by %g, want the twelve of the rails, which did not", d.N, d.Change)
	}
}

// Phones whose builds differ in different ways are reported separately.
func TestIncomparableNumbersAreReported(t *testing.T) {
	on := func(model, source string, joules float64) run.Run {
		r := gatetest.HungryRounds(source, joules)
		r.Context["model"], r.Session = model, "together on "+model
		return r
	}
	v := compareBoth(t,
		gatetest.Runs(on("a", "rails", 30), on("b", "rails", 30), on("c", "rails", 30)),
		gatetest.Runs(on("a", "battery", 30), on("b", "platform", 30), on("c", "battery", 30)))
	var told []string
	for _, w := range v.Warnings {
		told = append(told, w.Text)
	}
	all := strings.Join(told, "\n")
	if len(told) != 2 || !strings.Contains(all, `"battery" of the head build on a, c`) || !strings.Contains(all, `"platform" of the head build on b`) {
		t.Errorf("%q, want one of the battery on a and c, and one of the platform on b", told)
	}
}

// A number that one build lacks on a phone, or never has in the same round as the other, was not
// measured in another way: no warning.
func TestAbsentNumbersAreNotIncomparable(t *testing.T) {
	on := func(model string, joules bool) run.Run {
		r := gatetest.HungryRounds("rails", 30)
		r.Context["model"], r.Session = model, "together on "+model
		for i := range r.Iterations {
			if !joules {
				delete(r.Iterations[i].Metrics, "energy.total_j")
			}
		}
		return r
	}
	inRounds := func(odd int) run.Run {
		r := gatetest.HungryRounds("rails", 30)
		for i := range r.Iterations {
			if i%2 == odd {
				r.Iterations[i].Metrics["cpu.time_ms"] = 100
			}
		}
		return r
	}
	for name, c := range map[string]struct{ base, head []run.Run }{
		"the base has no joules on b": {gatetest.Runs(on("a", true), on("b", false)), gatetest.Runs(on("a", true), on("b", true))},
		"the head has no joules on b": {gatetest.Runs(on("a", true), on("b", true)), gatetest.Runs(on("a", true), on("b", false))},
		"in every other round":        {gatetest.Runs(inRounds(0)), gatetest.Runs(inRounds(1))},
	} {
		for _, w := range compareBoth(t, c.base, c.head).Warnings {
			if strings.Contains(w.Text, "can't be compared") {
				t.Errorf("%s: %s", name, w.Text)
			}
		}
	}
}

// The same for two builds.
func TestNewWakelocks(t *testing.T) {
	held := func(id string, ms float64) run.Run {
		r := gatetest.Repeated(id, "s", "a", gatetest.Rising(12, 1)...)
		for i := range r.Iterations {
			r.Iterations[i].Metrics["wakelock.time_ms"] = ms * (1 + 0.01*float64(i)) // zero stays zero
		}
		return r
	}
	for ms, want := range map[float64]gate.Direction{0: gate.None, 40: gate.None, 600_000: gate.ToRegression} {
		v := compareBoth(t, gatetest.Runs(held("b", 0)), gatetest.Runs(held("h", ms)))
		at := slices.IndexFunc(v.Scenarios[0].Comparisons, func(d Comparison) bool { return d.Metric == "wakelock.time_ms" })
		if at < 0 || v.Scenarios[0].Comparisons[at].Direction != want {
			t.Errorf("%.0f ms out of nothing: %+v, want %s", ms, v.Scenarios[0].Comparisons, want)
		}
	}
}

// A base measured by dumps and a head by the frame timeline share their CPU time.
func TestComparesFramesWithinKind(t *testing.T) {
	of := func(by string) []run.Run {
		r := gatetest.Rounds("r", 12, func(i int) map[string]float64 {
			return map[string]float64{"frames.smooth_ratio": 0.95, "frames.duration_ms": 8 + 0.1*float64(i%3), "cpu.time_ms": 100 + float64(i%5)}
		})
		if by != "" {
			r.Context[metric.FramesBy] = by
		}
		return gatetest.Runs(r)
	}
	v := compareBoth(t, of(""), of("gfxinfo"))
	if v.Verdict != gate.Pass || len(v.Scenarios[0].Comparisons) != 3 || len(v.Warnings) > 0 {
		t.Errorf("one kind: %s: %s, warnings %v", v.Verdict, v.Reason, v.Warnings)
	}
	v = compareBoth(t, of(""), of("timeline"))
	if c := v.Scenarios[0].Comparisons; v.Verdict != gate.Pass || len(c) != 1 || c[0].Metric != "cpu.time_ms" {
		t.Errorf("two kinds: %s: %s, %+v; want the CPU time alone compared", v.Verdict, v.Reason, c)
	}
	if !strings.Contains(v.Reason, "smooth ratio, time per frame were not compared") {
		t.Errorf("two kinds: %s", v.Reason)
	}
	const want = `smooth ratio, time per frame can't be compared: frames_by is "gfxinfo" of the base build and "timeline" of the head build, and are left out; measure both builds in the same way: with one version of apkgate`
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, want) {
		t.Errorf("warnings %v, want %s", v.Warnings, want)
	}
}
