package gate

import (
	"cmp"
	"math"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// DriftLine is how one metric of the whole run moved in a scenario: in one
// context, or in all together.
type DriftLine struct {
	Scenario string `json:"scenario"`
	// Context is nil where all contexts are taken together, each by itself.
	Context map[string]string `json:"context"`
	Metric  string            `json:"metric"`
	// Direction says whether the metric creeps: regression for the worse,
	// improvement for the better, none where it may as well stand still.
	Direction Direction `json:"direction"`
	// Now is the middle of the new runs, in the metric's unit, and Runs their number.
	Now  float64 `json:"now"`
	Runs int     `json:"runs"`
	// SinceLast is the shift from the runs of the last refresh, SinceAll that
	// from all that were accepted before; nil where there are none.
	SinceLast *DriftShift `json:"since_last"`
	SinceAll  *DriftShift `json:"since_all"`
	// Creep is the change from the first run to the newest by the trend of all
	// of them; nil where there are too few or they bear no times.
	Creep *DriftShift `json:"creep"`
	// P is the chance of such a trend the same way if time meant nothing,
	// corrected for multiplicity; 1 where it was not worked out.
	P float64 `json:"p"`
}

// DriftShift is a change with its interval.
type DriftShift struct {
	From   float64 `json:"from"`   // what it is a change of, in the metric's unit
	Runs   int     `json:"runs"`   // behind From; of a creep all runs
	Shift  float64 `json:"shift"`  // in the metric's unit
	Change float64 `json:"change"` // as a share of From, 0 where that is 0
	// Low and High bound the change; both are nil where there are too few runs.
	Low  *float64 `json:"change_low"`
	High *float64 `json:"change_high"`
}

// DriftOf tells how the metrics of whole runs moved: from the runs of the last
// refresh, from all accepted before, and by the trend over all of them, which
// sees a slow creep that no single step shows. last are some of before. Runs
// are compared within their scenario and context alone; those that are not
// whole are passed over.
//
// The trend is Theil and Sen's, its test Mann and Kendall's, over the contexts
// together and for each alone, which have half of the policy's Alpha each; Holm's
// correction, the worse and the better side each for itself. It counts from the
// policy's least change on.
func DriftOf(p Policy, catalogue *metric.Catalogue, now, last, before []run.Run) []DriftLine {
	d := drift{policy: p.WithLevel(), catalogue: catalogue, last: map[string]bool{}}
	for _, r := range last {
		d.last[r.ID] = true
	}
	d.gather(now, true)
	d.gather(before, false)
	for _, s := range d.scenarios {
		d.lines(s)
	}
	d.correct(false)
	d.correct(true)
	var out []DriftLine
	for _, t := range d.tests {
		out = append(out, t.DriftLine)
	}
	return out
}

type drift struct {
	policy    Policy
	catalogue *metric.Catalogue
	last      map[string]bool // ids
	scenarios []*driftScenario
	tests     []*driftTest
}

type driftScenario struct {
	name     string
	contexts []*driftContext
}

// driftContext is one context with its runs, summed up.
type driftContext struct {
	key              string
	context          map[string]string
	now, last, older []run.Summary // older are before, and not of the last refresh
}

// driftTest is a line in the making.
type driftTest struct {
	DriftLine
	metric metric.Metric
	cell   run.Cell
	trend  stat.Drift
}

func (d *drift) gather(runs []run.Run, isNow bool) {
	for _, r := range runs {
		if r.Status != run.Complete {
			continue
		}
		c := d.context(r, isNow)
		if c == nil {
			continue // of nothing that was measured now
		}
		s := run.Summarize(r, d.policy.Centre, d.catalogue)
		switch {
		case isNow:
			c.now = append(c.now, s)
		case d.last[r.ID]:
			c.last = append(c.last, s)
		default:
			c.older = append(c.older, s)
		}
	}
}

// context finds the run's, or makes it where it may.
func (d *drift) context(r run.Run, isNow bool) *driftContext {
	at := slices.IndexFunc(d.scenarios, func(s *driftScenario) bool { return s.name == r.Scenario })
	if at < 0 {
		if !isNow {
			return nil
		}
		at = len(d.scenarios)
		d.scenarios = append(d.scenarios, &driftScenario{name: r.Scenario})
	}
	s, key := d.scenarios[at], devctx.Key(devctx.Telling(r.Context, d.policy.Use))
	for _, c := range s.contexts {
		if c.key == key {
			return c
		}
	}
	if !isNow {
		return nil
	}
	c := &driftContext{key: key, context: r.Context}
	s.contexts = append(s.contexts, c)
	return c
}

// lines makes a test of each metric of the whole run, over all contexts and for
// each where there are several.
func (d *drift) lines(s *driftScenario) {
	for _, cell := range d.cells(s) {
		d.tests = append(d.tests, d.line(s.name, nil, cell, s.contexts))
	}
	for _, c := range s.contexts {
		for _, cell := range d.cells(&driftScenario{contexts: []*driftContext{c}}) {
			if len(s.contexts) > 1 {
				d.tests = append(d.tests, d.line(s.name, c.context, cell, []*driftContext{c}))
			}
		}
	}
}

func (d *drift) cells(s *driftScenario) []run.Cell {
	var out []run.Cell
	for _, c := range s.contexts {
		for _, r := range c.now {
			for cell := range r.Cells.All() {
				if cell.Event == "" && d.policy.judged(cell, r, d.catalogue) && !slices.Contains(out, cell) {
					out = append(out, cell)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b run.Cell) int { return d.catalogue.Compare(a.Metric, b.Metric) })
	return out
}

func (d *drift) line(scenario string, context map[string]string, cell run.Cell, contexts []*driftContext) *driftTest {
	m, _ := d.catalogue.Lookup(cell.Metric)
	t := &driftTest{metric: m, cell: cell}
	t.Scenario, t.Context, t.Metric, t.Direction, t.P = scenario, context, cell.Metric, None, 1
	v := valuesOfDrift(oneWay(contexts, m), cell, m.Log)
	var now []float64
	for _, p := range v.all {
		now = append(now, p.Y...)
	}
	t.Runs, t.Now = len(now), v.back(stat.Median(now))
	t.SinceLast = v.shift(v.fromLast, d.policy.Alpha)
	t.SinceAll = v.shift(v.all, d.policy.Alpha)
	t.trend = stat.DriftOf(v.series, d.policy.Alpha)
	t.Creep = v.creep(t.trend)
	return t
}

// correct decides which lines creep, of those of single contexts or of all
// together.
func (d *drift) correct(alone bool) {
	const share = 0.5
	var tests []*driftTest
	for _, t := range d.tests {
		if (t.Context != nil) == alone && t.Creep != nil {
			tests = append(tests, t)
		}
	}
	worse, better := make([]float64, len(tests)), make([]float64, len(tests))
	for i, t := range tests {
		worse[i], better[i] = min(1, t.trend.Rising/share), min(1, t.trend.Falling/share)
		if t.metric.Direction == metric.HigherIsBetter {
			worse[i], better[i] = better[i], worse[i]
		}
	}
	correctedWorse, correctedBetter := stat.Holm(worse), stat.Holm(better)
	for i, t := range tests {
		worsening := Worsening(t.metric, t.Creep.From, t.Creep.Shift, t.Creep.Change)
		t.P = correctedWorse[i]
		if cmp.Less(better[i], worse[i]) {
			t.P = correctedBetter[i]
		}
		policy := d.policy.forCell(t.cell)
		switch {
		case t.P > d.policy.Alpha || math.Abs(worsening) < policy.minChange:
		case worsening > 0:
			t.Direction = ToRegression
		default:
			t.Direction = ToImprovement
		}
	}
}
