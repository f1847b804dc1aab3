package contexts

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Share is how much of the difference between two runs is due to the properties in which their
// contexts differ.
type Share struct {
	// Unlike are the properties; several where no two contexts differ in one of them only, so that
	// their effects can't be separated. Along are others in which all of these contexts differ too.
	Unlike, Along []string
	// Pairs counts the pairs of contexts that differ in them only, and Values the values of the
	// properties in these.
	Pairs, Values int
	// Known is set where enough pairs show it. Part is the share of the variance between two such
	// runs, from 0 to 1: the likely value, with a chance of 5 % each to be below Low or above High.
	Known           bool
	Part, Low, High float64
	// Worth is how many runs of the context itself the runs of a context that differs in the
	// properties replace at most, by High; +Inf where the properties have no effect.
	Worth float64
}

// Shares returns, for each property in which contexts differ, its share of the variance of one
// number, whose values in the runs of each context are in groups. Properties in which contexts
// differ alone come first, then those that only differ together. It is nil where no context has two
// runs, so that the variation within a context is unknown.
func (c *Contexts) Shares(groups [][]float64) []Share {
	means, within, ok := c.meansOf(groups)
	if !ok {
		return nil
	}
	slices.SortStableFunc(means, func(a, b mean) int { return cmp.Compare(b.runs, a.runs) })
	means = means[:min(len(means), mostContexts)]
	var out []Share
	for _, set := range sets(means) {
		out = append(out, c.share(means, set, 2*within))
	}
	return out
}

// sets returns the properties that are reported together: each in which contexts differ alone, and
// of the others those that differ together.
func sets(means []mean) []unlike {
	var kinds []unlike
	for i, a := range means {
		for _, b := range means[:i] {
			if k := between(a.code, b.code); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	var alone unlike
	for _, k := range kinds {
		if k.count() == 1 {
			alone |= k
		}
	}
	var together []unlike
	for _, k := range kinds {
		joined := k &^ alone
		if joined == 0 {
			continue
		}
		apart := together[:0:0]
		for _, t := range together {
			if t&joined != 0 {
				joined |= t
			} else {
				apart = append(apart, t)
			}
		}
		together = append(apart, joined)
	}
	var out []unlike
	for rest := alone; rest != 0; rest &= rest - 1 {
		out = append(out, rest&-rest)
	}
	slices.SortFunc(together, func(a, b unlike) int {
		return cmp.Compare(bits.TrailingZeros64(uint64(a)), bits.TrailingZeros64(uint64(b)))
	})
	return append(out, together...)
}

// share returns the share of contexts that differ in properties of the set and in as few others as
// possible. apart is the variance between two runs of one context.
func (c *Contexts) share(means []mean, set unlike, apart float64) Share {
	var of []pairOf
	fewest := lastBit + 1
	for i, a := range means {
		for _, b := range means[:i] {
			k := between(a.code, b.code)
			if k&set == 0 {
				continue
			}
			if others := (k &^ set).count(); others < fewest {
				of, fewest = of[:0], others
			}
			if (k &^ set).count() == fewest {
				of = append(of, pairOf{a, b, k})
			}
		}
	}
	along, values := ^set, map[string]bool{}
	var ds []difference
	for _, p := range of {
		along &= p.kind
		values[level(p.a.code, set)], values[level(p.b.code, set)] = true, true
		d := p.a.centre - p.b.centre
		ds = append(ds, difference{d * d, p.a.variance + p.b.variance})
	}
	s := Share{Unlike: c.namesOf(set), Along: c.namesOf(along &^ set), Pairs: len(of), Values: len(values)}
	df := 0
	if n := partners(of, set); n >= leastAlike {
		df = n
	}
	if len(values) >= leastLevels {
		df = max(df, len(values)-1)
	}
	if s.Known = df > 0; !s.Known {
		return s
	}
	spread := spreadOf(thinned(ds), float64(df))
	part := func(v float64) float64 {
		if v == 0 {
			return 0
		}
		return v / (v + apart)
	}
	s.Part, s.Low, s.High, s.Worth = part(spread.middle), part(spread.low), part(spread.high), math.Inf(1)
	if spread.high > 0 {
		s.Worth = apart / 2 / spread.high
	}
	return s
}

type pairOf struct {
	a, b mean
	kind unlike
}

// partners counts the contexts of the pairs, ignoring the set: phones, where the set is the
// network. Each shows the set's effect by itself.
func partners(of []pairOf, set unlike) int {
	seen := map[string]bool{}
	for _, p := range of {
		seen[level(p.a.code, ^set)] = true
	}
	return len(seen)
}
