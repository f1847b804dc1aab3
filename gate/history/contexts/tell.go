package contexts

import (
	"cmp"
	"math"
	"slices"
)

// Told is what the runs of other contexts tell of the level of one.
type Told struct {
	// Centre is the level that they show and SD how far off it may be, both on the
	// scale of the values: how much the contexts differ is in it.
	Centre, SD float64
	// Contexts and Runs count what it rests on.
	Contexts, Runs int
	// Unlike are the properties in which some of these differ from it.
	Unlike []string
}

const (
	// mostContexts are the nearest ones that are looked at.
	mostContexts = 60
	// mostKinds are the sets of unlike properties that are looked at, the smallest first.
	mostKinds = 12
	// mostPairs bounds the pairs of contexts that show what a set of properties makes.
	mostPairs = 60
	// leastAlike is how many pairs have to be unlike in just the same way, from wifi
	// to 3g, to be taken alone.
	leastAlike = 3
	// leastLevels is how many values have to have been seen of properties for those to
	// show what any two of them make: two phones that happen to agree show nothing of
	// a third.
	leastLevels = 5
)

// Tell is what the runs of other contexts tell of the level of one of them, own. groups
// are the runs' centres by the number of their context, on a scale on which their noise
// is even. Its own runs help to show how much contexts differ, and are in nothing else.
//
// Other contexts count by how much those have differed that are unlike in just the same
// properties, at the most that is likely. false where nothing can be told: too few
// contexts show what the properties make, or own has no run, so that nothing says
// whether it is one of those that differ.
func (c *Contexts) Tell(own int, groups [][]float64) (Told, bool) {
	if own < 0 || len(groups[own]) == 0 {
		return Told{}, false
	}
	means, _, ok := c.meansOf(groups)
	if !ok {
		return Told{}, false
	}
	code := c.coded[own]
	means = nearest(means, code)
	var sources []source
	for _, kind := range kindsOf(means, code) {
		sources = append(sources, sourcesOf(means, code, kind)...)
	}
	return c.told(sources)
}

// source is a context with how far its level may lie from that of own.
type source struct {
	mean
	kind    unlike
	between float64 // variance of the difference between the two levels
}

// worth is the variance of what a source tells of own.
func (s source) worth() float64 { return s.between + s.variance }

// told weighs the sources by what each is worth alone, the best of them, as many as make
// it surer. Their differences from own are taken for one and the same: many contexts of
// another phone are one phone.
func (c *Contexts) told(sources []source) (Told, bool) {
	slices.SortStableFunc(sources, func(a, b source) int { return cmp.Compare(a.worth(), b.worth()) })
	best, found := Told{SD: math.Inf(1)}, false
	var kinds unlike
	weights, centre, apart, noise := 0.0, 0.0, 0.0, 0.0
	runs := 0
	for i, s := range sources {
		w := 1 / s.worth()
		if math.IsInf(w, 1) { // exact, and by the order the first
			return Told{Centre: s.centre, Contexts: 1, Runs: s.runs, Unlike: c.namesOf(s.kind)}, true
		}
		weights, centre = weights+w, centre+w*s.centre
		apart, noise = apart+w*math.Sqrt(s.between), noise+w*w*s.variance
		runs, kinds = runs+s.runs, kinds|s.kind
		if sd := math.Sqrt(apart*apart+noise) / weights; sd < best.SD {
			best, found = Told{Centre: centre / weights, SD: sd, Contexts: i + 1, Runs: runs, Unlike: c.namesOf(kinds)}, true
		}
	}
	return best, found
}

// nearest are the contexts that differ in the fewest properties.
func nearest(means []mean, own []int) []mean {
	slices.SortStableFunc(means, func(a, b mean) int {
		return cmp.Or(cmp.Compare(between(a.code, own).count(), between(b.code, own).count()), cmp.Compare(b.runs, a.runs))
	})
	return means[:min(len(means), mostContexts)]
}

// kindsOf are the ways in which other contexts are unlike own, nearest first.
func kindsOf(means []mean, own []int) []unlike {
	var kinds []unlike
	for _, m := range means {
		if k := between(m.code, own); k != 0 && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds[:min(len(kinds), mostKinds)]
}

// sourcesOf are the contexts that are unlike own in just these properties.
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
