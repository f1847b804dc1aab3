// Package evidence finds what the history of a number says of its next value: the
// values that can be compared with it, their centre and their spread, of the run's
// own context where that has runs enough and of others where it has not.
//
// It takes a stand: like is compared with like, and what is borrowed from other
// contexts is said to be (Kind). It makes no verdict.
package evidence

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// SampleOf is an even choice of at most so many of the values, for pictures.
func SampleOf(v Values, most int) []float64 {
	out := slices.Clone(gate.Evenly(v.Numbers, most))
	for i, x := range out {
		out[i] = v.Back(x)
	}
	return out
}

// Past is the history as one new run sees it.
type Past struct {
	Now    map[string]string // the new run's context
	Ranked []devctx.Ranked   // most similar first
	Refs   []*run.Summary    // in the order of ranked
	Groups []int             // context of each ref
	Own    int               // the group that has the new run's own context, or -1
	kin    [][]int           // other divisions: groups of groups, see devctx.Groups.Kin
	count  int               // of groups

	weights []float64              // of ranked
	Sampled int                    // how many values of a cell are kept for a picture
	Table   map[run.Cell][]float64 // the numbers of each cell to judge: see run.Table
}

func PastOf(now map[string]string, refs []run.Summary, use []string) Past {
	contexts := make([]devctx.Properties, len(refs))
	for i, r := range refs {
		contexts[i] = r.Context
	}
	p := Past{Now: now, Ranked: devctx.Rank(now, contexts, use)}
	p.Refs, p.Groups, p.weights = make([]*run.Summary, len(refs)), make([]int, len(refs)), make([]float64, len(refs))
	g := devctx.NewGroups(use)
	for i, r := range p.Ranked {
		p.Refs[i], p.Groups[i], p.weights[i] = &refs[r.Index], g.Of(contexts[r.Index]), r.Weight
	}
	p.Own, p.kin, p.count = g.Find(now), g.Kin(), len(g.Distinct())
	return p
}

// Seen is what a verdict tells of the history of a run.
type Seen struct {
	Total int
	Own   bool                  // whether some are of the run's own context
	List  []gate.Reference      // at most MaxListed, the most similar first
	Ways  map[run.Cell][]string // of cells without a comparable value: see past.ways
}

func (p Past) Seen() Seen {
	s := Seen{Total: len(p.Refs), Own: p.Own >= 0, List: []gate.Reference{}, Ways: map[run.Cell][]string{}}
	for i, r := range p.Ranked[:min(len(p.Ranked), gate.MaxListed)] {
		s.List = append(s.List, gate.Reference{ID: p.Refs[i].ID, Similarity: r.Similarity, Weight: r.Weight, Cluster: r.Cluster})
	}
	return s
}

// Cells are those of each run of the history.
func (p Past) Cells() iter.Seq[run.Cells] {
	return func(yield func(run.Cells) bool) {
		for _, r := range p.Refs {
			if !yield(r.Cells) {
				return
			}
		}
	}
}

// Ways are those in which the history's values of a cell came about, each once.
func (p Past) Ways(cell run.Cell, m metric.Metric) []string {
	seen := map[string]bool{}
	for _, r := range p.Refs {
		if _, has := r.Cells.Get(cell); has {
			seen[m.Way(r.Context)] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// Values are one cell over the history, on the scale on which it is judged.
type Values struct {
	Scale
	Numbers []float64
	weights []float64
	groups  []int
	past    *Past
}

// Scale is the one on which a cell is judged.
type Scale struct{ Log bool }

// ValuesOf collects a cell. Times and joules are judged on the log scale, where
// their noise is even, as long as every value is positive.
func (p Past) ValuesOf(c run.Cell, m metric.Metric, x float64) Values {
	v := Values{past: &p, Scale: Scale{m.Log && x > 0}, Numbers: p.Table[c], weights: p.weights, groups: p.Groups}
	if v.Numbers == nil {
		return Values{past: &p, Scale: v.Scale}
	}
	if p.somewhereElse(v.Numbers, m) {
		v = p.comparableOnly(v, m)
	}
	for _, n := range v.Numbers {
		v.Log = v.Log && n > 0
	}
	if v.Log {
		for i, n := range v.Numbers {
			v.Numbers[i] = math.Log(n)
		}
	}
	return v
}

// somewhereElse reports whether some run lacks the number, or has one that came
// about in another way.
func (p Past) somewhereElse(numbers []float64, m metric.Metric) bool {
	for i, n := range numbers {
		if math.IsNaN(n) || (m.Within != "" && !m.Comparable(p.Refs[i].Context, p.Now)) {
			return true
		}
	}
	return false
}

func (p Past) comparableOnly(all Values, m metric.Metric) Values {
	v := Values{past: all.past, Scale: all.Scale}
	for i, n := range all.Numbers {
		if math.IsNaN(n) || !m.Comparable(p.Refs[i].Context, p.Now) {
			continue
		}
		v.Numbers = append(v.Numbers, n)
		v.weights = append(v.weights, p.weights[i])
		v.groups = append(v.groups, p.Groups[i])
	}
	return v
}

func (s Scale) On(x float64) float64 {
	if s.Log {
		return math.Log(x)
	}
	return x
}

func (s Scale) Back(x float64) float64 {
	if s.Log {
		return math.Exp(x)
	}
	return x
}

// Kind says what a judgement rests on; more of it is better evidence.
type Kind int

const (
	Nothing      Kind = iota
	EveryContext      // every context, weighted by similarity
	OwnBorrowed       // the own context's runs, with the scale of the other comparisons of this check
	OwnCentred        // the own context's runs, with the scale of every context's own spread
	OwnContext        // the own context's runs alone
)

// Evidence is what one value is judged by, on the judged scale.
type Evidence struct {
	Kind    Kind
	Fences  stat.Fences
	Moments stat.Moments
	N       int // values behind the fences
	Own     int // values of the own context
	Unseen  bool
	OfKin   bool // centred on what other contexts differ by, as none has runs enough
}

// Split divides the values by context.
func (v Values) Split() (own []float64, groups [][]float64) {
	groups = v.by(nil)
	if v.past.Own >= 0 {
		own = groups[v.past.Own]
	}
	return own, groups
}

// by divides the values by context, or by groups of contexts. Some may be empty.
func (v Values) by(kin []int) [][]float64 {
	at := func(i int) int {
		if kin == nil {
			return v.groups[i]
		}
		return kin[v.groups[i]]
	}
	sizes := make([]int, v.past.count)
	for i := range v.Numbers {
		sizes[at(i)]++
	}
	groups, room := make([][]float64, v.past.count), make([]float64, len(v.Numbers))
	for g, n := range sizes {
		groups[g], room = room[:0:n], room[n:]
	}
	for i, x := range v.Numbers {
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
	// TailDF bounds the degrees of freedom of every judgement: phones have bad
	// days more often than a normal distribution allows, however long the
	// history is, and Student's t with few degrees has room for them.
	TailDF = 6
)

// Of chooses the best evidence that the history offers for a cell.
func Of(p gate.Policy, v Values, own []float64, groups [][]float64, factor float64) Evidence {
	e := bestEvidence(p, v, own, groups, factor)
	e.Moments.DF = min(e.Moments.DF, TailDF)
	return e
}

func bestEvidence(p gate.Policy, v Values, own []float64, groups [][]float64, factor float64) Evidence {
	switch {
	case len(v.Numbers) == 0:
		return Evidence{}
	case len(own) >= p.LeastRuns():
		s := stat.Sample{Values: own}
		sd, df := pooled(groups, v.past.Own)
		return Evidence{
			Kind: OwnContext, Fences: stat.FencesOf(s, factor), N: len(own), Own: len(own),
			Moments: stat.MomentsOf(s).Moderated(sd, min(df, maxPriorDF)),
		}
	case len(own) > 0:
		if within, ofKin, sd, df := spreadWithin(p, v, groups); within != nil {
			s := centredSample(own, within)
			return Evidence{
				Kind: OwnCentred, Fences: stat.FencesOf(s, factor), N: len(s.Values), Own: len(own),
				Moments: stat.Moments{Mean: stat.MomentsOf(stat.Sample{Values: own}).Mean, SD: sd, N: float64(len(own)), DF: df},
				OfKin:   ofKin,
			}
		}
	}
	s, contexts := v.everyContext(groups, p.MinHistory)
	return Evidence{
		Kind: EveryContext, Fences: stat.FencesOf(s, factor), N: len(s.Values), Own: len(own),
		Moments: stat.MomentsOf(s), Unseen: len(own) == 0 && contexts < p.MinHistory,
	}
}

// spreadWithin finds the groups whose own spread serves as scale: the contexts
// where they have enough runs, otherwise the kin that differ least among
// themselves. nil where there is none.
func spreadWithin(p gate.Policy, v Values, groups [][]float64) (within [][]float64, ofKin bool, sd, df float64) {
	enough := float64(p.LeastRuns() - 1)
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
func (v Values) everyContext(groups [][]float64, enough int) (s stat.Sample, contexts int) {
	for _, vs := range groups {
		contexts += min(len(vs), 1)
	}
	if contexts < enough || contexts == len(v.Numbers) {
		return stat.Sample{Values: v.Numbers, Weights: v.weights}, contexts
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
