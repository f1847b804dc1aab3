// Package rounds settles what the history left undecided: it compares the head build with the base
// build, alternately in one session, in as few rounds as possible.
//
// Noise-prone numbers fail a build only by paired measurements, and a budget that can't keep the
// policy's false alarms is rejected before anything is measured. The package decides until which
// round to measure, and measures nothing itself; the history decides which comparisons are open.
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
	Place int // index in the verdict's Runs
	Cell  run.Cell
}

// Questions returns the comparisons that rounds can settle, in the order of the verdict. A broken
// budget is no question, nor is a rare event that the history calls a regression, as a few more
// repetitions without any do not explain it away, nor any number of an incomplete run.
func Questions(v gate.Verdict) []Question {
	var out []Question
	for place, r := range v.Runs {
		if r.Verdict == gate.Invalid {
			continue
		}
		for _, c := range r.Comparisons {
			if c.Screen == gate.Open && c.Limit == nil && !(c.Direction == gate.ToRegression && c.Prior.Counts.Known()) {
				out = append(out, Question{place, run.Cell{Event: c.Event, Metric: c.Metric}})
			}
		}
	}
	return out
}

// Trial is a verdict whose open comparisons are being settled. Different places may be added to
// concurrently.
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
	base, head  run.Run
	before      *earlier // rounds of the same builds that were measured before; nil: none
	measured    int      // rounds
	turn        int      // repetitions of each build in a round
	short       float64  // minutes needed to settle it, where there were fewer; 0 where there were enough
	ended       bool
	lost        string // why the rounds are incomplete, "" where they are complete
	missing     string // what the base has in most rounds and the head lacks, "" for nothing
	fewerFrames string // events most of whose frames the head lacks, "" for none
	questions   []*question
	counted     []*question // counts of the app's work, which settle nothing
}

// question is one comparison being settled.
type question struct {
	cell       run.Cell
	metric     metric.Metric
	effect     float64 // the worsening to exclude
	known      gate.Prior
	turn       int
	weight     float64 // its part of the false alarms, divided by an equal part
	minChange  float64
	base, head values
	path       []seen // the result of each look so far
}

// values are a cell's values in rounds of one build, and the round of each.
type values struct {
	round []int
	value []float64
}

func (v *values) add(round int, value float64) {
	v.round, v.value = append(v.round, round), append(v.value, value)
}

// goOn reports whether these begin with the values of before.
func (v values) goOn(before values) bool {
	n := len(before.value)
	return len(v.value) >= n && slices.Equal(v.round[:n], before.round) && slices.Equal(v.value[:n], before.value)
}

// before returns the values of the first rounds.
func (v values) before(rounds int) []float64 {
	n, _ := slices.BinarySearch(v.round, rounds)
	return v.value[:n]
}

// New returns the trial of a verdict's open comparisons by the plan.
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
			&question{cell: q.Cell, metric: m, effect: max(p.MinEffect, least, c.Effect), minChange: least, known: c.Prior, turn: 1})
		t.asked++
	}
	t.weigh()
	return t
}

// comparisonOf returns the comparison of the question.
func comparisonOf(v gate.Verdict, q Question) gate.Comparison {
	cs := v.Runs[q.Place].Comparisons
	return cs[slices.IndexFunc(cs, func(c gate.Comparison) bool { return c.Event == q.Cell.Event && c.Metric == q.Cell.Metric })]
}

// WithDefaults returns the policy, completed with the default's values that rounds need.
func WithDefaults(p gate.Policy) gate.Policy {
	p = p.WithLevel()
	if p.MinEffect <= 0 {
		standard, _ := gate.PolicyOf(gate.PresetDefault)
		p.MinEffect = standard.MinEffect
	}
	return p
}

// Add sets all rounds so far of a place: the runs of both builds, with paired iterations. Calling
// it again replaces them. An incomplete run ends the place.
func (t *Trial) Add(at int, base, head run.Run) {
	t.AddCells(at, base, head, t.Cells(base), t.Cells(head))
}

// AddCells is Add with known cells of the runs' iterations.
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
			p.ended, p.lost = true, gate.DescribeIncomplete(r)
		}
	}
	p.missing, p.fewerFrames = t.missing(base, bs, hs), t.fewerFrames(bs, hs)
	t.look(p)
}

// take sets the question's values of both builds, whose repetitions are paired. Results of earlier
// looks are kept if these continue the values they were based on.
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

// turnOf returns the question's value in the repetitions of one turn: their mean, for a number that
// is judged by its logarithm the geometric one; false where one has none.
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

// Cells returns the cells of each of a run's iterations.
func (t *Trial) Cells(r run.Run) []run.Cells {
	out := make([]run.Cells, len(r.Iterations))
	for i := range out {
		one := run.Run{Iterations: []run.Iteration{r.Iterations[i]}}
		out[i] = run.Summarize(one, t.policy.Centre, t.catalogue).Cells
	}
	return out
}

// End ends the measurements at a place: lost is the reason, "" that the time is spent.
func (t *Trial) End(at int, lost string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.places[at]; p != nil {
		p.ended, p.lost = true, lost
		t.look(p)
	}
}

// Next returns until which round to measure at a place, and whether more are needed: none are where
// it is settled or the rounds are spent.
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

// settled reports whether every question of a place is settled, or one fails, which makes the
// others irrelevant.
func (t *Trial) settled(p *place) bool {
	level := t.level()
	says := func(what gate.RoundsOutcome) func(*question) bool {
		return func(q *question) bool { return q.at(level).says == what }
	}
	return slices.ContainsFunc(p.questions, says(gate.RoundsWorse)) || !slices.ContainsFunc(p.questions, says(gate.RoundsUndecided))
}

// seen is the result of one look at a question.
type seen struct {
	Look
	spent     float64 // chance that identical builds show as much up to this look, divided by its share of the false alarms
	worsening float64
	excluded  bool
	says      gate.RoundsOutcome
}

// look extends the paths of a place's questions to the present rounds.
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

// paired returns the values of the first rounds.
func (q *question) paired(rounds int) Paired {
	return PairedOf(q.metric, q.base.before(rounds), q.head.before(rounds)).given(q.known, q.turn)
}

// sideBySide returns the base's and the head's values of the first rounds.
func (q *question) sideBySide(rounds int) [][2]float64 {
	var out [][2]float64
	head := q.head.before(rounds)
	for i, b := range q.base.before(rounds) {
		out = append(out, [2]float64{gate.Finite(b), gate.Finite(head[i])})
	}
	return out
}

// at returns the look at which the question was settled if it fails at its part of that level, else
// the latest one.
func (q *question) at(level float64) seen {
	for _, s := range q.path {
		switch {
		case s.spent <= level*q.weight && s.worsening >= q.minChange:
			s.says = gate.RoundsWorse
			return s
		case s.excluded:
			s.says = gate.RoundsExcluded
			return s
		}
	}
	last := seen{spent: 1}
	if len(q.path) > 0 {
		last = q.path[len(q.path)-1]
	}
	last.says = gate.RoundsUndecided
	return last
}
