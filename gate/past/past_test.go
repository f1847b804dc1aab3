package past

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

const frames = "frames.count"

// Joules are on the log scale, of their own source alone, and shown as they were.
func TestValuesAreOfOneWayAndScale(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	cell := run.Cell{Metric: "energy.total_j"}
	m, _ := metric.Default().Lookup(cell.Metric)
	all := append(gatetest.HungryRuns(3, "rails", 8, 30), gatetest.HungryRuns(2, "battery", 8, 20)...)
	all = append(all, gatetest.Timed("no joules", map[string]string{"model": "a"}, 8))
	now := gatetest.Hungry("now", "rails", 8, 30)
	read := func(x float64) Values {
		history := RunsOf(now.Context, gatetest.Summaries(p, all...), nil)
		history.Tabulate([]run.Cell{cell})
		return history.ValuesOf(cell, m, x)
	}
	v := read(30)
	sample := SampleOf(v, 10)
	slices.Sort(sample)
	for i, want := range []float64{29.7, 30, 30.3} {
		if !v.Log || len(sample) != 3 || math.Abs(sample[i]-want) > 1e-9 || math.Abs(v.Back(v.On(want))-want) > 1e-9 {
			t.Fatalf("log %t, values %v, want the three of the rails", v.Log, sample)
		}
	}
	if got := SampleOf(v, 2); len(got) != 2 {
		t.Errorf("%d values of a sample of two", len(got))
	}
	if read(0).Log {
		t.Error("nothing has a logarithm")
	}
	history := RunsOf(now.Context, gatetest.Summaries(p, all...), nil)
	ways := history.Ways(cell, m)
	if slices.Sort(ways); !slices.Equal(ways, []string{"battery", "rails"}) {
		t.Errorf("joules came about by %q", ways)
	}
}

// A verdict tells of the most similar runs first, and of no more than it may list.
func TestWhatIsToldOfTheHistory(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	var runs []run.Run
	for i := range gate.MaxListed + 10 {
		runs = append(runs, gatetest.On(fmt.Sprint("other", i), frames, 600)...)
	}
	runs = append(runs, gatetest.On("a", frames, 600)...)
	seen := RunsOf(gatetest.Phone("a"), gatetest.Summaries(p, runs...), nil).Seen()
	if seen.Total != gate.MaxListed+11 || len(seen.List) != gate.MaxListed || !seen.Own || seen.List[0].ID != "a0" || seen.List[0].Cluster != 1 {
		t.Errorf("%d of %d, own %t, first %+v", len(seen.List), seen.Total, seen.Own, seen.List[0])
	}
	if RunsOf(gatetest.Phone("b"), nil, nil).Seen().Own {
		t.Error("of no history some is its own")
	}
}

// The values of a cell may be asked for more than once.
func TestAskingChangesNoValue(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	cell := run.Cell{Metric: "frames.duration_ms"}
	history := RunsOf(gatetest.Phone("a"), gatetest.Summaries(p, gatetest.On("a", cell.Metric, 8, 9, 10)...), nil)
	history.Tabulate([]run.Cell{cell})
	m, _ := metric.Default().Lookup(cell.Metric)
	for range 2 {
		if got := SampleOf(history.ValuesOf(cell, m, 9), 3); len(got) != 3 || math.Abs(slices.Max(got)-10) > 1e-9 || math.Abs(slices.Min(got)-8) > 1e-9 {
			t.Errorf("the values are %v, want 8, 9 and 10", got)
		}
	}
}

// Runs that have the number in another way are counted beside those that have it as the
// new run does, those of the new run's own context alone where it has some.
func TestKindsAreCountedInTheOwnContext(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	ratio, _ := metric.Default().Lookup("frames.smooth_ratio")
	cells := []run.Cell{{Metric: "frames.smooth_ratio"}, {Metric: "frames.duration_ms"}, {Metric: "frames.janky"}}
	of := func(model, by, metricName string, n int) (out []run.Run) {
		for i := range n {
			r := gatetest.Run(fmt.Sprint(model, by, metricName, i), map[string]float64{metricName: 0.9})
			out = append(out, gatetest.In(r, map[string]string{"model": model, metric.FramesBy: by}))
		}
		return out
	}
	const smooth, ms, cpu = "frames.smooth_ratio", "frames.duration_ms", "cpu.time_ms"
	for name, c := range map[string]struct {
		runs        [][]run.Run
		same, other int
		ways        []string
		own         bool
	}{
		"nothing":                        {nil, 0, 0, nil, false},
		"of its own":                     {[][]run.Run{of("a", "timeline", smooth, 2), of("a", "gfxinfo", smooth, 3)}, 2, 3, []string{"gfxinfo"}, true},
		"two other kinds":                {[][]run.Run{of("a", "gfxinfo", smooth, 1), of("a", "deadline", ms, 2)}, 0, 3, []string{"deadline", "gfxinfo"}, true},
		"others' count no more":          {[][]run.Run{of("b", "gfxinfo", smooth, 4), of("a", "timeline", smooth, 2), of("c", "timeline", smooth, 5)}, 2, 0, nil, true},
		"its own have none of it":        {[][]run.Run{of("a", "timeline", cpu, 9), of("b", "timeline", ms, 2), of("c", "gfxinfo", smooth, 1)}, 2, 1, []string{"gfxinfo"}, false},
		"others alone":                   {[][]run.Run{of("b", "gfxinfo", smooth, 2), of("c", "timeline", smooth, 1)}, 1, 2, []string{"gfxinfo"}, false},
		"its own are last, and by dumps": {[][]run.Run{of("b", "timeline", smooth, 2), of("a", "gfxinfo", smooth, 1)}, 0, 1, []string{"gfxinfo"}, true},
	} {
		history := RunsOf(map[string]string{"model": "a", metric.FramesBy: "timeline"}, gatetest.Summaries(p, slices.Concat(c.runs...)...), nil)
		history.Tabulate(cells)
		same, other, ways, own := history.Kinds(cells, ratio)
		if same != c.same || other != c.other || !slices.Equal(ways, c.ways) || own != c.own {
			t.Errorf("%s: %d the same, %d in other ways, %q, its own %t; want %d, %d, %q, %t", name, same, other, ways, own, c.same, c.other, c.ways, c.own)
		}
	}
}
