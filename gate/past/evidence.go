package past

import (
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/stat"
)

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

// EvidenceOf chooses the best evidence that the history offers for a cell.
func EvidenceOf(p gate.Policy, v Values, own []float64, groups [][]float64, factor float64) Evidence {
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
