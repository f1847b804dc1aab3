package gate

import (
	"slices"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// The policy for a cell uses the threshold of its event, or else that of any event.
func TestPolicyForCell(t *testing.T) {
	p, _ := PolicyOf(PresetDefault)
	const ms = "frames.duration_ms"
	p.Thresholds = []Threshold{
		{Metric: ms, Event: AnyEvent, MinChange: new(0.2), Max: new(20.0)},
		{Metric: ms, Event: "tap", OutlierFactor: new(3.0), Min: new(5.0)},
		{Metric: "cpu.time_ms", Ignore: true},
	}
	for name, c := range map[string]struct {
		cell              run.Cell
		factor, minChange float64
		value             float64
		broken            float64 // 0: none
	}{
		"the whole run, within its budget": {run.Cell{Metric: ms}, 1.5, 0.2, 20, 0},
		"the whole run, beyond it":         {run.Cell{Metric: ms}, 1.5, 0.2, 20.1, 20},
		"an event of no other threshold":   {run.Cell{Event: "scroll", Metric: ms}, 1.5, 0.2, 21, 20},
		"an event of its own":              {run.Cell{Event: "tap", Metric: ms}, 3, 0.05, 21, 0},
		"below its least":                  {run.Cell{Event: "tap", Metric: ms}, 3, 0.05, 4.9, 5},
		"another metric":                   {run.Cell{Metric: "memory.pss_kb"}, 1.5, 0.05, 1e9, 0},
	} {
		at := p.ForCell(c.cell)
		limit := at.Broken(c.value)
		if at.OutlierFactor != c.factor || at.MinChange != c.minChange || (limit != nil) != (c.broken != 0) || limit != nil && *limit != c.broken {
			t.Errorf("%s: %+v, breaks %v", name, at, limit)
		}
	}
}

func TestPolicyJudged(t *testing.T) {
	summary := run.Summary{Cells: run.CellsOf(map[run.Cell]float64{{Metric: "energy.total_j"}: 1, {Metric: "energy.app_j"}: 1, {Event: "tap", Metric: "energy.app_j"}: 1})}
	whole, detail, ofEvent := run.Cell{Metric: "energy.total_j"}, run.Cell{Metric: "energy.app_j"}, run.Cell{Event: "tap", Metric: "energy.app_j"}
	for name, c := range map[string]struct {
		set                    func(*Policy)
		whole, detail, ofEvent bool
	}{
		"by default":            {func(*Policy) {}, true, false, true},
		"the coarse grain":      {func(p *Policy) { p.Grain = Coarse }, true, false, false},
		"the fine grain":        {func(p *Policy) { p.Grain = Fine }, false, false, true},
		"named metrics":         {func(p *Policy) { p.Metrics = []string{"energy.app_j"} }, false, true, true},
		"none":                  {func(p *Policy) { p.Metrics = []string{} }, false, false, false},
		"a threshold asks":      {func(p *Policy) { p.Thresholds = []Threshold{{Metric: "energy.app_j"}} }, true, true, true},
		"a threshold leaves it": {func(p *Policy) { p.Thresholds = []Threshold{{Metric: "energy.total_j", Ignore: true}} }, false, false, true},
	} {
		p, _ := PolicyOf(PresetDefault)
		c.set(&p)
		judged := func(cell run.Cell) bool { return p.Judged(cell, summary, metric.Default()) }
		if judged(whole) != c.whole || judged(detail) != c.detail || judged(ofEvent) != c.ofEvent {
			t.Errorf("%s: the whole run %t, its detail %t, that of an event %t", name, judged(whole), judged(detail), judged(ofEvent))
		}
	}
	p, _ := PolicyOf(PresetDefault)
	if p.Judged(run.Cell{Metric: "of.nobody"}, summary, metric.Default()) {
		t.Error("a metric of which neither way is better is judged")
	}
}

// The tail of the whole run decides as well as its mean. An event's tail is a detail of the event's
// mean, and stands in for it where there is none. Other percentiles are details wherever there is a
// mean.
func TestTailDecidesAsWellAsMean(t *testing.T) {
	const mean, p95, p50 = "frames.duration_ms", "frames.duration_ms.p95", "frames.duration_ms.p50"
	p, _ := PolicyOf(PresetDefault)
	with := run.Summary{Cells: run.CellsOf(map[run.Cell]float64{{Metric: mean}: 8, {Event: "tap", Metric: mean}: 8})}
	for cell, want := range map[run.Cell][2]bool{ // with a mean, and without
		{Metric: mean}: {true, true}, {Event: "tap", Metric: mean}: {true, true},
		{Metric: p95}: {true, true}, {Event: "tap", Metric: p95}: {false, true},
		{Metric: p50}: {false, true}, {Event: "tap", Metric: p50}: {false, true},
	} {
		for i, s := range []run.Summary{with, {}} {
			if got := p.Judged(cell, s, metric.Default()); got != want[i] {
				t.Errorf("%v, without a mean %t: judged %t", cell, i == 1, got)
			}
		}
	}
}

func TestPolicyWithLevel(t *testing.T) {
	dune, _ := PolicyOf(PresetDune)
	if got := dune.WithLevel().Alpha; got != 0.01 {
		t.Errorf("%g, want that of the default", got)
	}
	own := Policy{Alpha: 0.02, MinHistory: 1}
	if own.WithLevel().Alpha != 0.02 || own.LeastRuns() != 2 {
		t.Errorf("%g of %d runs, want its own level, and two runs", own.WithLevel().Alpha, own.LeastRuns())
	}
	if _, known := PolicyOf("strict"); known {
		t.Error("there is a preset strict")
	}
}

// The number of frames matters to metrics of frames, and not where it is judged itself.
func TestPolicyRestsOn(t *testing.T) {
	const count, ratio, cpu = "frames.count", "frames.smooth_ratio", "cpu.time_ms"
	for name, c := range map[string]struct {
		preset         string
		set            func(*Policy)
		whole, ofEvent bool
	}{
		"by default":               {PresetDefault, func(*Policy) {}, true, true},
		"in the paper":             {PresetDune, func(*Policy) {}, false, false},
		"the coarse grain":         {PresetDefault, func(p *Policy) { p.Grain = Coarse }, true, false},
		"the fine grain":           {PresetDefault, func(p *Policy) { p.Grain = Fine }, false, true},
		"judged by name":           {PresetDefault, func(p *Policy) { p.Metrics = []string{ratio, count} }, false, false},
		"other frames by name":     {PresetDefault, func(p *Policy) { p.Metrics = []string{cpu, ratio} }, true, true},
		"no frames by name":        {PresetDefault, func(p *Policy) { p.Metrics = []string{cpu} }, false, false},
		"nothing":                  {PresetDefault, func(p *Policy) { p.Metrics = []string{} }, false, false},
		"a threshold has it":       {PresetDefault, func(p *Policy) { p.Thresholds = []Threshold{{Metric: count}} }, false, true},
		"a threshold leaves it":    {PresetDefault, func(p *Policy) { p.Thresholds = []Threshold{{Metric: count, Event: AnyEvent, Ignore: true}} }, false, false},
		"a threshold of another's": {PresetDefault, func(p *Policy) { p.Thresholds = []Threshold{{Metric: ratio, Ignore: true}} }, true, true},
	} {
		p, _ := PolicyOf(c.preset)
		c.set(&p)
		rests := func(cell run.Cell) bool { return p.RestsOn(cell, metric.Default()) }
		if rests(run.Cell{Metric: count}) != c.whole || rests(run.Cell{Event: "tap", Metric: count}) != c.ofEvent {
			t.Errorf("%s: the whole run %t, an event %t", name, !c.whole, !c.ofEvent)
		}
		for _, other := range []string{ratio, cpu, "apk.size_bytes", "of.nobody"} {
			if rests(run.Cell{Metric: other}) {
				t.Errorf("%s: others rest on %s", name, other)
			}
		}
	}
}

// A metric that is judged on request only is judged where a preset, a list or a threshold names it.
func TestJudgedOnRequest(t *testing.T) {
	whole := run.Cell{Metric: "frames.count"}
	summary := run.Summary{Cells: run.CellsOf(map[run.Cell]float64{whole: 1, {Metric: "apk.size_bytes"}: 1})}
	for name, c := range map[string]struct {
		preset string
		set    func(*Policy)
		want   bool
	}{
		"by default":  {PresetDefault, func(*Policy) {}, false},
		"the paper":   {PresetDune, func(*Policy) {}, true},
		"a list":      {PresetDefault, func(p *Policy) { p.Metrics = []string{"frames.count"} }, true},
		"other lists": {PresetDefault, func(p *Policy) { p.Metrics = []string{"cpu.time_ms"} }, false},
		"a threshold": {PresetDefault, func(p *Policy) { p.Thresholds = []Threshold{{Metric: "frames.count"}} }, true},
	} {
		p, _ := PolicyOf(c.preset)
		c.set(&p)
		if got := p.Judged(whole, summary, metric.Default()); got != c.want {
			t.Errorf("%s: judged %t", name, got)
		}
		if p.Judged(run.Cell{Metric: "apk.size_bytes"}, summary, metric.Default()) {
			t.Errorf("%s: the size of the build is judged", name)
		}
	}
}

// Rules use the properties by which runs are compared, unless they have a list of their own.
func TestRuleProperties(t *testing.T) {
	p := Policy{Use: []string{"network"}}
	if got := p.RuleProperties(); !slices.Equal(got, []string{"network"}) {
		t.Errorf("%q, want those that runs are compared by", got)
	}
	p.RuleUse = []string{"sdk", "version"}
	if got := p.RuleProperties(); !slices.Equal(got, p.RuleUse) {
		t.Errorf("%q, want those of the rules", got)
	}
}

// A metric that a run declares is added, unless its declaration is invalid.
func TestCatalogueOfDeclaredMetrics(t *testing.T) {
	declaring := func(better string) run.Run {
		return run.Run{Declared: []run.Declared{{Name: "search.latency_ms", Unit: "ms", Better: better}}}
	}
	catalogue, doubts := Catalogue(metric.Default(), declaring("lower"))
	if m, known := catalogue.Lookup("search.latency_ms"); !known || m.Direction != metric.LowerIsBetter || len(doubts) != 0 {
		t.Errorf("known %t, %+v, doubts %v", known, m, doubts)
	}
	catalogue, doubts = Catalogue(metric.Default(), declaring("sideways"))
	if _, known := catalogue.Lookup("search.latency_ms"); known || len(doubts) != 1 {
		t.Errorf("known %t, doubts %v; want one doubt, and nothing known", known, doubts)
	}
}
