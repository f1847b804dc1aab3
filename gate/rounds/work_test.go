package rounds_test

import (
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Work that is clearly more is reported compared with the base build, where the rounds count it,
// whatever the history showed; else as the history has it.
func TestWorkInRounds(t *testing.T) {
	layouts := gate.Comparison{Metric: "work.layouts", Value: 48, Expected: 40, Change: 0.2, P: 1}
	counting := func(seed int, ms, faults float64, n int) run.Run {
		r := waver(seed, n, ms)
		for i := range r.Iterations {
			r.Iterations[i].Metrics["work.page_faults"] = faults
			r.Iterations[i].Metrics["frames.late"] = faults / 1000 // which is no count of work
		}
		return r
	}
	for name, c := range map[string]struct {
		faults float64
		rounds int
		want   []string
		change float64
	}{
		"a tenth more":       {22_000, 8, []string{"work.layouts", "work.page_faults"}, 0.1},
		"1 % more":           {20_200, 8, []string{"work.layouts"}, 0},
		"a tenth less":       {18_000, 8, []string{"work.layouts"}, 0},
		"of too few to tell": {22_000, 6, []string{"work.layouts", "work.page_faults"}, 0.3},
	} {
		v := open(1)
		v.Runs[0].Work = []gate.Comparison{layouts, {Metric: "work.page_faults", Value: 26_000, Expected: 20_000, Change: 0.3, P: 1}}
		p := strict(t)
		plan, err := rounds.PlanOf(p, 40, 1)
		if err != nil {
			t.Fatal(err)
		}
		trial := rounds.New(p, metric.Default(), v, plan)
		trial.Add(0, counting(1, 10, 20_000, c.rounds), counting(2, 10, c.faults, c.rounds))
		work := trial.Verdict().Runs[0].Work
		var told []string
		for _, w := range work {
			told = append(told, w.Metric)
			if w.Metric == "work.page_faults" {
				gatetest.About(t, name+": the change", w.Change, c.change)
			}
		}
		if len(told) != len(c.want) || told[0] != c.want[0] || told[len(told)-1] != c.want[len(c.want)-1] {
			t.Errorf("%s: it tells of %v, want %v", name, told, c.want)
		}
	}
}
