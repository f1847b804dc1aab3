package contexts

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	devctx "github.com/apkgate/apkgate/context"
)

// Prior is what contexts are taken to differ by before any history has shown it, on the
// scale of the values (docs/design/contexts.md says on what it was measured).
type Prior struct {
	// System is the standard deviation of the difference between two contexts that are
	// unlike in the version of Android alone, Device that of any others.
	System, Device float64
	// Session is the standard deviation of a session's centre, for where no context has
	// two of them.
	Session float64
}

// How many degrees of freedom the two are worth: see docs/design/contexts.md.
const (
	systemDF = 8
	deviceDF = 4
)

// system are the properties that say which Android a device has.
var system = []string{"api", "sdk"}

// Predicted is what other contexts let expect of the next session of one that was never
// measured: Told, with how surely its width is known.
type Predicted struct {
	Told
	DF      float64    // degrees of freedom behind SD
	Session float64    // standard deviation of a session's centre about the level
	new     []property // the unlike properties, with own's values: whose effect SD is of
}

// Predict is what the runs of other contexts let expect of own, which has none. groups are
// as in Tell. The nearest contexts count: those whose level is likely to lie the nearest.
// What the unlike properties make is drawn from how contexts that differ in nothing else
// have differed, together with the prior, which is all there is of a property of which only
// one value was seen. false where there is no other context, or a number is none.
func (c *Contexts) Predict(own int, groups [][]float64, prior Prior) (Predicted, bool) {
	means, within, _ := c.meansOf(groups)
	if means == nil {
		means, within = c.single(groups, prior.Session), prior.Session*prior.Session
	}
	code := c.coded[own]
	means = nearest(means, code)
	var sources []source
	df := map[unlike]float64{}
	for _, kind := range kindsOf(means, code) {
		variance := 0.0
		variance, df[kind] = drawn(pairsOf(means, kind), c.priorOf(kind, prior))
		for _, m := range means {
			if between(m.code, code) == kind {
				sources = append(sources, source{m, kind, variance})
			}
		}
	}
	told, found := c.told(sources)
	if !found || !(math.Abs(told.Centre) < math.Inf(1)) {
		return Predicted{}, false
	}
	best := slices.MinFunc(sources, func(a, b source) int { return cmp.Compare(a.worth(), b.worth()) })
	p := Predicted{Told: told, DF: df[best.kind], Session: math.Sqrt(within)}
	for _, name := range c.namesOf(best.kind) {
		p.new = append(p.new, property{name, c.distinct[own][name]})
	}
	return p, true
}

// single sums up contexts of which none has two sessions.
func (c *Contexts) single(groups [][]float64, sd float64) (means []mean) {
	for g, vs := range groups {
		if len(vs) == 1 && !math.IsInf(vs[0], 0) {
			means = append(means, mean{context: g, code: c.coded[g], centre: vs[0], variance: sd * sd, runs: 1})
		}
	}
	return means
}

// believed is a variance, and how many degrees of freedom it is worth.
type believed struct{ variance, df float64 }

func (c *Contexts) priorOf(kind unlike, prior Prior) believed {
	for _, name := range c.namesOf(kind) {
		if !slices.Contains(system, name) {
			return believed{prior.Device * prior.Device, deviceDF}
		}
	}
	return believed{prior.System * prior.System, systemDF}
}

// drawn is the variance between two contexts that are unlike in the properties, by the
// prior and by the pairs that are unlike in nothing else. Each further value that was seen
// is one draw more, however many phones have it. Where there are no such pairs, those that
// are unlike in more count if they differ by less than the prior has it: the properties
// make no more than all of it.
func drawn(ps pairs, prior believed) (variance, df float64) {
	if ds, values := ps.of(true); len(ds) > 0 {
		return prior.and(ds, values)
	}
	if ds, values := ps.of(false); values >= leastLevels {
		if variance, df = prior.and(ds, values); variance < prior.variance {
			return variance, df
		}
	}
	return prior.variance, prior.df
}

// of are the differences of pairs, and how many values of the properties they have.
func (ps pairs) of(exactly bool) (ds []difference, values int) {
	seen := map[string]bool{}
	for _, p := range ps {
		if p.exactly == exactly {
			seen[p.a], seen[p.b] = true, true
			ds = append(ds, p.difference)
		}
	}
	return ds, len(seen)
}

// and is what is believed after so many values were seen, whose contexts differ by this.
func (b believed) and(ds []difference, values int) (variance, df float64) {
	seen, mean := float64(values-1), 0.0
	for _, d := range ds {
		mean += max(0, d.square-d.noise) / float64(len(ds))
	}
	df = b.df + seen
	return (b.df*b.variance + seen*mean) / df, df
}

// Chance is how likely an unchanged build's centre lies at x or beyond it, above or below:
// Student's t about what is expected, since the width is known from few values. noise is
// what the session's own repetitions add, as a standard deviation.
func (p Predicted) Chance(x, noise float64, above bool) float64 {
	t := (x - p.Centre) / math.Sqrt(p.variance(noise))
	if above {
		t = -t
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: p.DF}.CDF(t)
}

// Reach is how far from Centre an unchanged build lies on either side with a chance of
// alpha.
func (p Predicted) Reach(alpha, noise float64) float64 {
	return math.Sqrt(p.variance(noise)) * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: p.DF}.Quantile(1-alpha)
}

func (p Predicted) variance(noise float64) float64 {
	return p.SD*p.SD + p.Session*p.Session + noise*noise
}

// Correlation is that of what two predictions are off by, where what is measured has this
// much noise: contexts that share a value which was never measured share the one draw of
// its effect. 0 where they share none.
func (p Predicted) Correlation(q Predicted, noise float64) float64 {
	if !slices.ContainsFunc(p.new, func(v property) bool { return slices.Contains(q.new, v) }) {
		return 0
	}
	both := min(p.SD, q.SD)
	return both * both / math.Sqrt(p.variance(noise)*q.variance(noise))
}

// With adds one context, own, that was never measured.
func With(distinct []devctx.Properties, own devctx.Properties) *Contexts {
	return Of(append(slices.Clone(distinct), own))
}
