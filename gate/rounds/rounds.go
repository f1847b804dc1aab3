// Package rounds settles what the history left open: the head build beside the base
// build, in turns in one session, in as few rounds as it takes.
//
// It takes a stand: only what was measured side by side fails a build by its noise, and
// a budget that can't keep the policy's false alarms is refused before anything is
// measured. It says until which round to measure, and measures nothing itself; which
// comparisons are open is for the history to say.
//
// The reasons are in docs/design/gate.md#rounds.
package rounds

import (
	"slices"
	"sync"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Question is one comparison that the history left open.
type Question struct {
	Place int // of its run in the verdict's Runs
	Cell  run.Cell
}

// Questions are those that rounds can settle, in the order of the verdict. A broken
// budget is no question, nor is a rare event that the history calls a regression: that a few
// more repetitions have none explains nothing away. Nor is anything of a run that is not
// whole.
func Questions(v gate.Verdict) []Question {
	var out []Question
	for place, r := range v.Runs {
		if r.Verdict == gate.Invalid {
			continue
		}
		for _, c := range r.Comparisons {
			if c.Screen == gate.Open && c.Limit == nil && !(c.Direction == gate.ToRegression && c.Known.Counts.Known()) {
				out = append(out, Question{place, run.Cell{Event: c.Event, Metric: c.Metric}})
			}
		}
	}
	return out
}

// Trial is a verdict whose open comparisons are being settled. Several places may be
// added to at the same time.
type Trial struct {
	policy    gate.Policy
	catalogue *metric.Catalogue
	plan      Plan
	first     gate.Verdict

	mu     sync.Mutex
	places map[int]*place
	asked  int // questions of all places
}

// place is one run of the verdict: a device and a scenario.
type place struct {
	base, head run.Run
	before     *earlier // rounds of the same builds that were measured before; nil: none
	measured   int      // rounds
	turn       int      // repetitions of each build in a round
	short      float64  // minutes that it would take to settle it, where there were fewer; 0 where there were enough
	ended      bool
	lost       string // why the rounds are not whole, "" where they are
	gone       string // what the base has in most rounds and the head has not, "" for nothing
	fewer      string // of which events the head lost most frames, "" for none
	questions  []*question
	counted    []*question // what was counted of the app's work; it settles nothing
}

// question is one comparison on its way.
type question struct {
	cell       run.Cell
	metric     metric.Metric
	effect     float64 // the worsening to exclude
	known      gate.Known
	turn       int
	weight     float64 // its part of the false alarms, over an equal one
	minChange  float64
	base, head values
	path       []seen // what each look showed, as far as was measured
}

// values are a cell's in rounds of one build, and the round that each is of.
type values struct {
	round []int
	value []float64
}

func (v *values) add(round int, value float64) {
	v.round, v.value = append(v.round, round), append(v.value, value)
}

// goOn reports whether these are the values of before, and maybe more behind them.
func (v values) goOn(before values) bool {
	n := len(before.value)
	return len(v.value) >= n && slices.Equal(v.round[:n], before.round) && slices.Equal(v.value[:n], before.value)
}

// before are the values of the first rounds.
func (v values) before(rounds int) []float64 {
	n, _ := slices.BinarySearch(v.round, rounds)
	return v.value[:n]
}

// New is the trial of a verdict's open comparisons by the plan.
func New(p gate.Policy, catalogue *metric.Catalogue, v gate.Verdict, plan Plan) *Trial {
	p = WithDefaults(p)
	t := &Trial{policy: p, catalogue: catalogue, plan: plan, first: v, places: map[int]*place{}}
	for _, q := range Questions(v) {
		c := comparisonOf(v, q)
		if t.places[q.Place] == nil {
			t.places[q.Place] = &place{turn: 1, counted: t.counted()}
		}
		m, _ := catalogue.Lookup(q.Cell.Metric)
		least := p.ForCell(q.Cell).MinChange
		t.places[q.Place].questions = append(t.places[q.Place].questions,
			&question{cell: q.Cell, metric: m, effect: max(p.MinEffect, least, c.Effect), minChange: least, known: c.Known, turn: 1})
		t.asked++
	}
	t.weigh()
	return t
}

// comparisonOf is the one that the question is of.
func comparisonOf(v gate.Verdict, q Question) gate.Comparison {
	cs := v.Runs[q.Place].Comparisons
	return cs[slices.IndexFunc(cs, func(c gate.Comparison) bool { return c.Event == q.Cell.Event && c.Metric == q.Cell.Metric })]
}

// WithDefaults is the policy with what rounds need of the default's, where the preset
// has none.
func WithDefaults(p gate.Policy) gate.Policy {
	p = p.WithLevel()
	if p.MinEffect <= 0 {
		standard, _ := gate.PolicyOf(gate.PresetDefault)
		p.MinEffect = standard.MinEffect
	}
	return p
}

// Add takes all rounds so far of a place: the runs of both builds, whose iterations
// stand side by side. Called again, it takes the place of what was there. A run that
// is not whole ends the place.
func (t *Trial) Add(at int, base, head run.Run) {
	t.AddCells(at, base, head, t.Cells(base), t.Cells(head))
}

// AddCells is Add with the cells of the runs' iterations, where they are known already.
func (t *Trial) AddCells(at int, base, head run.Run, bs, hs []run.Cells) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.places[at]; p != nil {
		t.add(p, base, head, bs, hs)
	}
}

func (t *Trial) add(p *place, base, head run.Run, bs, hs []run.Cells) {
	p.base, p.head = base, head
	if p.before != nil {
		base, head = p.before.with(base, head)
		bs, hs = slices.Concat(t.Cells(run.Run{Iterations: p.before.base}), bs), slices.Concat(t.Cells(run.Run{Iterations: p.before.head}), hs)
	}
	p.turn = max(1, base.Turn)
	p.measured = min(len(base.Iterations), len(head.Iterations)) / p.turn
	bs, hs = bs[:p.turn*p.measured], hs[:p.turn*p.measured]
	for _, q := range slices.Concat(p.questions, p.counted) {
		q.take(bs, hs, p.turn)
	}
	for _, r := range []run.Run{base, head} {
		if r.Status != run.Complete {
			p.ended, p.lost = true, gate.NotWhole(r)
		}
	}
	p.gone, p.fewer = t.gone(base, bs, hs), t.fewer(bs, hs)
	t.look(p)
}

// take takes the question's values of both builds, whose repetitions stand side by side. What
// earlier looks showed is kept where these go on with what it was of.
func (q *question) take(bs, hs []run.Cells, turn int) {
	base, head := values{}, values{}
	for i := range len(bs) / turn {
		x, okBase := q.turnOf(bs[turn*i : turn*(i+1)])
		y, okHead := q.turnOf(hs[turn*i : turn*(i+1)])
		if okBase && okHead {
			base.add(i, x)
			head.add(i, y)
		}
	}
	if turn != q.turn || !base.goOn(q.base) || !head.goOn(q.head) {
		q.path = nil
	}
	q.base, q.head, q.turn = base, head, turn
}

// turnOf is the question's value in the repetitions of one turn: their mean, of what is judged
// by its logarithm the geometric one. false where one has none.
func (q *question) turnOf(repetitions []run.Cells) (float64, bool) {
	values := make([]float64, len(repetitions))
	for i, cells := range repetitions {
		v, has := cells.Get(q.cell)
		if !has {
			return 0, false
		}
		values[i] = v
	}
	scale := metric.Linear
	if q.metric.ScaleOf(slices.Min(values)) == metric.Log {
		scale = metric.Log
	}
	mean := 0.0
	for _, v := range values {
		mean += q.metric.On(scale, v) / float64(len(values))
	}
	return q.metric.Back(scale, mean), true
}

// Cells are those of each of a run's iterations.
func (t *Trial) Cells(r run.Run) []run.Cells {
	out := make([]run.Cells, len(r.Iterations))
	for i := range out {
		one := run.Run{Iterations: []run.Iteration{r.Iterations[i]}}
		out[i] = run.Summarize(one, t.policy.Centre, t.catalogue).Cells
	}
	return out
}

// End says that no more rounds will be measured at a place: lost says why, "" is that
// the time is spent.
func (t *Trial) End(at int, lost string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.places[at]; p != nil {
		p.ended, p.lost = true, lost
		t.look(p)
	}
}

// Next says until which round to measure at a place, and whether there is any need to:
// there is none where it is settled or the rounds are spent.
func (t *Trial) Next(at int) (rounds int, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[at]
	if p == nil {
		return 0, false
	}
	if p.ended || t.settled(p) {
		return p.measured, false
	}
	for _, look := range t.plan.Looks {
		if look.Rounds > p.measured {
			return look.Rounds, true
		}
	}
	return p.measured, false
}

// settled reports whether every question of a place is settled, or one fails: what the
// others would say changes nothing then.
func (t *Trial) settled(p *place) bool {
	level := t.level()
	says := func(what gate.Says) func(*question) bool {
		return func(q *question) bool { return q.at(level).says == what }
	}
	return slices.ContainsFunc(p.questions, says(gate.SaysWorse)) || !slices.ContainsFunc(p.questions, says(gate.SaysOpen))
}

// seen is what a question showed at one look.
type seen struct {
	Look
	spent     float64 // chance that builds which are alike show as much up to this look, over its share of the false alarms
	worsening float64
	excluded  bool
	says      gate.Says
}

// look brings the paths of a place's questions up to what was measured.
func (t *Trial) look(p *place) {
	looks := t.plan.until(p.measured, p.ended)
	for _, q := range p.questions {
		known := 0
		for known < min(len(q.path), len(looks)) && q.path[known].Look == looks[known] {
			known++
		}
		q.path = q.path[:known]
		least := 1.0
		if known > 0 {
			least = q.path[known-1].spent
		}
		for _, look := range looks[known:] {
			x := q.paired(look.Rounds)
			s := seen{Look: look, worsening: x.Worsening(), excluded: x.Below(q.effect, q.minChange) && x.Excludes(q.effect) <= look.Pass}
			if look.Fail > 0 {
				least = min(least, x.Worse()*t.policy.Alpha/look.Fail)
			}
			s.spent = least
			q.path = append(q.path, s)
		}
	}
}

// paired are the values of the first rounds.
func (q *question) paired(rounds int) Paired {
	return PairedOf(q.metric, q.base.before(rounds), q.head.before(rounds)).given(q.known, q.turn)
}

// sideBySide are the base's and the head's values of the first rounds.
func (q *question) sideBySide(rounds int) [][2]float64 {
	var out [][2]float64
	head := q.head.before(rounds)
	for i, b := range q.base.before(rounds) {
		out = append(out, [2]float64{gate.Finite(b), gate.Finite(head[i])})
	}
	return out
}

// at is where the question was settled if it fails at its part of that level, or else where it is.
func (q *question) at(level float64) seen {
	for _, s := range q.path {
		switch {
		case s.spent <= level*q.weight && s.worsening >= q.minChange:
			s.says = gate.SaysWorse
			return s
		case s.excluded:
			s.says = gate.SaysExcluded
			return s
		}
	}
	last := seen{spent: 1}
	if len(q.path) > 0 {
		last = q.path[len(q.path)-1]
	}
	last.says = gate.SaysOpen
	return last
}
