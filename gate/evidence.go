package gate

import (
	"maps"
	"math"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// past is the history as one new run sees it.
type past struct {
	now    map[string]string // the new run's context
	ranked []devctx.Ranked   // most similar first
	refs   []run.Summary     // in the order of ranked
	groups []int             // context of each ref, by first appearance
	own    int               // the group that has the new run's own context, or -1
	// kin are the groups when one property is left out of the contexts, for
	// each property that brings runs together: a phone's on Wi-Fi and on 3G.
	kin [][]int
}

func pastOf(now map[string]string, refs []run.Summary, use []string) past {
	contexts := make([]devctx.Properties, len(refs))
	for i, r := range refs {
		contexts[i] = r.Context
	}
	p := past{now: now, own: -1, ranked: devctx.Rank(now, contexts, use)}
	var distinct []devctx.Properties
	byKey := map[string]int{}
	for _, r := range p.ranked {
		context := devctx.Only(contexts[r.Index], use)
		key := contextKey(context, "")
		group, known := byKey[key]
		if !known {
			group = len(byKey)
			byKey[key] = group
			distinct = append(distinct, context)
		}
		p.refs = append(p.refs, refs[r.Index])
		p.groups = append(p.groups, group)
	}
	if g, ok := byKey[contextKey(devctx.Only(now, use), "")]; ok {
		p.own = g
	}
	p.kin = kinOf(p.groups, distinct)
	return p
}

// kinOf groups runs by their context without one property, for each property
// whose absence brings contexts together.
func kinOf(groups []int, distinct []devctx.Properties) [][]int {
	properties := map[string]bool{}
	for _, c := range distinct {
		for k := range c {
			properties[k] = true
		}
	}
	var out [][]int
	for _, left := range slices.Sorted(maps.Keys(properties)) {
		byKey := map[string]int{}
		kin := make([]int, len(distinct))
		for i, c := range distinct {
			key := contextKey(c, left)
			if _, known := byKey[key]; !known {
				byKey[key] = len(byKey)
			}
			kin[i] = byKey[key]
		}
		if len(byKey) == len(distinct) {
			continue
		}
		of := make([]int, len(groups))
		for i, g := range groups {
			of[i] = kin[g]
		}
		out = append(out, of)
	}
	return out
}

func contextKey(c devctx.Properties, without string) string {
	parts := make([]string, 0, len(c))
	for k, v := range c {
		if k != without {
			parts = append(parts, k+"\x00"+v)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\x01")
}

// values are one cell over the history, on the scale on which it is judged.
type values struct {
	log     bool
	numbers []float64
	weights []float64
	groups  []int
	kin     [][]int
	own     int
}

// valuesOf collects a cell. Times and joules are judged on the log scale, where
// their noise is even, as long as every value is positive.
func (p past) valuesOf(c run.Cell, m metric.Metric, x float64) values {
	v := values{own: p.own, log: m.Log && x > 0, kin: make([][]int, len(p.kin))}
	column := run.NewColumn(c)
	for i, r := range p.refs {
		n, ok := column.In(r.Cells)
		if !ok || !comparable(m, r.Context, p.now) {
			continue
		}
		v.log = v.log && n > 0
		v.numbers = append(v.numbers, n)
		v.weights = append(v.weights, p.ranked[i].Weight)
		v.groups = append(v.groups, p.groups[i])
		for k, of := range p.kin {
			v.kin[k] = append(v.kin[k], of[i])
		}
	}
	if v.log {
		for i, n := range v.numbers {
			v.numbers[i] = math.Log(n)
		}
	}
	return v
}

func (v values) onScale(x float64) float64 {
	if v.log {
		return math.Log(x)
	}
	return x
}

func (v values) back(x float64) float64 {
	if v.log {
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
}

// split divides the values by context.
func (v values) split() (own []float64, groups map[int][]float64) {
	groups = v.by(v.groups)
	return groups[v.own], groups
}

func (v values) by(keys []int) map[int][]float64 {
	groups := map[int][]float64{}
	for i, n := range v.numbers {
		groups[keys[i]] = append(groups[keys[i]], n)
	}
	return groups
}

// pooled is the spread that contexts other than skip have within themselves.
func pooled(groups map[int][]float64, skip int) (sd, df float64) {
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
func (p Policy) evidenceOf(v values, factor float64) evidence {
	e := p.bestEvidence(v, factor)
	e.moments.DF = min(e.moments.DF, tailDF)
	return e
}

func (p Policy) bestEvidence(v values, factor float64) evidence {
	own, groups := v.split()
	switch {
	case len(v.numbers) == 0:
		return evidence{}
	case len(own) >= p.MinHistory:
		s := stat.Sample{Values: own}
		sd, df := pooled(groups, v.own)
		return evidence{
			kind: like, fences: stat.FencesOf(s, factor), n: len(own), own: len(own),
			moments: stat.MomentsOf(s).Moderated(sd, min(df, maxPriorDF)),
		}
	case len(own) > 0:
		if within, sd, df := p.spreadWithin(v, groups); within != nil {
			s := centredSample(own, within)
			return evidence{
				kind: centred, fences: stat.FencesOf(s, factor), n: len(s.Values), own: len(own),
				moments: stat.Moments{Mean: stat.MomentsOf(stat.Sample{Values: own}).Mean, SD: sd, N: float64(len(own)), DF: df},
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
func (p Policy) spreadWithin(v values, groups map[int][]float64) (within map[int][]float64, sd, df float64) {
	enough := float64(p.MinHistory - 1)
	if sd, df = pooled(groups, -1); df >= enough {
		return groups, sd, df
	}
	for _, kin := range v.kin {
		candidate := v.by(kin)
		if s, d := pooled(candidate, -1); d >= enough && (within == nil || s < sd) {
			within, sd, df = candidate, s, d
		}
	}
	return within, sd, df
}

// centredSample moves every context's values to the own context's centre, so
// that only the spread within contexts remains. A context of n values shows
// less than its whole spread about its own centre; √(n/(n-1)) makes up for it.
func centredSample(own []float64, groups map[int][]float64) stat.Sample {
	centre := stat.Median(own)
	var s stat.Sample
	for _, g := range sortedKeys(groups) {
		vs := groups[g]
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
func (v values) everyContext(groups map[int][]float64, enough int) (s stat.Sample, contexts int) {
	if len(groups) < enough || len(groups) == len(v.numbers) {
		return stat.Sample{Values: v.numbers, Weights: v.weights}, len(groups)
	}
	weight := map[int]float64{}
	for i, g := range v.groups {
		weight[g] = v.weights[i]
	}
	for _, g := range sortedKeys(groups) {
		s.Values = append(s.Values, stat.Median(groups[g]))
		s.Weights = append(s.Weights, weight[g])
	}
	return s, len(groups)
}

func sortedKeys(groups map[int][]float64) []int {
	return slices.Sorted(maps.Keys(groups))
}
