package past

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// borrowed returns what four phones on two networks show about a fifth on 3g, which was measured
// there in one session and on wifi in as many as the others. of are a phone's sessions there, each
// with the levels of its runs, as factors.
func borrowed(t *testing.T, of [][]float64) (Evidence, Scale) {
	t.Helper()
	p := gatetest.Judging(t, gate.PresetDefault, "cpu.time_ms")
	var runs []run.Run
	add := func(model, network string, level float64, sessions [][]float64) {
		for i, session := range sessions {
			for k, by := range session {
				id := fmt.Sprint(model, network, i)
				r := gatetest.In(gatetest.Run(fmt.Sprint(id, " run ", k), map[string]float64{"cpu.time_ms": level * by}), map[string]string{"model": model, "network": network})
				r.Session, r.Started = id, time.Date(2026, 1, 1+i, k, 0, 0, 0, time.UTC)
				runs = append(runs, r)
			}
		}
	}
	for i, model := range []string{"b", "c", "d", "e"} {
		add(model, "wifi", 100*float64(i+1), of)
		add(model, "3g", 100*float64(i+1), of)
	}
	add("a", "wifi", 1000, of)
	add("a", "3g", 1000, [][]float64{{1}})
	history := RunsOf(map[string]string{"model": "a", "network": "3g"}, gatetest.Summaries(p, runs...), nil)
	cell := run.Cell{Metric: "cpu.time_ms"}
	history.Tabulate([]run.Cell{cell})
	m, _ := metric.Default().Lookup(cell.Metric)
	v := history.ValuesOf(cell, m, 1000)
	return history.EvidenceOf(p, cell, m, v, Number{Centre: v.On(1000), N: 1}), v.Scale
}

// Several runs of one session on another phone count as one: they don't show how much its sessions
// differ, which sessions of one run each do.
func TestRunsOfOneSessionElsewhereCountOnce(t *testing.T) {
	waver := []float64{0.9, 1.1, 1, 0.93, 1.07}
	var single, five [][]float64
	for _, by := range waver {
		single = append(single, []float64{by})
		five = append(five, []float64{by, by * 1.001, by, by * 0.999, by})
	}
	one, _ := borrowed(t, single)
	many, _ := borrowed(t, five)
	width := func(e Evidence) float64 { return e.Outlook.Quantile(0.9) - e.Outlook.Quantile(0.1) }
	if !one.Lent || !many.Lent || math.Abs(width(many)/width(one)-1) > 0.02 {
		t.Errorf("sessions of five runs leave %g (lent %t), those of one %g (lent %t)", width(many), many.Lent, width(one), one.Lent)
	}
	if together, _ := borrowed(t, five[:1]); together.Outlook.Known() || together.Counts.Known() {
		t.Errorf("one session of each leaves %g, want nothing known", width(together))
	}
}

// Other contexts contribute their present level: a build that loses what all phones gained must not
// look unchanged.
func TestPresentLevelOfOthers(t *testing.T) {
	var gained [][]float64
	for i := range 18 {
		by := 1 + 0.01*float64(i%3-1)
		if i < 12 {
			by *= 1.25
		}
		gained = append(gained, []float64{by})
	}
	e, scale := borrowed(t, gained)
	if got := scale.Back(e.Expected); !e.Lent || math.Abs(got-1000) > 15 {
		t.Errorf("lent %t, %g is expected, want 1000", e.Lent, got)
	}
}
