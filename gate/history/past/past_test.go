package past

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

const frames = "frames.count"

// Joules are on the log scale, of their own source alone, and shown as they were.
func TestValuesOfOneWayAndScale(t *testing.T) {
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
		if v.Kind != metric.Log || len(sample) != 3 || math.Abs(sample[i]-want) > 1e-9 || math.Abs(v.Back(v.On(want))-want) > 1e-9 {
			t.Fatalf("scale %d, values %v, want the three of the rails", v.Kind, sample)
		}
	}
	if got := SampleOf(v, 2); len(got) != 2 {
		t.Errorf("%d values of a sample of two", len(got))
	}
	if read(0).Multiplies() {
		t.Error("nothing has a logarithm")
	}
	history := RunsOf(now.Context, gatetest.Summaries(p, all...), nil)
	ways := history.Ways(cell, m)
	if slices.Sort(ways); !slices.Equal(ways, []string{"battery", "rails"}) {
		t.Errorf("joules came about by %q", ways)
	}
}

// Runs of an emulator from before its renderer was recorded belong to its own context, unless the
// properties are configured.
func TestRunsWithoutRendererAreOfOwnContext(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	before := map[string]string{"model": "sdk"}
	now := map[string]string{"model": "sdk", devctx.Virtual: "emulator", devctx.GPU: "swiftshader"}
	old := gatetest.Summaries(p, gatetest.Steady(3, before, 8)...)
	if !RunsOf(now, old, nil).Seen().Own {
		t.Error("its runs from before are another device's")
	}
	if RunsOf(now, old, []string{"model", devctx.GPU}).Seen().Own {
		t.Error("what somebody says that counts is supposed")
	}
	// The oldest run that has the property counts, in whatever order they come.
	host := maps.Clone(now)
	host[devctx.GPU] = "host"
	at := func(context map[string]string, day int) run.Run {
		r := gatetest.In(gatetest.Run(fmt.Sprint("r", day), map[string]float64{"frames.duration_ms": 8}), context)
		r.Started = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		return r
	}
	runs := gatetest.Summaries(p, at(host, 9), at(now, 5), at(before, 1))
	for _, c := range []struct {
		now  map[string]string
		want int
	}{{now, 2}, {host, 1}} {
		h := RunsOf(c.now, runs, nil)
		own := 0
		for _, g := range h.Groups {
			if g == h.Own {
				own++
			}
		}
		if own != c.want {
			t.Errorf("%d runs are of the own context of %s, want %d", own, c.now[devctx.GPU], c.want)
		}
	}
}

// A verdict lists the most similar runs first, and no more than it may list.
func TestSeenOfHistory(t *testing.T) {
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

// Runs of one session count as one, and each run that names none as a session of its own; those of
// other contexts are not counted.
func TestOwnSessions(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	runs := gatetest.On("a", frames, 600, 610, 605, 590, 600, 620)
	for i, session := range []string{"monday", "monday", "tuesday", "monday", "", ""} {
		runs[i].Session = session
	}
	runs = append(runs, gatetest.On("b", frames, 500, 500, 500)...)
	for model, want := range map[string][2]int{"a": {6, 4}, "b": {3, 3}, "c": {0, 0}} {
		if seen := RunsOf(gatetest.Phone(model), gatetest.Summaries(p, runs...), nil).Seen(); seen.OwnRuns != want[0] || seen.OwnSessions != want[1] {
			t.Errorf("phone %s: %d runs of %d sessions, want %d of %d", model, seen.OwnRuns, seen.OwnSessions, want[0], want[1])
		}
	}
}

// Where not every run has a number, and it was measured in two ways, the runs count that have it as
// the new run does; where it is measured in one way, all that have it.
func TestOnlyRunsWithTheNumberCount(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	joules := append(gatetest.HungryRuns(3, "rails", 8, 30), gatetest.HungryRuns(2, "battery", 8, 20)...)
	busy := append(gatetest.On("a", "cpu.time_ms", 100, 110), gatetest.On("a", frames, 600)...)
	for name, c := range map[string]struct {
		runs []run.Run
		now  map[string]string
		want int
	}{
		"energy.total_j": {joules, gatetest.Hungry("now", "rails", 8, 30).Context, 3},
		"cpu.time_ms":    {busy, gatetest.Phone("a"), 2},
	} {
		cell := run.Cell{Metric: name}
		history := RunsOf(c.now, gatetest.Summaries(p, c.runs...), nil)
		history.Tabulate([]run.Cell{cell})
		m, _ := metric.Default().Lookup(name)
		got := SampleOf(history.ValuesOf(cell, m, 100), 10)
		if len(got) != c.want || slices.ContainsFunc(got, math.IsNaN) {
			t.Errorf("%s: values %v, want %d", name, got, c.want)
		}
	}
}

// Values by context: a phone that was never measured has none of its own.
func TestValuesSplitByContext(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	runs := append(gatetest.On("a", frames, 600, 610), gatetest.On("b", frames, 500)...)
	m, _ := metric.Default().Lookup(frames)
	for model, want := range map[string][]float64{"a": {600, 610}, "b": {500}, "c": nil} {
		history := RunsOf(gatetest.Phone(model), gatetest.Summaries(p, runs...), nil)
		history.Tabulate([]run.Cell{{Metric: frames}})
		own, groups := history.ValuesOf(run.Cell{Metric: frames}, m, 600).Split()
		if slices.Sort(own); !slices.Equal(own, want) || len(groups) != 2 {
			t.Errorf("phone %s: its own are %v of %d contexts, want %v of 2", model, own, len(groups), want)
		}
	}
}

// Four repetitions of 100 frames without a bad one vary as if half a frame of each were bad: a
// share of 0.005 has √(0.005·0.995/100) = 0.00705, which its odds (half a percentage point added to
// either share) multiply by 1/1.005 + 1/0.005. Where the number of frames is unknown, they don't
// vary.
func TestSharesVaryAsDrawnFrames(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	cell := run.Cell{Metric: "frames.smooth_ratio"}
	m, _ := metric.Default().Lookup(cell.Metric)
	of := func(metrics map[string]float64) Number {
		r := gatetest.Run("r", metrics)
		r.Iterations = slices.Repeat(r.Iterations[:1], 4)
		return Scale{m, metric.Odds}.NumberOf(gatetest.Summaries(p, r)[0], p, cell, m, 1)
	}
	drawn := math.Sqrt(0.005*0.995/100) * (1/1.005 + 1/0.005)
	if n := of(map[string]float64{cell.Metric: 1, frames: 100}); n.N != 4 || math.Abs(n.SD-drawn) > 1e-6 {
		t.Errorf("%+v, want four that vary by %g", n, drawn)
	}
	if n := of(map[string]float64{cell.Metric: 1}); n.N != 4 || n.SD != 0 {
		t.Errorf("of unknown frames: %+v, want four that don't vary", n)
	}
}

// The values of a cell may be requested more than once.
func TestValuesOfTwice(t *testing.T) {
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

// Runs that measured the number in another way are counted separately, and only those of the new
// run's own context where it has some.
func TestKindsInOwnContext(t *testing.T) {
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

// of returns the evidence for a metric of a run of phone a. Each list of values is of runs of one
// phone.
func of(t *testing.T, metricName string, x float64, values map[string][]float64) Evidence {
	t.Helper()
	p := gatetest.Policy(t, gate.PresetDefault)
	var runs []run.Run
	for _, model := range []string{"a", "b", "c", "d", "e", "f"} {
		runs = append(runs, gatetest.On(model, metricName, values[model]...)...)
	}
	history := RunsOf(gatetest.Phone("a"), gatetest.Summaries(p, runs...), nil)
	cell := run.Cell{Metric: metricName}
	history.Tabulate([]run.Cell{cell})
	m, _ := metric.Default().Lookup(metricName)
	v := history.ValuesOf(cell, m, x)
	return history.EvidenceOf(p, cell, m, v, Number{Centre: v.On(x), N: 1})
}

// A number is judged by the sessions of its own context only, except for how much sessions differ
// where there are few.
func TestEvidenceOf(t *testing.T) {
	five := []float64{600, 610, 590, 605, 595}
	for name, c := range map[string]struct {
		values   map[string][]float64
		n, own   int
		expected float64
		known    bool
	}{
		"nothing":                           {nil, 0, 0, 0, false},
		"five of its own":                   {map[string][]float64{"a": five}, 5, 5, 600, true},
		"five of its own, and others":       {map[string][]float64{"a": five, "b": {1, 2, 3}}, 5, 5, 600, true},
		"two of its own":                    {map[string][]float64{"a": {300, 310}}, 2, 2, 305, true},
		"one of its own":                    {map[string][]float64{"a": {300}, "b": five}, 1, 1, 300, false},
		"one, and three others":             {map[string][]float64{"a": {300}, "b": five, "c": five, "d": five}, 1, 1, 300, true},
		"five of one other phone":           {map[string][]float64{"b": five}, 5, 0, 600, false},
		"one of each of five other phones":  {map[string][]float64{"b": {600}, "c": {610}, "d": {590}, "e": {605}, "f": {595}}, 5, 0, 600, false},
		"five, of which two are far worse":  {map[string][]float64{"a": {600, 200, 610, 605, 190}}, 3, 5, 605, true},
		"five, of which two are far better": {map[string][]float64{"a": {200, 600, 205, 610, 195}}, 5, 5, 362, true},
		"five that are all over the place":  {map[string][]float64{"a": {500, 600, 400, 700, 330}}, 5, 5, 506, true},
		"three, of which one is far worse":  {map[string][]float64{"a": {600, 200, 610}}, 3, 3, 470, true},
	} {
		e := of(t, frames, 600, c.values)
		if e.N != c.n || e.Own != c.own || e.Outlook.Known() != c.known || e.Lent || e.Aside != max(c.own-c.n, 0) {
			t.Errorf("%s: %d values, %d its own, known %t, %d aside; want %d, %d, %t", name, e.N, e.Own, e.Outlook.Known(), e.Aside, c.n, c.own, c.known)
		}
		if math.Abs(e.Expected-c.expected) > 1 {
			t.Errorf("%s: %g is expected, want about %g", name, e.Expected, c.expected)
		}
	}
}

// From five own sessions on, the spread of others is not used; below, it is used as far as they
// agree.
func TestSpreadOfOthers(t *testing.T) {
	calm := []float64{600, 606, 594, 603, 597}
	wild := map[string][]float64{"b": {600, 900, 300, 750, 450}, "c": {600, 900, 300, 750, 450}, "d": {600, 900, 300, 750, 450}}
	with := func(own []float64) float64 {
		values := map[string][]float64{"a": own}
		for k, v := range wild {
			values[k] = v
		}
		e := of(t, frames, 600, values)
		return e.Outlook.Quantile(0.9) - e.Outlook.Quantile(0.1)
	}
	alone := func(own []float64) float64 {
		e := of(t, frames, 600, map[string][]float64{"a": own})
		return e.Outlook.Quantile(0.9) - e.Outlook.Quantile(0.1)
	}
	if a, b := alone(calm), with(calm); math.Abs(a-b) > 1e-9 {
		t.Errorf("five of its own: %g beside wild phones, %g alone", b, a)
	}
	if a, b := alone(calm[:3]), with(calm[:3]); b < 3*a {
		t.Errorf("three of its own: %g beside wild phones, %g alone", b, a)
	}
}

// A phone's level is estimated from those that differ from it in the network only, where the
// network made no difference on three others.
func TestLevelOfOthers(t *testing.T) {
	p := gatetest.Judging(t, gate.PresetDefault, "cpu.time_ms")
	var runs []run.Run
	add := func(model, network string, level float64, n int) {
		for i := range n {
			r := gatetest.Run(fmt.Sprint(model, network, i), map[string]float64{"cpu.time_ms": level * (1 + 0.01*float64(i%3-1))})
			runs = append(runs, gatetest.In(r, map[string]string{"model": model, "network": network}))
		}
	}
	for i, model := range []string{"b", "c", "d", "e"} {
		add(model, "wifi", 100*float64(i+1), 6)
		add(model, "3g", 100*float64(i+1), 6)
	}
	add("a", "wifi", 1000, 8)
	add("a", "3g", 1000, 1)
	now := map[string]string{"model": "a", "network": "3g"}
	history := RunsOf(now, gatetest.Summaries(p, runs...), nil)
	cell := run.Cell{Metric: "cpu.time_ms"}
	history.Tabulate([]run.Cell{cell})
	m, _ := metric.Default().Lookup(cell.Metric)
	v := history.ValuesOf(cell, m, 1000)
	e := history.EvidenceOf(p, cell, m, v, Number{Centre: v.On(1000), N: 1})
	if !e.Lent || e.Own != 1 || math.Abs(v.Back(e.Expected)-1000) > 15 {
		t.Errorf("lent %t to %d session, %g is expected; want 1000", e.Lent, e.Own, v.Back(e.Expected))
	}
	if missed := e.Outlook.Below(math.Log(1000 / 1.1)); missed > 0.02 {
		t.Errorf("10 %% more would look as good with a chance of %g", missed)
	}
}

// Runs of one session count once, with all of their repetitions, in the order of time.
func TestRunsOfOneSessionCountOnce(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	at := func(r run.Run, hour int) run.Run {
		r.Started = time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
		return r
	}
	runs := gatetest.Runs(
		at(gatetest.Repeated("late", "s", "a", 8, 8), 9), at(gatetest.Repeated("alone", "", "a", 9), 7), at(gatetest.Repeated("early", "s", "a", 2, 4, 8, 16), 5),
		at(gatetest.Repeated("alone too", "", "a", 10, 10), 6), at(gatetest.Repeated("of another", "s", "b", 1), 1))
	history := RunsOf(map[string]string{"model": "a"}, gatetest.Summaries(p, runs...), nil)
	cell := run.Cell{Metric: "frames.duration_ms"}
	history.Tabulate([]run.Cell{cell})
	m, _ := metric.Default().Lookup(cell.Metric)
	got := history.ValuesOf(cell, m, 8).sessions(p, cell, m)
	// Four at √2·4, the centre of 2, 4, 8 and 16, and two at 8.
	want := []session{{Number{(4*math.Log(4*math.Sqrt2) + 2*math.Log(8)) / 6, 0, 6}, &run.Summary{ID: "early", Session: "s"}}, {Number{math.Log(10), 0, 2}, &run.Summary{ID: "alone too"}}, {Number{math.Log(9), 0, 1}, &run.Summary{ID: "alone"}}}
	if len(got) != len(want) {
		t.Fatalf("%d sessions, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if math.Abs(got[i].Centre-w.Centre) > 1e-9 || got[i].N != w.N || got[i].first.ID != w.first.ID || got[i].first.Session != w.first.Session {
			t.Errorf("session %d: %+v, want %+v", i, got[i], w)
		}
	}
	early, _ := gatetest.Summaries(p, runs[2])[0].Repeated(cell)
	if want := early.SD * math.Sqrt(3.0/4); math.Abs(got[0].SD-want) > 1e-6 {
		t.Errorf("a repetition of the session wavers by %g, want %g: that of three degrees of freedom and of one without any spread", got[0].SD, want)
	}
	// A policy with means uses the mean of the repetitions, and a run that doesn't list them counts
	// as one.
	p.Centre = run.Mean
	s := gatetest.Summaries(p, runs[2])[0]
	if n := (Scale{m, metric.Log}).NumberOf(s, p, cell, m, 7.5); n.Centre != math.Log(7.5) || n.N != 4 {
		t.Errorf("by means: %+v", n)
	}
	if n := (Scale{m, metric.Linear}).NumberOf(s, gatetest.Policy(t, gate.PresetDefault), cell, m, 7.5); math.Abs(n.Centre-4*math.Sqrt2) > 1e-9 || n.N != 4 || n.SD < 1 {
		t.Errorf("of logarithms, where values are judged: %+v", n)
	}
	s.Cells = run.CellsOf(map[run.Cell]float64{cell: 7.5})
	if n := (Scale{m, metric.Linear}).NumberOf(s, p, cell, m, 7.5); n != (Number{7.5, 0, 1}) {
		t.Errorf("of a run that doesn't tell of its repetitions: %+v", n)
	}
}

// A worsening by 10 % on each scale: of the logarithm, of the odds, of the value, in points of a
// ratio, in the resolution of a metric that may be below zero; and never less than the resolution.
func TestEffectOnEachScale(t *testing.T) {
	of := func(better metric.Direction, set func(*metric.Metric)) metric.Metric {
		m := metric.Metric{Direction: better, Resolution: 0.5}
		if set != nil {
			set(&m)
		}
		return m
	}
	ratio, signed := func(m *metric.Metric) { m.Ratio, m.Resolution = true, 0.001 }, func(m *metric.Metric) { m.Signed = true }
	const lower, higher = metric.LowerIsBetter, metric.HigherIsBetter
	span := math.Log(1.5) / math.Log(1.1) // 10 % is half as many bad frames again
	share := func(m *metric.Metric) { m.Odds, m.Span, m.Resolution = true, span, 0.001 }
	restless := func(m *metric.Metric) { share(m); m.Restless = 0.02 }
	for name, c := range map[string]struct {
		m                   metric.Metric
		kind                metric.Scale
		level, effect, unit float64
		between, floor      float64
	}{
		"times":                 {of(lower, nil), metric.Log, math.Log(100), math.Log(1.1), math.Log(1.01), 2 * math.Log(1.01), 0.5 / math.Sqrt(12) / 100},
		"rates":                 {of(higher, nil), metric.Log, math.Log(100), math.Log(0.9), math.Log(1.01), 2 * math.Log(1.01), 0.5 / math.Sqrt(12) / 100},
		"times hardly resolved": {of(lower, nil), metric.Log, math.Log(1), math.Log(1.5), math.Log(1.01), 2 * math.Log(1.01), 0.5 / math.Sqrt(12)},
		"counts":                {of(lower, nil), metric.Linear, 100, 10, 1, 2, 0.5 / math.Sqrt(12)},
		"frames":                {of(higher, nil), metric.Linear, 100, -10, 1, 2, 0.5 / math.Sqrt(12)},
		"counts of nothing":     {of(lower, nil), metric.Linear, 0, 0.5, 0.05, 0.1, 0.5 / math.Sqrt(12)},
		"counts below nothing":  {of(lower, nil), metric.Linear, -100, 10, 1, 2, 0.5 / math.Sqrt(12)},
		"a ratio":               {of(higher, ratio), metric.Linear, 0.95, -0.1, 0.01, 0.02, 0.001 / math.Sqrt(12)},
		"janky frames, a ratio": {of(lower, ratio), metric.Linear, 0.02, 0.1, 0.01, 0.02, 0.001 / math.Sqrt(12)},
		// near 95 %, half a percentage point added to either share: odds move by 1/p + 1/(1-p) of
		// them
		"a share of frames":        {of(higher, share), metric.Odds, math.Log(0.955 / 0.055), -math.Log(1.5), math.Log(1.01) * span, 2 * math.Log(1.01) * span, 0.001 / math.Sqrt(12) * (1/0.955 + 1/0.055)},
		"a share that wavers":      {of(higher, restless), metric.Odds, math.Log(0.955 / 0.055), -math.Log(1.5), math.Log(1.01) * span, 2 * math.Log(1.01) * span, math.Hypot(0.001/math.Sqrt(12)*(1/0.955+1/0.055), math.Log(1.02)*span)},
		"a tail":                   {of(lower, func(m *metric.Metric) { m.Span = 2 }), metric.Log, math.Log(100), math.Log(1.21), math.Log(1.0201), 2 * math.Log(1.0201), 0.5 / math.Sqrt(12) / 100},
		"beyond the deadline":      {of(lower, signed), metric.Linear, -8, 1, 0.1, 0.2, 0.5 / math.Sqrt(12)},
		"a frame rate that wavers": {of(higher, func(m *metric.Metric) { m.Restless = 0.03 }), metric.Linear, 60, -6, 0.6, 1.2, math.Hypot(0.5/math.Sqrt(12), 1.8)},
		"a time that wavers":       {of(lower, func(m *metric.Metric) { m.Restless = 0.01 }), metric.Log, math.Log(100), math.Log(1.1), math.Log(1.01), 2 * math.Log(1.01), math.Hypot(0.005/math.Sqrt(12), 0.01)},
	} {
		s := Scale{c.m, c.kind}
		gatetest.About(t, name, Effect(c.m, s, c.level, 0.1), c.effect)
		gatetest.About(t, name+", its unit", Unit(c.m, s, c.level), c.unit)
		p := PriorOf(c.m, s, c.level)
		gatetest.About(t, name+", sessions", p.Between, c.between)
		gatetest.About(t, name+", repetitions", p.Repetition, 2.5*c.between)
		gatetest.About(t, name+", the least spread", p.Floor, c.floor)
	}
	if e := Effect(of(higher, nil), Scale{of(higher, nil), metric.Log}, math.Log(0.1), 0.1); math.IsInf(e, 0) || math.IsNaN(e) || e > math.Log(0.1) {
		t.Errorf("all of a rate that is hardly resolved: %g", e)
	}
}

// Noise near a metric's resolution is additive, not multiplicative: ten milliseconds of wakelocks
// one day and forty the next.
func TestScaleNearResolution(t *testing.T) {
	m, _ := metric.Default().Lookup("wakelock.time_ms")
	for want, values := range map[metric.Scale][]float64{metric.Log: {9000, 12_000, 8000}, metric.Linear: {10, 40, 9999}} {
		cell := run.Cell{Metric: m.Name}
		p := gatetest.Policy(t, gate.PresetDefault)
		history := RunsOf(gatetest.Phone("a"), gatetest.Summaries(p, gatetest.On("a", m.Name, values...)...), nil)
		history.Tabulate([]run.Cell{cell})
		for _, x := range []float64{10, 600_000} {
			if v := history.ValuesOf(cell, m, x); v.Kind != want {
				t.Errorf("%g beside %g: scale %d, want %d", x, values, v.Kind, want)
			}
		}
	}
}

// For an exact number the last accepted value counts, of the own context if there is one.
func TestNewest(t *testing.T) {
	p := gatetest.Judging(t, gate.PresetDefault, "apk.size_bytes")
	cell := run.Cell{Metric: "apk.size_bytes"}
	m, _ := metric.Default().Lookup(cell.Metric)
	at := func(model string, day int, bytes float64) run.Run {
		r := gatetest.Nearly(model, cell.Metric, bytes)
		r.ID, r.Started = fmt.Sprint(model, day), time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		return r
	}
	for name, c := range map[string]struct {
		runs []run.Run
		want float64
		n    int
	}{
		"of its own":     {gatetest.Runs(at("a", 1, 100), at("a", 3, 120), at("a", 2, 110)), 120, 1},
		"beside others":  {gatetest.Runs(at("b", 9, 500), at("a", 2, 110), at("b", 1, 90)), 110, 1},
		"of others":      {gatetest.Runs(at("b", 1, 90), at("b", 9, 500), at("c", 5, 300)), 500, 1},
		"without a past": {nil, 0, 0},
	} {
		history := RunsOf(gatetest.Phone("a"), gatetest.Summaries(p, c.runs...), nil)
		history.Tabulate([]run.Cell{cell})
		if e := history.ValuesOf(cell, m, 100).Newest(); e.Expected != c.want || e.N != c.n || e.Own != c.n {
			t.Errorf("%s: %+v, want %g", name, e, c.want)
		}
	}
}

// Runs from before an improvement are no longer a reference.
func TestImprovementIsANewLevel(t *testing.T) {
	e := of(t, "cpu.time_ms", 80, map[string][]float64{"a": {100, 101, 99, 100, 102, 98, 80, 81, 79, 80}})
	if e.Own < 4 || e.Own > 5 || e.Since != fmt.Sprint("a", 10-e.Own) || math.Exp(e.Expected) > 85 {
		t.Errorf("%d sessions since %q, %g is expected; want 4 or 5, and about 80", e.Own, e.Since, math.Exp(e.Expected))
	}
	if e = of(t, "cpu.time_ms", 100, map[string][]float64{"a": {100, 101, 99, 100, 102, 98, 101}}); e.Own != 7 || e.Since != "" {
		t.Errorf("%d sessions since %q, want all seven", e.Own, e.Since)
	}
}

// Rare events are predicted from their number of repetitions.
func TestRareEventsAreCounted(t *testing.T) {
	e := of(t, "anr.count", 0, map[string][]float64{"a": {0, 0, 1, 0, 0}})
	if !e.Counts.Known() || e.Outlook.Known() || math.Abs(e.Expected-0.2) > 1e-9 || e.Own != 5 {
		t.Errorf("%+v, want a rate of 0.2 by five", e)
	}
}

// A new level takes its spread from the sessions of the one before, where these are four or more;
// then a build at the new level is as good as expected, and one at the old level is not.
func TestSpreadOfEarlierLevel(t *testing.T) {
	before := []float64{100, 101, 99, 100, 102, 98, 100, 101}
	at := func(values ...float64) Evidence {
		return of(t, "cpu.time_ms", 80, map[string][]float64{"a": values})
	}
	lent := at(append(slices.Clone(before), 80)...)
	if lent.Own != 1 || !lent.Lent || lent.Since != "a8" || !lent.Outlook.Known() {
		t.Fatalf("%+v, want one session that is lent its spread", lent)
	}
	if math.Abs(math.Exp(lent.Expected)-80) > 1 {
		t.Errorf("%g is expected, want 80", math.Exp(lent.Expected))
	}
	// One session of the new level, and one more like it, differ by √2 of their standard deviation.
	sd := stat.SD([]float64{math.Log(1), math.Log(1.01), math.Log(0.99), 0, math.Log(1.02), math.Log(0.98), 0, math.Log(1.01)})
	if got := (lent.Outlook.Quantile(0.84) - lent.Outlook.Quantile(0.16)) / 2; got < sd || got > 2.5*sd {
		t.Errorf("the next session is %g off, of sessions that vary by %g", got, sd)
	}
	if missed := lent.Outlook.Above(math.Log(100)); missed > 0.001 {
		t.Errorf("what was before the improvement is expected with a chance of %g", missed)
	}
	// A wider spread before gives a wider prediction.
	if wide := at(100, 110, 91, 100, 112, 89, 103, 97, 60); !wide.Lent || wide.Outlook.Quantile(0.9)-wide.Outlook.Quantile(0.1) < 3*(lent.Outlook.Quantile(0.9)-lent.Outlook.Quantile(0.1)) {
		t.Errorf("lent %t by sessions that vary by a tenth", wide.Lent)
	}
	if few := at(100, 101, 99, 80); few.Since == "" || few.Lent {
		t.Errorf("three sessions lend their spread: %+v", few)
	}
	if four := at(100, 101, 99, 100, 80); four.Since == "" || !four.Lent {
		t.Errorf("four sessions lend nothing: %+v", four)
	}
	if none := at(100, 101, 99); none.Lent {
		t.Errorf("without a level before: %+v", none)
	}
	many := at(append(slices.Clone(before), 80, 80.5, 79.5, 80.2, 79.8)...)
	if many.Own != 5 || many.Lent {
		t.Errorf("five of its own: %+v", many)
	}
}

// The shared part is subtracted from the sessions that have names, and no others count.
func TestEvidenceLess(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	var runs []run.Run
	shared := map[string]float64{}
	for i, by := range []float64{0.1, -0.1, 0.05, -0.05, 0.08, -0.08, 0} {
		name := fmt.Sprint("night ", i)
		r := gatetest.Repeated(fmt.Sprint(i), name, "a", 8*math.Exp(by)*0.99, 8*math.Exp(by), 8*math.Exp(by)*1.01)
		r.Context, r.Started = gatetest.Phone("a"), time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		shared[name] = by
		runs = append(runs, r)
	}
	cell := run.Cell{Metric: "frames.duration_ms"}
	history := RunsOf(gatetest.Phone("a"), gatetest.Summaries(p, runs...), nil)
	history.Tabulate([]run.Cell{cell})
	m, _ := metric.Default().Lookup(cell.Metric)
	v := history.ValuesOf(cell, m, 8)
	x := Number{Centre: math.Log(8), SD: 0.01, N: 3}
	e := history.EvidenceOf(p, cell, m, v, x)
	less, ok := e.Less(shared, x, 5)
	if !ok || len(less.Sessions) != 7 || math.Abs(less.Expected-math.Log(8)) > 0.003 {
		t.Fatalf("%t, %+v", ok, less)
	}
	for _, s := range less.Sessions {
		if math.Abs(s.Centre-math.Log(8)) > 1e-4 {
			t.Errorf("%s lies at %g, want 8", s.Name, math.Exp(s.Centre))
		}
	}
	width := func(e Evidence) float64 { return e.Outlook.Quantile(0.9) - e.Outlook.Quantile(0.1) }
	if width(less) > width(e)/2 {
		t.Errorf("the next is within %g, and was within %g with what nights share", width(less), width(e))
	}
	if math.Abs(e.Sessions[0].Centre-math.Log(8)-0.1) > 1e-4 {
		t.Error("the evidence itself was changed")
	}
	delete(shared, "night 0")
	delete(shared, "night 1")
	if five, ok := e.Less(shared, x, 5); !ok || len(five.Sessions) != 5 {
		t.Errorf("of five: %t, %d", ok, len(five.Sessions))
	}
	delete(shared, "night 2")
	if four, ok := e.Less(shared, x, 5); ok || len(four.Sessions) != 7 {
		t.Errorf("of four: %t, %d sessions; want it as it was", ok, len(four.Sessions))
	}
}

// Sessions are in the order of time however they come; those of one time keep their order.
func TestSessionsInOrderOfTime(t *testing.T) {
	for _, c := range []struct {
		days []int // of the sessions as they come
		want []int // their places in the order of time
	}{
		{nil, nil},
		{[]int{3}, []int{0}},
		{[]int{1, 2, 3}, []int{0, 1, 2}},
		{[]int{3, 2, 1}, []int{2, 1, 0}},
		{[]int{3, 1, 2}, []int{1, 2, 0}},
		{[]int{3, 2, 2, 1}, []int{3, 1, 2, 0}},
		{[]int{2, 2}, []int{0, 1}},
	} {
		j := newJoining(len(c.days))
		for i, day := range c.days {
			j.add(i, session{Number{N: i}, &run.Summary{Started: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)}})
		}
		var got []int
		for _, s := range j.inTime() {
			got = append(got, s.N)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("of days %v: %v, want %v", c.days, got, c.want)
		}
	}
}
