// Package screening predicts the next session of a number from its history: how likely a worse
// build would look as good as this one, and how likely an unchanged build would look as bad.
//
// The centre of a run's repetitions varies about the level by τ from session to session, and by
// σ/√n since it has only n repetitions:
//
//	y ~ N(level, τ² + σ²/n + floor²)
//
// as in a one-way analysis of variance with random effects (Searle, Casella and McCulloch,
// "Variance Components", 1992). Neither τ nor σ is known: both are integrated out over a grid, with
// wide priors (after Gelman, "Prior distributions for variance parameters", Bayesian Analysis 1,
// 2006), so that a few runs never give certainty. The package knows no metric, no context and no
// policy: numbers are on whatever scale the caller judges.
package screening

import (
	"math"
	"slices"
)

// Session is the result of one session: the centre of its repetitions and their number, at least 1.
type Session struct {
	Centre float64
	N      int
}

// Within is the variation of repetitions within a session: the sum of squares about the session
// centres and its degrees of freedom. It is unknown where DF is 0.
type Within struct{ Squares, DF float64 }

// Add adds a session's n repetitions with a standard deviation.
func (w *Within) Add(sd float64, n int) {
	if n > 1 {
		w.Squares += float64(n-1) * sd * sd
		w.DF += float64(n - 1)
	}
}

// SD returns the standard deviation of one repetition; 0 where unknown.
func (w Within) SD() float64 {
	if !(w.DF > 0) {
		return 0
	}
	return math.Sqrt(w.Squares / w.DF)
}

// LevelPrior is an estimate of the level from other contexts: a centre and its standard error.
// There is none where SD is not above 0.
type LevelPrior struct{ Centre, SD float64 }

// Prior is what is assumed before any session is seen.
type Prior struct {
	// Between and Repetition are the scales of the priors on τ and σ: those of logHeavy and
	// logHalfCauchy.
	Between, Repetition float64
	// Floor is the least standard deviation of a session that is assumed.
	Floor float64
	// Spread is the standard deviation of a session's centre in other contexts, and DF its degrees
	// of freedom; unknown where DF is 0.
	Spread, DF float64
	Level      LevelPrior
}

// Outlook is the predictive distribution of one more session.
type Outlook struct{ parts []part }

// part is one of the normal distributions of the mixture: of the next session, and of the level.
type part struct{ weight, mean, sd, level float64 }

// Known reports whether there is a prediction: a single session has no spread.
func (o Outlook) Known() bool { return len(o.parts) > 0 }

// NewOutlook returns the distribution of one more session of n repetitions after the past sessions.
// within is how repetitions differ, including those of the new session. It needs at least two
// sessions, or one and a prior from other contexts; else the outlook is unknown.
func NewOutlook(past []Session, n int, within Within, prior Prior) Outlook {
	if len(past) == 0 || (len(past) == 1 && prior.DF <= 0) || !(prior.Between > 0) || !(prior.Repetition > 0) {
		return Outlook{}
	}
	e := evidence{groups: grouped(past), n: float64(max(n, 1)), within: within, prior: prior}
	return Outlook{merged(e.parts())}
}

// group are the sessions with the same number of repetitions: all that the likelihood needs.
type group struct{ n, count, mean, squares float64 }

// grouped groups sessions by their number of repetitions. Above twenty, numbers that differ by less
// than a tenth share a group, so that there are never many.
func grouped(past []Session) []group {
	at := map[int]int{}
	var out []group
	for _, s := range past {
		n := max(s.N, 1)
		key := n
		if n > 20 {
			key = 20 + int(math.Log(float64(n)/20)/math.Log(1.1))
		}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key], out = i, append(out, group{})
		}
		g := &out[i] // Welford's update
		g.count++
		g.n += (float64(n) - g.n) / g.count
		d := s.Centre - g.mean
		g.mean += d / g.count
		g.squares += d * (s.Centre - g.mean)
	}
	return out
}

type evidence struct {
	groups []group
	n      float64 // repetitions of the new session
	within Within
	prior  Prior
}

// Parameters of the grids.
const (
	sigmas     = 13
	taus       = 13
	refined    = 4    // how often the grid of τ is narrowed to the likely values
	negligible = 1e-5 // compared with the likeliest
)

// parts returns the predictions for each σ and τ of the grid, weighted by their likelihood.
func (e evidence) parts() []part {
	low, high := e.sigmaRange()
	out, logs := make([]part, 0, sigmas*taus), make([]float64, 0, sigmas*taus)
	step := math.Log(high/low) / (sigmas - 1)
	for i := range sigmas {
		sigma := low * math.Exp(step*float64(i))
		of := e.logWithin(sigma) + logHalfCauchy(sigma, e.prior.Repetition) + math.Log(sigma)
		out, logs = e.overTau(sigma, of, out, logs)
	}
	most := slices.Max(logs)
	kept, sum := out[:0], 0.0
	for i, p := range out {
		p.weight = math.Exp(logs[i] - most)
		if p.weight > negligible {
			kept, sum = append(kept, p), sum+p.weight
		}
	}
	for i := range kept {
		kept[i].weight /= sum
	}
	return kept
}

// overTau appends the parts of one σ, and the logarithms of their weights.
func (e evidence) overTau(sigma, of float64, out []part, logs []float64) ([]part, []float64) {
	low, high := e.tauRange()
	var grid [taus]float64
	var parts [taus]part
	for range refined {
		step := math.Log(high/low) / (taus - 1)
		most, at := math.Inf(-1), 0
		for i := range taus {
			tau := low * math.Exp(step*float64(i))
			parts[i], grid[i] = e.at(sigma, tau)
			grid[i] += of + logHeavy(tau, e.prior.Between) + math.Log(tau) + math.Log(step)
			if grid[i] > most {
				most, at = grid[i], i
			}
		}
		first, last := at, at
		for first > 0 && grid[first-1] > most+math.Log(negligible) {
			first--
		}
		for last < taus-1 && grid[last+1] > most+math.Log(negligible) {
			last++
		}
		if last-first > taus/2 {
			break
		}
		low, high = low*math.Exp(step*float64(max(first-1, 0))), low*math.Exp(step*float64(min(last+1, taus-1)))
	}
	return append(out, parts[:]...), append(logs, grid[:]...)
}

// at returns the prediction for a given σ and τ, and the log-likelihood of the sessions, integrated
// over the level.
func (e evidence) at(sigma, tau float64) (part, float64) {
	fixed := tau*tau + e.prior.Floor*e.prior.Floor
	weights, sum, log := 0.0, 0.0, 0.0
	for _, g := range e.groups {
		v := fixed + sigma*sigma/g.n
		weights += g.count / v
		sum += g.count * g.mean / v
		log -= g.count/2*math.Log(v) + g.squares/(2*v)
	}
	if told := e.prior.Level; told.SD > 0 {
		weights += 1 / (told.SD * told.SD)
		sum += told.Centre / (told.SD * told.SD)
	}
	level := sum / weights
	for _, g := range e.groups {
		v := fixed + sigma*sigma/g.n
		log -= g.count * (g.mean - level) * (g.mean - level) / (2 * v)
	}
	if told := e.prior.Level; told.SD > 0 {
		log -= (told.Centre - level) * (told.Centre - level) / (2 * told.SD * told.SD)
	}
	log -= math.Log(weights) / 2
	next := fixed + sigma*sigma/e.n
	if df := e.prior.DF; df > 0 {
		log -= df/2*math.Log(next) + df*e.prior.Spread*e.prior.Spread/(2*next)
	}
	return part{mean: level, sd: math.Sqrt(next + 1/weights), level: math.Sqrt(1 / weights)}, log
}

// logWithin returns the log-likelihood of the differences between repetitions.
func (e evidence) logWithin(sigma float64) float64 {
	if e.within.DF <= 0 {
		return 0
	}
	return -e.within.DF*math.Log(sigma) - e.within.Squares/(2*sigma*sigma)
}

// sigmaRange returns the range of σ: around the value that repetitions show, or a wide one where
// they show nothing.
func (e evidence) sigmaRange() (low, high float64) {
	least := math.Max(e.prior.Floor/10, e.prior.Repetition/1000)
	if e.within.DF > 0 {
		s := math.Max(math.Sqrt(e.within.Squares/e.within.DF), least)
		reach := 4 / math.Sqrt(2*e.within.DF)
		return s * math.Exp(-reach), s * math.Exp(reach)
	}
	return least, 10 * (e.prior.Repetition + e.sd())
}

// tauRange returns the range of τ.
func (e evidence) tauRange() (low, high float64) {
	return e.prior.Between / 50, 10 * (e.prior.Between + e.sd() + e.prior.Spread)
}

// sd returns the standard deviation of the sessions' centres, whatever their repetitions.
func (e evidence) sd() float64 {
	count, mean, squares := 0.0, 0.0, 0.0
	for _, g := range e.groups {
		count += g.count
		mean += g.count * g.mean
		squares += g.squares
	}
	mean /= count
	for _, g := range e.groups {
		squares += g.count * (g.mean - mean) * (g.mean - mean)
	}
	return math.Sqrt(squares / math.Max(count-1, 1))
}

// logHalfCauchy is the logarithm of the prior density of σ, up to a constant.
func logHalfCauchy(x, scale float64) float64 { return -math.Log1p(x * x / (scale * scale)) }

// logHeavy is the same for τ: 1/(scale+τ), whose tail expresses that the order of magnitude is
// unknown. A half-Cauchy density falls off too fast for few sessions: where they differ by 10 %, 5
// to 6 % of the builds that are worse by 10 % would be cleared.
func logHeavy(x, scale float64) float64 { return -math.Log1p(x / scale) }

// merged merges parts of nearly the same spread, which makes queries cheap.
func merged(parts []part) []part {
	const most = 24
	if len(parts) <= most {
		return parts
	}
	low, high := math.Inf(1), 0.0
	for _, p := range parts {
		low, high = math.Min(low, p.sd), math.Max(high, p.sd)
	}
	step := math.Log(high/low)/most + 1e-12
	var sums [most]struct{ weight, mean, squares, variance, level float64 }
	for _, p := range parts {
		s := &sums[min(int(math.Log(p.sd/low)/step), most-1)]
		s.weight += p.weight
		s.mean += p.weight * p.mean
		s.squares += p.weight * p.mean * p.mean
		s.variance += p.weight * p.sd * p.sd
		s.level += p.weight * p.level * p.level
	}
	var out []part
	for _, s := range sums {
		if s.weight > 0 {
			mean := s.mean / s.weight
			between := math.Max(s.squares/s.weight-mean*mean, 0)
			out = append(out, part{s.weight, mean, math.Sqrt(s.variance/s.weight + between), math.Sqrt(s.level/s.weight + between)})
		}
	}
	return out
}
