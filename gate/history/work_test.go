package history

import (
	"fmt"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

// inflating returns a run of five repetitions, each with that many layouts inflated, all after a
// tap, half as many frames after the display's deadline, which are not work, and frames of eight
// milliseconds that vary by a per cent.
func inflating(id string, layouts float64) run.Run {
	r := gatetest.In(gatetest.Run(id, nil), map[string]string{"model": "a"})
	r.Iterations = nil
	for i := range 5 {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{
			"frames.duration_ms": 8 * (1 + 0.01*float64((i+len(id))%3-1)), "work.inflations": layouts, "frames.late": layouts / 2,
		}, Events: []run.Bucket{{Name: "tap", Metrics: map[string]float64{"work.inflations": layouts}}}})
	}
	return r
}

// Work that is clearly more is reported where the policy doesn't judge it, and does not affect the
// verdict: the run passes. 48 layouts where there were 40 are a fifth more.
func TestWorkClearlyMore(t *testing.T) {
	history := func(n int) (out []run.Run) {
		for i := range n {
			out = append(out, inflating(fmt.Sprint("h", i), 40))
		}
		return out
	}
	named := gatetest.Policy(t, gate.PresetDefault)
	named.Metrics = []string{"frames.duration_ms", "work.inflations"}
	for name, c := range map[string]struct {
		policy   gate.Policy
		sessions int
		layouts  float64
		told     bool
	}{
		"a fifth more":                   {gatetest.Policy(t, gate.PresetDefault), 10, 48, true},
		"one more, of 5 % that matter":   {gatetest.Policy(t, gate.PresetDefault), 10, 41, false},
		"a fifth less":                   {gatetest.Policy(t, gate.PresetDefault), 10, 32, false},
		"too few sessions":               {gatetest.Policy(t, gate.PresetDefault), 4, 48, false},
		"judged, so that it is compared": {named, 10, 48, false},
		"by the paper's technique":       {gatetest.Policy(t, gate.PresetDune), 10, 48, false},
	} {
		v := checkOne(c.policy, inflating("new", c.layouts), history(c.sessions)...)
		if told := len(v.Work) == 1 && v.Work[0].Metric == "work.inflations" && v.Work[0].Event == ""; told != c.told || !told && len(v.Work) > 0 {
			t.Errorf("%s: it tells of %+v", name, v.Work)
		}
		if !c.told {
			continue
		}
		w := v.Work[0]
		gatetest.About(t, name+": the change", w.Change, 0.2)
		if v.Verdict != gate.Pass || w.Direction != gate.None || !(gatetest.End(w.Low) > 0 && gatetest.End(w.High) > 0.2) {
			t.Errorf("%s: %s: %s, from %g to %g", name, v.Verdict, v.Reason, gatetest.End(w.Low), gatetest.End(w.High))
		}
	}
}
