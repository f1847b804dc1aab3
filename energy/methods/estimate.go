package methods

import "gonum.org/v1/gonum/stat/distuv"

// priorDegrees is how many degrees of freedom the spread common to all methods
// counts for beside a method's own.
const priorDegrees = 4

// estimator makes a method's estimates from its tally.
//
// Intervals are of what the app's way of working makes in the mean: of the
// expected share, time and energy, as many runs would show them, not of those that
// this one run happened to have. Only the former is of use to whoever compares two
// versions, and samples can't tell the latter from it.
//
// A single sample has an interval too. To leave out methods of few samples would
// leave, of the rare ones, those that chance made look greater, and intervals that
// miss.
//
// The spread of a method's own batches is honest, but of few samples or batches it
// says little: by chance it can be far too small. It is therefore mixed with what
// the methods show together, by degrees of freedom (a moderated variance, as Smyth
// 2004): the more samples a method has, the less the others count. A method that
// spreads more than the others keeps its own: it may well be the one that differs
// from run to run.
//
// With p the method's share, n samples, and d the design effect (how many times
// the variance of the share is that of independent draws, pooled over methods):
//
//	relative variance of p̂:     d·(1-p)/(n·p)
//	relative variance of t̂, ê:  d·(1-p)/(n·p) + that of the total over all methods
//	degrees of freedom:         1 / (1/(batches-1) + d/(2·n·p))
//
// The last is what the variance of a sum of few hits can be known to. The second
// line is the delta method for share × total. A method's own relative
// variance of t̂ and ê is that of its batches' sums, which needs no such rule: a
// slow run at low power is in it as it was.
type estimator struct {
	plan       *plan
	total      *tally
	level      float64
	iterations float64
	lasting    float64 // see func lasting
	updateMS   float64 // of the sensor; 0 where there is none
	effect     float64 // d, over the methods that are being estimated
	// quantiles are those that were worked out, by degrees of freedom: methods of
	// as many samples share theirs.
	quantiles map[float64]float64
}

// draws is how many independent samples of equal period tell as much as those
// that were taken (Kish).
func (e *estimator) draws() float64 {
	return ratio(e.total.seconds*e.total.seconds, e.total.squares)
}

// pooledEffect is the design effect over all the tallies.
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

// spread is the variance of a method's seconds (not relative), as it was found
// between batches and as independent draws would have it. The batches' residuals
// are of the ratio of the method's seconds to all.
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

// cost is the estimates for one tally.
// ran are the seconds that its stretches take, of which there are so many.
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
	if c.known == 0 { // none of its own: its power is taken to be that of all
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
		out.EnergyJ = scaled(out.EnergyJ.Value, variance+e.untold(c), t)
		out.PowerW = e.power(c)
	}
	return out
}

// moderate mixes a method's own variance, which has so many degrees of freedom,
// with the common one, and says how many standard errors the interval is wide.
func (e *estimator) moderate(mine, common, own float64) (variance, t float64) {
	if mine > common {
		return mine, e.quantile(e.degrees())
	}
	return (own*mine + priorDegrees*common) / (own + priorDegrees), e.quantile(own + priorDegrees)
}

// untold is the relative variance of a tally's joules that comes of what readings
// don't tell apart.
func (e *estimator) untold(c *tally) float64 {
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

// power is the mean power with its interval: a ratio over the batches in which
// the method has power. Readings that repeat within a batch add nothing, as in
// the paper's filter (section 3.5.3.3), and neither do different ones of a drift.
func (e *estimator) power(c *tally) Estimate {
	w := c.watts()
	out := Estimate{Value: w}
	b := float64(c.batches)
	if b < minIterations {
		return out
	}
	residual := max(0, c.joulesSquared-2*w*c.joulesTimeKnown+w*w*c.knownSquared)
	half := e.quantile(b-1) * root(b/(b-1)*residual*e.lasting+e.untold(c)*c.joules*c.joules) / c.known
	out.Low, out.High = max(0, w-half), w+half
	return out
}

// lasting is how many times the variance of the mean power is that of blocks which
// have nothing to do with one another: what else goes on in the device may outlast
// a block. It is 1 + 2·r, of the correlation r between neighbours.
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

// totals are the app's CPU time and energy in one iteration.
func (e *estimator) totals() (cpuMS, energyJ Estimate) {
	cpuMS.Value = e.total.seconds * 1000 / e.iterations
	energyJ.Value = e.total.watts() * e.total.seconds / e.iterations
	if e.plan.basis == Neither {
		return cpuMS, energyJ
	}
	t := e.quantile(e.degrees())
	cpuMS = scaled(cpuMS.Value, e.totalTime(), t)
	if e.plan.power {
		energyJ = scaled(energyJ.Value, e.totalEnergy()+e.untold(e.total), t)
	}
	return cpuMS, energyJ
}

// degrees are the degrees of freedom of the spread between batches.
func (e *estimator) degrees() float64 { return float64(e.plan.n - 1) }

// quantile is how many standard errors reach to each side.
func (e *estimator) quantile(degrees float64) float64 {
	t, ok := e.quantiles[degrees]
	if !ok {
		t = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Quantile((1 + e.level) / 2)
		e.quantiles[degrees] = t
	}
	return t
}
