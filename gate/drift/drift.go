// Package drift reports how the metrics of whole runs moved over time: since the last refresh and
// since all before, and whether they drift slowly.
//
// A drift that no single step shows is detected in the sessions of a whole quarter, by a test that
// may be repeated at each refresh. The caller decides whether it fails anything (gate.FailDrift).
package drift

import (
	"math"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// Line is how one metric of the whole run moved in a scenario: in one context, or in all together.
type Line struct {
	Scenario string `json:"scenario"`
	// Context is nil for all contexts together, each compared with itself.
	Context map[string]string `json:"context"`
	Metric  string            `json:"metric"`
	// Direction is set where the metric drifts: regression for the worse, improvement for the
	// better, none where it may as well be constant.
	Direction gate.Direction `json:"direction"`
	// Now is the median of the new runs, in the metric's unit, and Runs their number.
	Now  float64 `json:"now"`
	Runs int     `json:"runs"`
	// SinceLast is the shift from the runs of the last refresh, SinceAll that from all that were
	// accepted before; nil where there are none.
	SinceLast *Shift `json:"since_last"`
	SinceAll  *Shift `json:"since_all"`
	// Creep is how far the metric has moved within the quarter, by a steady trend from the level
	// before; nil where there are too few sessions or they have no times.
	Creep *Shift `json:"creep"`
	// P is the chance that a quarter without a change shows such a trend in the same direction at
	// any of its refreshes, corrected for multiplicity; 1 where it was not computed.
	P float64 `json:"p"`
}

// Creeps reports whether the metric drifts for the worse.
func (l Line) Creeps() bool { return l.Direction == gate.ToRegression }

// Shift is a change with its interval.
type Shift struct {
	From   float64 `json:"from"`   // the old value, in the metric's unit
	Runs   int     `json:"runs"`   // behind From; for a creep all runs
	Shift  float64 `json:"shift"`  // in the metric's unit
	Change float64 `json:"change"` // as a share of From, 0 where that is 0 or may be below it
	// Low and High are the ends of the change's interval; both are nil where there are too few
	// runs, or no shares.
	Low  *float64 `json:"change_low"`
	High *float64 `json:"change_high"`
}

// Of reports how the metrics of whole runs moved: from the runs of the last refresh, from all
// accepted before, and by the trend within the quarter, which detects a slow drift that no single
// step shows. last are some of before. Runs are only compared within their scenario and context;
// incomplete ones are skipped.
//
// The trend is a constant level that then rises steadily until now, for a quarter (91 days) or part
// of it, fitted by least squares to the sessions of the quarter and of up to two quarters before.
// Where there are several contexts, all together and each alone have half of the policy's Alpha;
// Holm's correction, separately for the worse and the better side. It counts from the policy's
// budget for a quarter on (gate.Policy.DriftBudget).
func Of(p gate.Policy, catalogue *metric.Catalogue, now, last, before []run.Run) []Line {
	catalogue, _ = gate.Catalogue(catalogue, slices.Concat(before, now)...) // later runs take precedence; the check of these runs warns of invalid declarations
	d := drifting{policy: p.WithLevel(), catalogue: catalogue, last: map[string]bool{}}
	for _, r := range last {
		d.last[r.ID] = true
	}
	d.gather(now, true)
	d.gather(before, false)
	return d.all()
}

// Among is Of for the complete runs of one scenario, which the policy's centre has summarized.
// catalogue has the metrics that they declare.
func Among(p gate.Policy, catalogue *metric.Catalogue, name string, now, last, before []run.Summary) []Line {
	d := drifting{policy: p.WithLevel(), catalogue: catalogue, last: map[string]bool{}}
	for _, r := range last {
		d.last[r.ID] = true
	}
	for _, r := range now {
		d.add(name, r, true)
	}
	for _, r := range before {
		d.add(name, r, false)
	}
	return d.all()
}

// all returns the lines of what was gathered.
func (d *drifting) all() []Line {
	for _, s := range d.scenarios {
		d.lines(s)
	}
	d.correct(false)
	d.correct(true)
	var out []Line
	for _, t := range d.tests {
		out = append(out, t.Line)
	}
	return out
}

type drifting struct {
	policy    gate.Policy
	catalogue *metric.Catalogue
	last      map[string]bool // ids
	scenarios []*scenario
	tests     []*test
}

type scenario struct {
	name     string
	contexts []*group
}

// group is one context with its runs, summarized.
type group struct {
	key              string
	context          map[string]string
	now, last, older []run.Summary // older are those of before that are not of the last refresh
}

// test is a line in progress.
type test struct {
	Line
	metric metric.Metric
	cell   run.Cell
	rise   rise
}

func (d *drifting) gather(runs []run.Run, isNow bool) {
	for _, r := range runs {
		if r.Status != run.Complete {
			continue
		}
		if c := d.context(r.Scenario, r.Context, isNow); c != nil {
			d.take(c, run.Summarize(r, d.policy.Centre, d.catalogue), isNow)
		}
	}
}

// add gathers a run that is summarized.
func (d *drifting) add(scenario string, r run.Summary, isNow bool) {
	if c := d.context(scenario, r.Context, isNow); c != nil {
		d.take(c, r, isNow)
	}
}

func (d *drifting) take(c *group, s run.Summary, isNow bool) {
	switch {
	case isNow:
		c.now = append(c.now, s)
	case d.last[s.ID]:
		c.last = append(c.last, s)
	default:
		c.older = append(c.older, s)
	}
}

// context returns the group of a context, and creates it for new runs; nil where it was not measured
// now.
func (d *drifting) context(name string, context map[string]string, isNow bool) *group {
	at := slices.IndexFunc(d.scenarios, func(s *scenario) bool { return s.name == name })
	if at < 0 {
		if !isNow {
			return nil
		}
		at = len(d.scenarios)
		d.scenarios = append(d.scenarios, &scenario{name: name})
	}
	s, key := d.scenarios[at], devctx.Key(devctx.Telling(context, d.policy.Use))
	for _, c := range s.contexts {
		if c.key == key {
			return c
		}
	}
	if !isNow {
		return nil
	}
	c := &group{key: key, context: context}
	s.contexts = append(s.contexts, c)
	return c
}

// lines makes a test of each metric of the whole run, over all contexts and for each where there
// are several.
func (d *drifting) lines(s *scenario) {
	for _, cell := range d.cells(s) {
		d.tests = append(d.tests, d.line(s.name, nil, cell, s.contexts))
	}
	for _, c := range s.contexts {
		for _, cell := range d.cells(&scenario{contexts: []*group{c}}) {
			if len(s.contexts) > 1 {
				d.tests = append(d.tests, d.line(s.name, c.context, cell, []*group{c}))
			}
		}
	}
}

func (d *drifting) cells(s *scenario) []run.Cell {
	var out []run.Cell
	for _, c := range s.contexts {
		for _, r := range c.now {
			for cell := range r.Cells.All() {
				if cell.Event == "" && d.policy.Judged(cell, r, d.catalogue) && !slices.Contains(out, cell) {
					out = append(out, cell)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b run.Cell) int { return d.catalogue.Compare(a.Metric, b.Metric) })
	return out
}

func (d *drifting) line(scenario string, context map[string]string, cell run.Cell, contexts []*group) *test {
	m, _ := d.catalogue.Lookup(cell.Metric)
	t := &test{metric: m, cell: cell}
	t.Scenario, t.Context, t.Metric, t.Direction, t.P = scenario, context, cell.Metric, gate.None, 1
	v := valuesOf(oneWay(contexts, m), cell, m)
	var now []float64
	for _, p := range v.all {
		now = append(now, p.Y...)
	}
	t.Runs, t.Now = len(now), v.back(stat.Median(now))
	t.SinceLast = v.shift(v.fromLast, d.policy.Alpha)
	t.SinceAll = v.shift(v.all, d.policy.Alpha)
	t.rise = riseOf(v.contexts, d.policy.ForCell(cell).MinChange, d.policy.Alpha)
	t.Creep = v.creep(t.rise)
	return t
}

// correct decides which lines drift: those of single contexts, or those of all together.
func (d *drifting) correct(alone bool) {
	several := slices.ContainsFunc(d.tests, func(t *test) bool { return t.Context != nil })
	share := familywise.Share(several) // all together, and each alone
	var tests []*test
	for _, t := range d.tests {
		if (t.Context != nil) == alone && t.Creep != nil {
			tests = append(tests, t)
		}
	}
	sides := make([]familywise.Tails, len(tests))
	for i, t := range tests {
		sides[i] = familywise.Tails{Worse: t.rise.rising, Better: t.rise.falling}
		if t.metric.Direction == metric.HigherIsBetter {
			sides[i] = familywise.Tails{Worse: t.rise.falling, Better: t.rise.rising}
		}
	}
	corrected := familywise.Correct(sides, share)
	for i, t := range tests {
		worsening := gate.Worsening(t.metric, t.Creep.From, t.Creep.Shift, t.Creep.Change)
		t.P = corrected[i].On(sides[i].Worse <= sides[i].Better)
		switch {
		case t.P > d.policy.Alpha || math.Abs(worsening) < d.budget(t.cell):
		case worsening > 0:
			t.Direction = gate.ToRegression
		default:
			t.Direction = gate.ToImprovement
		}
	}
}

// budget returns how far the cell may move within a quarter.
func (d *drifting) budget(c run.Cell) float64 {
	if d.policy.DriftBudget != nil {
		return *d.policy.DriftBudget
	}
	return d.policy.ForCell(c).MinChange
}
