package methods

import "gonum.org/v1/gonum/stat/distuv"

// priorDegrees is the weight in degrees of freedom of the spread common to all methods, against a
// method's own.
const priorDegrees = 4

// estimator computes a method's estimates from its tally.
//
// Intervals are of the expected share, time and energy, as the mean of many runs would show them,
// not of those of this one run. Only the expectation is useful for a comparison of two versions,
// and samples can't distinguish the two.
//
// A single sample has an interval too. If methods with few samples were left out, the rare methods
// that remain would be those that chance enlarged, with intervals that miss.
//
// The spread of a method's own batches is unbiased, but with few samples or batches it is
// uncertain: by chance it can be far too small. It is therefore combined with the pooled spread of
// all methods, by degrees of freedom (a moderated variance, as in Smyth 2004): the more samples a
// method has, the less the others count. A method with a larger spread than the others keeps its
// own: it may be the one that differs from run to run.
//
// With p the method's share, n samples, and d the design effect (how many times
// the variance of the share is that of independent draws, pooled over methods):
//
//	relative variance of p̂:     d·(1-p)/(n·p)
//	relative variance of t̂, ê:  d·(1-p)/(n·p) + that of the total over all methods
//	degrees of freedom:         1 / (1/(batches-1) + d/(2·n·p))
//
// The last line reflects how well the variance of a sum of few hits is known. The second line is
// the delta method for share × total. A method's own relative variance of t̂ and ê is that of its
// batches' sums, which needs no such rule: it includes a slow run at low power as it was.
type estimator struct {
	plan       *plan
	total      *tally
	level      float64
	iterations float64
	lasting    float64 // see func lasting
	updateMS   float64 // of the sensor; 0 if there is none
	effect     float64 // d, over the methods being estimated
	// quantiles caches quantiles by degrees of freedom: methods with the same number of samples
	// share theirs.
	quantiles map[float64]float64
}

// draws returns the number of independent samples of equal period with the same information (Kish).
func (e *estimator) draws() float64 {
	return ratio(e.total.seconds*e.total.seconds, e.total.squares)
}

// pooledEffect returns the design effect over all tallies.
func (e *estimator) pooledEffect(tallies []*tally) float64 {
	found, independent := 0.0, 0.0
	for _, c := range tallies {
		f, i := e.spread(c)
		found, independent = found+f, independent+i
	}
	if independent == 0 {
		return 1
	}
	return found / independent
}

// spread returns the variance of a method's seconds (not relative), between batches and for
// independent draws. The batches' residuals are those of the ratio of the method's seconds to all.
func (e *estimator) spread(c *tally) (found, independent float64) {
	all, squares := e.total.seconds, e.total.secondsSquared
	left := 1 - ratio(squares, all*all)
	if left <= 0 || all == 0 {
		return 0, 0
	}
	p := c.seconds / all
	residual := c.secondsSquared - 2*p*c.secondsOfAll + p*p*squares
	return max(0, residual) / left, p * (1 - p) * e.total.squares
}

// cost returns the estimates for one tally. ran is the total seconds of its stretches, stretches
// their number.
func (e *estimator) cost(c *tally, ran float64, stretches int) Cost {
	all := e.total.seconds
	out := Cost{
		Samples: c.samples, Readings: c.readings,
		Share:   Estimate{Value: ratio(c.seconds, all)},
		CPUMS:   Estimate{Value: c.seconds * 1000 / e.iterations},
		PowerW:  Estimate{Value: c.watts()},
		EnergyJ: Estimate{Value: c.watts() * c.seconds / e.iterations},
	}
	if c.samples > 0 {
		out.StretchMS = 1000 * ratio(ran, float64(stretches))
		out.Blurred = out.StretchMS < e.updateMS
	}
	if c.known == 0 { // without power of its own: that of all is assumed
		out.EnergyJ.Value = e.total.watts() * c.seconds / e.iterations
	}
	if e.plan.basis == Neither || c.seconds == 0 {
		return out
	}
	p, n := out.Share.Value, e.draws()
	own := 1 / (1/e.degrees() + e.effect/(2*n*p))

	effect, t := e.effect, e.quantile(own+priorDegrees)
	if found, independent := e.spread(c); independent > 0 {
		effect, t = e.moderate(found/independent, e.effect, own)
	}
	out.Share = wilson(p, n/effect, t)

	common := e.effect * (1 - p) / (n * p)
	variance, t := e.moderate(relativeVariance(c.seconds, c.secondsSquared, e.plan.n), common+e.totalTime(), own)
	out.CPUMS = scaled(out.CPUMS.Value, variance, t)
	if e.plan.power && c.known > 0 {
		variance, t = e.moderate(relativeVariance(c.joules, c.joulesSquared, e.plan.n), common+e.totalEnergy(), own)
		out.EnergyJ = scaled(out.EnergyJ.Value, variance+e.unresolved(c), t)
		out.PowerW = e.power(c)
	}
	return out
}

// moderate combines a method's own variance, with so many degrees of freedom, with the common one,
// and returns the half-width of the interval in standard errors.
func (e *estimator) moderate(mine, common, own float64) (variance, t float64) {
	if mine > common {
		return mine, e.quantile(e.degrees())
	}
	return (own*mine + priorDegrees*common) / (own + priorDegrees), e.quantile(own + priorDegrees)
}

// unresolved is the relative variance of a tally's joules that is due to power that readings do not
// separate.
func (e *estimator) unresolved(c *tally) float64 {
	if e.plan.split == nil || c.joules == 0 {
		return 0
	}
	return e.plan.split.model.Variance(c.work) / (c.joules * c.joules)
}

func (e *estimator) totalTime() float64 {
	return relativeVariance(e.total.seconds, e.total.secondsSquared, e.plan.n)
}

func (e *estimator) totalEnergy() float64 {
	return relativeVariance(e.total.joules, e.total.joulesSquared, e.plan.n)
}

// power returns the mean power with its interval: a ratio over the batches in which the method has
// power. Repeated readings within a batch add nothing, as in the paper's filter (section 3.5.3.3),
// and neither do different readings of a drift.
func (e *estimator) power(c *tally) Estimate {
	w := c.watts()
	out := Estimate{Value: w}
	b := float64(c.batches)
	if b < minIterations {
		return out
	}
	residual := max(0, c.joulesSquared-2*w*c.joulesTimeKnown+w*w*c.knownSquared)
	half := e.quantile(b-1) * root(b/(b-1)*residual*e.lasting+e.unresolved(c)*c.joules*c.joules) / c.known
	out.Low, out.High = max(0, w-half), w+half
	return out
}

// lasting returns the ratio of the variance of the mean power to that of independent blocks: other
// activity on the device may outlast a block. It is 1 + 2·r, where r is the correlation between
// neighbours.
func lasting(p *plan) float64 {
	if p.basis != Blocks {
		return 1
	}
	joules, known := 0.0, 0.0
	for i := range p.joules {
		joules, known = joules+p.joules[i], known+p.known[i]
	}
	mean := ratio(joules, known)
	product, square, last := 0.0, 0.0, 0.0
	for i := range p.joules {
		residual := p.joules[i] - mean*p.known[i]
		product, square, last = product+residual*last, square+residual*residual, residual
	}
	return 1 + 2*max(0, ratio(product, square))
}

// totals returns the app's CPU time and energy in one iteration.
func (e *estimator) totals() (cpuMS, energyJ Estimate) {
	cpuMS.Value = e.total.seconds * 1000 / e.iterations
	energyJ.Value = e.total.watts() * e.total.seconds / e.iterations
	if e.plan.basis == Neither {
		return cpuMS, energyJ
	}
	t := e.quantile(e.degrees())
	cpuMS = scaled(cpuMS.Value, e.totalTime(), t)
	if e.plan.power {
		energyJ = scaled(energyJ.Value, e.totalEnergy()+e.unresolved(e.total), t)
	}
	return cpuMS, energyJ
}

// degrees returns the degrees of freedom of the spread between batches.
func (e *estimator) degrees() float64 { return float64(e.plan.n - 1) }

// quantile returns the half-width in standard errors.
func (e *estimator) quantile(degrees float64) float64 {
	t, ok := e.quantiles[degrees]
	if !ok {
		t = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Quantile((1 + e.level) / 2)
		e.quantiles[degrees] = t
	}
	return t
}
