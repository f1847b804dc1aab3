package contexts

import (
	"cmp"
	"math"
	"slices"
)

// LevelEstimate is the estimate of a context's level from the runs of other contexts.
type LevelEstimate struct {
	// Centre is the estimated level and SD its standard error, both on the scale of the values; SD
	// includes how much the contexts differ.
	Centre, SD float64
	// Contexts and Runs count the contexts and runs behind it.
	Contexts, Runs int
	// Unlike are the properties in which some of these differ from it.
	Unlike []string
}

const (
	// mostContexts limits the nearest contexts that are considered.
	mostContexts = 60
	// mostKinds limits the sets of differing properties that are considered, smallest first.
	mostKinds = 12
	// mostPairs limits the pairs of contexts that show the effect of a set of properties.
	mostPairs = 60
	// leastAlike is how many pairs have to differ in exactly the same way, from wifi to 3g, to be
	// used alone.
	leastAlike = 3
	// leastLevels is how many values of properties have to have been seen to show the difference
	// between any two: two phones that happen to agree show nothing about a third.
	leastLevels = 5
)

// Estimate estimates the level of one context, own, from the runs of other contexts. groups are the
// runs' centres by the number of their context, on a scale on which their noise is even. The
// context's own runs are only used to estimate how much contexts differ.
//
// Other contexts are weighted by how much contexts have differed that differ in exactly the same
// properties, at the upper bound. It returns false where there is no estimate: too few contexts
// show the effect of the properties, or own has no run, so that it is unknown whether it is one of
// those that differ.
func (c *Contexts) Estimate(own int, groups [][]float64) (LevelEstimate, bool) {
	if own < 0 || len(groups[own]) == 0 {
		return LevelEstimate{}, false
	}
	means, _, ok := c.meansOf(groups)
	if !ok {
		return LevelEstimate{}, false
	}
	code := c.coded[own]
	means = nearest(means, code)
	var sources []source
	for _, kind := range kindsOf(means, code) {
		sources = append(sources, sourcesOf(means, code, kind)...)
	}
	return c.weighted(sources)
}

// source is a context with how far its level may lie from that of own.
type source struct {
	mean
	kind    unlike
	between float64 // variance of the difference between the two levels
}

// worth returns the variance of a source's estimate of own.
func (s source) worth() float64 { return s.between + s.variance }

// weighted weights the sources by the variance of each, using the best of them as long as they
// reduce the error. Their differences from own are assumed to be one and the same: many contexts of
// another phone are one phone.
func (c *Contexts) weighted(sources []source) (LevelEstimate, bool) {
	slices.SortStableFunc(sources, func(a, b source) int { return cmp.Compare(a.worth(), b.worth()) })
	best, found := LevelEstimate{SD: math.Inf(1)}, false
	var kinds unlike
	weights, centre, apart, noise := 0.0, 0.0, 0.0, 0.0
	runs := 0
	for i, s := range sources {
		w := 1 / s.worth()
		if math.IsInf(w, 1) { // exact, and by the order the first
			return LevelEstimate{Centre: s.centre, Contexts: 1, Runs: s.runs, Unlike: c.namesOf(s.kind)}, true
		}
		weights, centre = weights+w, centre+w*s.centre
		apart, noise = apart+w*math.Sqrt(s.between), noise+w*w*s.variance
		runs, kinds = runs+s.runs, kinds|s.kind
		if sd := math.Sqrt(apart*apart+noise) / weights; sd < best.SD {
			best, found = LevelEstimate{Centre: centre / weights, SD: sd, Contexts: i + 1, Runs: runs, Unlike: c.namesOf(kinds)}, true
		}
	}
	return best, found
}

// nearest returns the contexts that differ in the fewest properties.
func nearest(means []mean, own []int) []mean {
	slices.SortStableFunc(means, func(a, b mean) int {
		return cmp.Or(cmp.Compare(between(a.code, own).count(), between(b.code, own).count()), cmp.Compare(b.runs, a.runs))
	})
	return means[:min(len(means), mostContexts)]
}

// kindsOf returns the sets of properties in which other contexts differ from own, nearest first.
func kindsOf(means []mean, own []int) []unlike {
	var kinds []unlike
	for _, m := range means {
		if k := between(m.code, own); k != 0 && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds[:min(len(kinds), mostKinds)]
}

// sourcesOf returns the contexts that differ from own in exactly these properties.
func sourcesOf(means []mean, own []int, kind unlike) []source {
	spreads, mine := pairsOf(means, kind).spreads(), level(own, kind)
	known := map[string]*spread{} // by the values of the others
	var out []source
	for _, m := range means {
		if between(m.code, own) != kind {
			continue
		}
		theirs := level(m.code, kind)
		if _, tried := known[theirs]; !tried {
			known[theirs] = spreads(mine, theirs)
		}
		if s := known[theirs]; s != nil {
			out = append(out, source{m, kind, s.high})
		}
	}
	return out
}
