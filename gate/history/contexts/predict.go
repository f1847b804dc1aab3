package contexts

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	devctx "github.com/apkgate/apkgate/context"
)

// Prior is how much contexts are assumed to differ before any history has shown it, on the scale of
// the values (docs/design/contexts.md describes how it was measured).
type Prior struct {
	// System is the standard deviation of the difference between two contexts that differ in the
	// version of Android only, Device that of any others.
	System, Device float64
	// Session is the standard deviation of a session's centre, used where no context has two of
	// them.
	Session float64
}

// The degrees of freedom of the two: see docs/design/contexts.md.
const (
	systemDF = 8
	deviceDF = 4
)

// system are the properties that identify the version of Android.
var system = []string{"api", "sdk"}

// Predicted is the prediction for the next session of a context that was never measured: an
// estimate with the degrees of freedom of its width.
type Predicted struct {
	LevelEstimate
	DF      float64    // degrees of freedom of SD
	Session float64    // standard deviation of a session's centre about the level
	new     []property // the properties that differ, with own's values, whose effect SD covers
}

// Predict predicts the context own, which has no runs, from the runs of other contexts. groups are
// as in Estimate. The nearest contexts count: those whose level is likely to lie nearest. The
// effect of differing properties is estimated from contexts that differ in nothing else, together
// with the prior, which is all there is for a property with a single value. It returns false where
// there is no other context, or a number is not finite.
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
	estimate, found := c.weighted(sources)
	if !found || !(math.Abs(estimate.Centre) < math.Inf(1)) {
		return Predicted{}, false
	}
	best := slices.MinFunc(sources, func(a, b source) int { return cmp.Compare(a.worth(), b.worth()) })
	p := Predicted{LevelEstimate: estimate, DF: df[best.kind], Session: math.Sqrt(within)}
	for _, name := range c.namesOf(best.kind) {
		p.new = append(p.new, property{name, c.distinct[own][name]})
	}
	return p, true
}

// single summarizes contexts of which none has two sessions.
func (c *Contexts) single(groups [][]float64, sd float64) (means []mean) {
	for g, vs := range groups {
		if len(vs) == 1 && !math.IsInf(vs[0], 0) {
			means = append(means, mean{context: g, code: c.coded[g], centre: vs[0], variance: sd * sd, runs: 1})
		}
	}
	return means
}

// believed is a variance with its degrees of freedom.
type believed struct{ variance, df float64 }

func (c *Contexts) priorOf(kind unlike, prior Prior) believed {
	for _, name := range c.namesOf(kind) {
		if !slices.Contains(system, name) {
			return believed{prior.Device * prior.Device, deviceDF}
		}
	}
	return believed{prior.System * prior.System, systemDF}
}

// drawn returns the variance between two contexts that differ in the properties, from the prior and
// from the pairs that differ in nothing else. Each further value that was seen is one more draw,
// however many phones have it. Where there are no such pairs, those that differ in more count if
// they differ by less than the prior: the properties cause no more than all of it.
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

// of returns the differences of pairs, and how many values of the properties they have.
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

// and returns the variance after so many values were seen, whose contexts differ by this.
func (b believed) and(ds []difference, values int) (variance, df float64) {
	seen, mean := float64(values-1), 0.0
	for _, d := range ds {
		mean += max(0, d.square-d.noise) / float64(len(ds))
	}
	df = b.df + seen
	return (b.df*b.variance + seen*mean) / df, df
}

// Chance returns how likely an unchanged build's centre lies at x or beyond it, above or below:
// Student's t about the prediction, since the width is known from few values. noise is the standard
// error from the session's own repetitions.
func (p Predicted) Chance(x, noise float64, above bool) float64 {
	t := (x - p.Centre) / math.Sqrt(p.variance(noise))
	if above {
		t = -t
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: p.DF}.CDF(t)
}

// Reach returns how far from Centre an unchanged build lies on either side with a chance of alpha.
func (p Predicted) Reach(alpha, noise float64) float64 {
	return math.Sqrt(p.variance(noise)) * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: p.DF}.Quantile(1-alpha)
}

func (p Predicted) variance(noise float64) float64 {
	return p.SD*p.SD + p.Session*p.Session + noise*noise
}

// Correlation returns the correlation of the errors of two predictions, where the measurements have
// this much noise: contexts that share a value which was never measured share the one draw of its
// effect. It is 0 where they share none.
func (p Predicted) Correlation(q Predicted, noise float64) float64 {
	if !slices.ContainsFunc(p.new, func(v property) bool { return slices.Contains(q.new, v) }) {
		return 0
	}
	both := min(p.SD, q.SD)
	return both * both / math.Sqrt(p.variance(noise)*q.variance(noise))
}

// With returns the contexts with one added, own, that was never measured.
func With(distinct []devctx.Properties, own devctx.Properties) *Contexts {
	return Of(append(slices.Clone(distinct), own))
}
