package drift

import (
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Two metrics drift for the worse in opposite directions: both are in one family.
func TestWorseSideIsOneFamily(t *testing.T) {
	line := func(metricName string, rising, falling, change float64) *test {
		m, _ := metric.Default().Lookup(metricName)
		d := &test{metric: m, cell: run.Cell{Metric: metricName}, rise: rise{rising: rising, falling: falling}}
		d.Direction, d.P, d.Creep = gate.None, 1, &Shift{From: 100, Change: change, Shift: 100 * change}
		return d
	}
	frames, cpu := line("frames.count", 0.999, 0.001, -0.2), line("cpu.time_ms", 0.002, 0.998, 0.2)
	alone := line("cpu.time_ms", 0.004, 0.996, 0.2)
	alone.Context = map[string]string{"model": "a"}
	d := drifting{policy: gatetest.Policy(t, gate.PresetDefault), tests: []*test{frames, cpu, alone}}
	d.correct(false)
	gatetest.About(t, "what is not its turn yet", alone.P, 1)
	d.correct(true)
	// Half of the false alarms for all together, half for each alone; Holm over two.
	gatetest.About(t, "frames", frames.P, 0.004)
	gatetest.About(t, "CPU time", cpu.P, 0.004)
	gatetest.About(t, "CPU time of one phone", alone.P, 0.008)
	for _, l := range d.tests {
		if l.Direction != gate.ToRegression {
			t.Errorf("%s: %s", l.cell.Metric, l.Direction)
		}
	}
}

// With a single context, it has all of the false alarms.
func TestOneContextHasAllFalseAlarms(t *testing.T) {
	m, _ := metric.Default().Lookup("cpu.time_ms")
	one := &test{metric: m, cell: run.Cell{Metric: m.Name}, rise: rise{rising: 0.004, falling: 0.996}}
	one.Creep = &Shift{From: 100, Change: 0.2, Shift: 20}
	budget := 0.1
	for share, want := range map[float64]gate.Direction{0.05: gate.None, 0.1: gate.ToRegression, 0.2: gate.ToRegression} {
		one.Direction, one.Creep = gate.None, &Shift{From: 100, Change: share, Shift: 100 * share}
		p := gatetest.Policy(t, gate.PresetDefault)
		p.DriftBudget = &budget
		d := drifting{policy: p, tests: []*test{one}}
		d.correct(false)
		gatetest.About(t, "chance", one.P, 0.004)
		if one.Direction != want || one.Creeps() != (want == gate.ToRegression) {
			t.Errorf("a rise of %g with a budget of %g: %s", share, budget, one.Direction)
		}
	}
}
