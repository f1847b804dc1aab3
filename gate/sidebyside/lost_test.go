package sidebyside

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func TestAMetricThatGotLostIsADoubt(t *testing.T) {
	with := func(metrics ...string) func(int) map[string]float64 {
		return func(i int) map[string]float64 {
			out := map[string]float64{}
			for _, name := range metrics {
				out[name] = 600 + float64(i%4)
			}
			return out
		}
	}
	const count, cpu = "frames.count", "cpu.time_ms"
	for name, c := range map[string]struct {
		base, head func(int) map[string]float64
		want       gate.Outcome
		warning    string
	}{
		"the head lost it":            {with(count, cpu), with(cpu), gate.Inconclusive, "frames rendered was measured of the base build and not of the head build"},
		"the head brings it along":    {with(cpu), with(count, cpu), gate.Pass, "frames rendered was measured of the head build alone"},
		"both have it":                {with(count, cpu), with(count, cpu), gate.Pass, ""},
		"the head lost it once in 12": {with(count, cpu), func(i int) map[string]float64 { return with([]string{cpu, count}[:min(2, 1+i)]...)(i) }, gate.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := compareBoth(t, gatetest.Runs(gatetest.Rounds("b", 12, c.base)), gatetest.Runs(gatetest.Rounds("h", 12, c.head)))
			if v.Verdict != c.want {
				t.Errorf("%s: %s, want %s", v.Verdict, v.Reason, c.want)
			}
			if c.warning == "" && len(v.Warnings) == 0 {
				return
			}
			if len(v.Warnings) != 1 || c.warning == "" || !strings.Contains(v.Warnings[0].Text, c.warning) {
				t.Errorf("warnings %v, want %q", v.Warnings, c.warning)
			}
		})
	}
}

func TestSeveralLostMetrics(t *testing.T) {
	all := func(i int) map[string]float64 {
		return map[string]float64{"cpu.time_ms": 600 + float64(i%4), "frames.count": 600, "startup.ttid_ms": 300}
	}
	cpu := func(i int) map[string]float64 { return map[string]float64{"cpu.time_ms": all(i)["cpu.time_ms"]} }
	v := compareBoth(t, gatetest.Runs(gatetest.Rounds("b", 12, all)), gatetest.Runs(gatetest.Rounds("h", 12, cpu)))
	if want := " were measured of the base build and not of the head build"; v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, want) {
		t.Errorf("%s: %q, want %q in it", v.Verdict, v.Reason, want)
	}
}

// Twelve rounds in which nothing differs are enough: had there been a difference,
// they would have shown it.
func TestEqualRoundsPass(t *testing.T) {
	same := func(int) map[string]float64 { return map[string]float64{"frames.count": 600} }
	v := compareBoth(t, gatetest.Runs(gatetest.Rounds("b", 12, same)), gatetest.Runs(gatetest.Rounds("h", 12, same)))
	d := v.Scenarios[0].Comparisons[0]
	if v.Verdict != gate.Pass || !strings.Contains(v.Reason, "worse by at most 0.0 % (frames rendered)") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if !d.HasInterval() || gatetest.End(d.ShiftLow) != 0 || gatetest.End(d.ShiftHigh) != 0 {
		t.Errorf("the interval is %v to %v, want 0 to 0", d.ShiftLow, d.ShiftHigh)
	}
	v = compareBoth(t, gatetest.Runs(gatetest.Rounds("b", 3, same)), gatetest.Runs(gatetest.Rounds("h", 3, same)))
	if d := v.Scenarios[0].Comparisons[0]; v.Verdict != gate.Inconclusive || d.HasInterval() {
		t.Errorf("three equal rounds: %s: %s; %+v", v.Verdict, v.Reason, d)
	}
	// Six runs of each build, at other times, are enough too; two are not.
	for n, want := range map[int]gate.Outcome{6: gate.Pass, 2: gate.Inconclusive} {
		var base, head []run.Run
		for i := range n {
			for side, to := range map[string]*[]run.Run{"b": &base, "h": &head} {
				r := gatetest.Run(fmt.Sprint(side, i), map[string]float64{"frames.count": 600})
				r.Session = r.ID
				*to = append(*to, r)
			}
		}
		if v := Compare(gatetest.Policy(t, gate.PresetDefault), metric.Default(), base, head); v.Verdict != want {
			t.Errorf("%d equal runs of each build: %s: %s, want %s", n, v.Verdict, v.Reason, want)
		}
	}
}
