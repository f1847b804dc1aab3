package gate

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// past is the history as one new run sees it.
type past struct {
	now    map[string]string // the new run's context
	ranked []devctx.Ranked   // most similar first
	refs   []*run.Summary    // in the order of ranked
	groups []int             // context of each ref
	own    int               // the group that has the new run's own context, or -1
	kin    [][]int           // other divisions: groups of groups, see devctx.Groups.Kin
	count  int               // of groups

	weights []float64              // of ranked
	sampled int                    // how many values of a cell are kept for a picture
	table   map[run.Cell][]float64 // the numbers of each cell to judge: see run.Table
}

func pastOf(now map[string]string, refs []run.Summary, use []string) past {
	contexts := make([]devctx.Properties, len(refs))
	for i, r := range refs {
		contexts[i] = r.Context
	}
	p := past{now: now, ranked: devctx.Rank(now, contexts, use)}
	p.refs, p.groups, p.weights = make([]*run.Summary, len(refs)), make([]int, len(refs)), make([]float64, len(refs))
	g := devctx.NewGroups(use)
	for i, r := range p.ranked {
		p.refs[i], p.groups[i], p.weights[i] = &refs[r.Index], g.Of(contexts[r.Index]), r.Weight
	}
	p.own, p.kin, p.count = g.Find(now), g.Kin(), len(g.Distinct())
	return p
}

// seen is what a verdict tells of the history of a run.
type seen struct {
	total int
	own   bool                  // whether some are of the run's own context
	list  []Reference           // at most MaxListed, the most similar first
	ways  map[run.Cell][]string // of cells without a comparable value: see past.ways
}

func (p past) seen() seen {
	s := seen{total: len(p.refs), own: p.own >= 0, list: []Reference{}, ways: map[run.Cell][]string{}}
	for i, r := range p.ranked[:min(len(p.ranked), MaxListed)] {
		s.list = append(s.list, Reference{ID: p.refs[i].ID, Similarity: r.Similarity, Weight: r.Weight, Cluster: r.Cluster})
	}
	return s
}

// cells are those of each run of the history.
func (p past) cells() iter.Seq[run.Cells] {
	return func(yield func(run.Cells) bool) {
		for _, r := range p.refs {
			if !yield(r.Cells) {
				return
			}
		}
	}
}

// values are one cell over the history, on the scale on which it is judged.
type values struct {
	scale
	numbers []float64
	weights []float64
	groups  []int
	past    *past
}

// scale is the one on which a cell is judged.
type scale struct{ log bool }

// valuesOf collects a cell. Times and joules are judged on the log scale, where
// their noise is even, as long as every value is positive.
func (p past) valuesOf(c run.Cell, m metric.Metric, x float64) values {
	v := values{past: &p, scale: scale{m.Log && x > 0}, numbers: p.table[c], weights: p.weights, groups: p.groups}
	if v.numbers == nil {
		return values{past: &p, scale: v.scale}
	}
	if p.somewhereElse(v.numbers, m) {
		v = p.comparableOnly(v, m)
	}
	for _, n := range v.numbers {
		v.log = v.log && n > 0
	}
	if v.log {
		for i, n := range v.numbers {
			v.numbers[i] = math.Log(n)
		}
	}
	return v
}

// somewhereElse reports whether some run lacks the number, or has one that came
// about in another way.
func (p past) somewhereElse(numbers []float64, m metric.Metric) bool {
	for i, n := range numbers {
		if math.IsNaN(n) || (m.Within != "" && !m.Comparable(p.refs[i].Context, p.now)) {
			return true
		}
	}
	return false
}

func (p past) comparableOnly(all values, m metric.Metric) values {
	v := values{past: all.past, scale: all.scale}
	for i, n := range all.numbers {
		if math.IsNaN(n) || !m.Comparable(p.refs[i].Context, p.now) {
			continue
		}
		v.numbers = append(v.numbers, n)
		v.weights = append(v.weights, p.weights[i])
		v.groups = append(v.groups, p.groups[i])
	}
	return v
}

func (s scale) onScale(x float64) float64 {
	if s.log {
		return math.Log(x)
	}
	return x
}

func (s scale) back(x float64) float64 {
	if s.log {
		return math.Exp(x)
	}
	return x
}

// kind says what a judgement rests on; more of it is better evidence.
type kind int

const (
	nothing  kind = iota
	all           // every context, weighted by similarity
	borrowed      // the own context's runs, with the scale of the other comparisons of this check
	centred       // the own context's runs, with the scale of every context's own spread
	like          // the own context's runs alone
)

// evidence is what one value is judged by, on the judged scale.
type evidence struct {
	kind    kind
	fences  stat.Fences
	moments stat.Moments
	n       int // values behind the fences
	own     int // values of the own context
	unseen  bool
	ofKin   bool // centred on what other contexts differ by, as none has runs enough
}

// split divides the values by context.
func (v values) split() (own []float64, groups [][]float64) {
	groups = v.by(nil)
	if v.past.own >= 0 {
		own = groups[v.past.own]
	}
	return own, groups
}

// by divides the values by context, or by groups of contexts. Some may be empty.
func (v values) by(kin []int) [][]float64 {
	at := func(i int) int {
		if kin == nil {
			return v.groups[i]
		}
		return kin[v.groups[i]]
	}
	sizes := make([]int, v.past.count)
	for i := range v.numbers {
		sizes[at(i)]++
	}
	groups, room := make([][]float64, v.past.count), make([]float64, len(v.numbers))
	for g, n := range sizes {
		groups[g], room = room[:0:n], room[n:]
	}
	for i, x := range v.numbers {
		groups[at(i)] = append(groups[at(i)], x)
	}
	return groups
}

// pooled is the spread that contexts other than skip have within themselves.
func pooled(groups [][]float64, skip int) (sd, df float64) {
	squares := 0.0
	for g, vs := range groups {
		if g == skip || len(vs) < 2 {
			continue
		}
		m := stat.MomentsOf(stat.Sample{Values: vs})
		squares += m.SD * m.SD * m.DF
		df += m.DF
	}
	if df == 0 {
		return 0, 0
	}
	return math.Sqrt(squares / df), df
}

const (
	// maxPriorDF bounds how much a context's own spread is drawn towards that
	// of the others: enough to keep three lucky values from looking exact.
	maxPriorDF = 5
	// tailDF bounds the degrees of freedom of every judgement: phones have bad
	// days more often than a normal distribution allows, however long the
	// history is, and Student's t with few degrees has room for them.
	tailDF = 6
)

// evidenceOf chooses the best evidence that the history offers for a cell.
func evidenceOf(p Policy, v values, own []float64, groups [][]float64, factor float64) evidence {
	e := bestEvidence(p, v, own, groups, factor)
	e.moments.DF = min(e.moments.DF, tailDF)
	return e
}

func bestEvidence(p Policy, v values, own []float64, groups [][]float64, factor float64) evidence {
	switch {
	case len(v.numbers) == 0:
		return evidence{}
	case len(own) >= p.leastRuns():
		s := stat.Sample{Values: own}
		sd, df := pooled(groups, v.past.own)
		return evidence{
			kind: like, fences: stat.FencesOf(s, factor), n: len(own), own: len(own),
			moments: stat.MomentsOf(s).Moderated(sd, min(df, maxPriorDF)),
		}
	case len(own) > 0:
		if within, ofKin, sd, df := spreadWithin(p, v, groups); within != nil {
			s := centredSample(own, within)
			return evidence{
				kind: centred, fences: stat.FencesOf(s, factor), n: len(s.Values), own: len(own),
				moments: stat.Moments{Mean: stat.MomentsOf(stat.Sample{Values: own}).Mean, SD: sd, N: float64(len(own)), DF: df},
				ofKin:   ofKin,
			}
		}
	}
	s, contexts := v.everyContext(groups, p.MinHistory)
	return evidence{
		kind: all, fences: stat.FencesOf(s, factor), n: len(s.Values), own: len(own),
		moments: stat.MomentsOf(s), unseen: len(own) == 0 && contexts < p.MinHistory,
	}
}

// spreadWithin finds the groups whose own spread serves as scale: the contexts
// where they have enough runs, otherwise the kin that differ least among
// themselves. nil where there is none.
func spreadWithin(p Policy, v values, groups [][]float64) (within [][]float64, ofKin bool, sd, df float64) {
	enough := float64(p.leastRuns() - 1)
	if sd, df = pooled(groups, -1); df >= enough {
		return groups, false, sd, df
	}
	for _, kin := range v.past.kin {
		candidate := v.by(kin)
		if s, d := pooled(candidate, -1); d >= enough && (within == nil || s < sd) {
			within, sd, df = candidate, s, d
		}
	}
	return within, true, sd, df
}

// centredSample moves every context's values to the own context's centre, so
// that only the spread within contexts remains. A context of n values shows
// less than its whole spread about its own centre; √(n/(n-1)) makes up for it.
func centredSample(own []float64, groups [][]float64) stat.Sample {
	centre := stat.Median(own)
	var s stat.Sample
	for _, vs := range groups {
		if len(vs) < 2 {
			continue
		}
		m := stat.Median(vs)
		stretch := math.Sqrt(float64(len(vs)) / float64(len(vs)-1))
		for _, v := range vs {
			s.Values = append(s.Values, centre+(v-m)*stretch)
		}
	}
	return s
}

// everyContext is all of the history, weighted by similarity. With enough
// contexts each counts once, by its centre: thirty runs on one phone say no
// more about an unknown phone than three do.
func (v values) everyContext(groups [][]float64, enough int) (s stat.Sample, contexts int) {
	for _, vs := range groups {
		contexts += min(len(vs), 1)
	}
	if contexts < enough || contexts == len(v.numbers) {
		return stat.Sample{Values: v.numbers, Weights: v.weights}, contexts
	}
	weight := make([]float64, len(groups))
	for i, g := range v.groups {
		weight[g] = v.weights[i]
	}
	for g, vs := range groups {
		if len(vs) > 0 {
			s.Values = append(s.Values, stat.Median(vs))
			s.Weights = append(s.Weights, weight[g])
		}
	}
	return s, contexts
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
