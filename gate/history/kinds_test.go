package history

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Three phones of four measure their frames by the timeline since today: that is reported once for
// all three, and the one whose joules changed reports that itself.
func TestSwitchOfManyPhonesIsReportedOnce(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	of := func(id, model, by, from string) run.Run {
		r := gatetest.Run(id, map[string]float64{"frames.smooth_ratio": 0.95, "frames.duration_ms": 8, "energy.total_j": 30})
		return gatetest.In(r, map[string]string{"model": model, metric.FramesBy: by, metric.EnergyFrom: from})
	}
	var history []run.Run
	for _, model := range []string{"a", "b", "c", "d"} {
		for i := range 6 {
			history = append(history, of(fmt.Sprint(model, i), model, "gfxinfo", "rails"))
		}
	}
	history = append(history, of("b6", "b", "timeline", "rails"), of("b7", "b", "timeline", "rails"))
	refs := gatetest.Summaries(p, history...)
	check := func(runs ...run.Run) gate.Verdict {
		var subjects []Subject
		for _, r := range runs {
			subjects = append(subjects, Subject{Run: r, References: refs})
		}
		return Check(p, metric.Default(), subjects)
	}
	texts := func(all []run.Warning) (out []string) {
		for _, w := range all {
			out = append(out, w.Text)
		}
		return out
	}
	v := check(of("1", "a", "timeline", "rails"), of("2", "b", "timeline", "rails"), of("3", "c", "timeline", "battery"), of("4", "d", "gfxinfo", "rails"))
	want := []string{`smooth ratio, time per frame: 3 of 4 runs were measured in another way than accepted ones, which don't count for them: frames_by is "timeline" here and "gfxinfo" there; up to 5 more runs of this kind for each context rebuild the history`}
	if got := texts(v.Warnings); !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
	for i, r := range v.Runs {
		told := slices.DeleteFunc(texts(r.Warnings), func(s string) bool { return s == "no accepted run of this context yet" })
		if (len(told) > 0) != (i == 2) {
			t.Errorf("run %s warns of %q", r.ID, told)
		}
	}
	// A single run reports it itself.
	if v := check(of("1", "a", "timeline", "rails"), of("4", "d", "gfxinfo", "rails")); len(v.Warnings) > 0 || len(v.Runs[0].Warnings) != 1 {
		t.Errorf("of one run: %q and %q", texts(v.Warnings), texts(v.Runs[0].Warnings))
	}
	if v := check(of("2", "b", "timeline", "rails"), of("5", "b", "timeline", "rails")); len(v.Warnings) != 1 || v.Warnings[0].Text[len(v.Warnings[0].Text)-69:] != "; up to 3 more runs of this kind for each context rebuild the history" {
		t.Errorf("of a phone that has two: %q", texts(v.Warnings))
	}
}
