// Package screening says what the history of a number lets expect of its next run: how
// likely it is that a build which is worse would look as good as this one, and that
// one which is unchanged would look as bad.
//
// The centre of a run's repetitions varies about the level by τ from session to
// session, and by σ/√n as there are no more than n repetitions of it:
//
//	y ~ N(level, τ² + σ²/n + floor²)
//
// as in a one-way analysis of variance with random effects (Searle, Casella and
// McCulloch, "Variance Components", 1992). Neither τ nor σ is known: both are
// integrated out over a grid, with wide priors (after Gelman, "Prior distributions for
// variance parameters", Bayesian Analysis 1, 2006), so that few runs make no one sure. It
// knows no metric, no context and no policy: numbers are on whatever scale the caller
// judges.
package screening

import (
	"math"
	"slices"
)

// Session is what one session measured: the centre of its repetitions and how many
// they are, at least 1.
type Session struct {
	Centre float64
	N      int
}

// Within is how repetitions of one session differ: the sum of their squares about
// their centres and the degrees of freedom behind it; none are known where DF is 0.
type Within struct{ Squares, DF float64 }

// Add adds a session's n repetitions with a standard deviation.
func (w *Within) Add(sd float64, n int) {
	if n > 1 {
		w.Squares += float64(n-1) * sd * sd
		w.DF += float64(n - 1)
	}
}

// SD is the standard deviation of one repetition; 0 where none is known.
func (w Within) SD() float64 {
	if !(w.DF > 0) {
		return 0
	}
	return math.Sqrt(w.Squares / w.DF)
}

// Told is what others tell of the level: a centre and how far off it may be. Nothing is
// told where SD is not above 0.
type Told struct{ Centre, SD float64 }

// Prior is what is believed before any session is seen.
type Prior struct {
	// Between and Repetition are the scales of the priors on τ and σ: logHeavy's and
	// logHalfCauchy's.
	Between, Repetition float64
	// Floor is the least standard deviation of a session that is believed.
	Floor float64
	// Spread is the standard deviation of a session's centre as others show it, and
	// DF how many degrees of freedom it is worth; none where DF is 0.
	Spread, DF float64
	Told       Told
}

// Outlook is what is expected of one more session.
type Outlook struct{ parts []part }

// part is one of the normal distributions that the outlook is a mixture of: of the
// next session, and of the level.
type part struct{ weight, mean, sd, level float64 }

// Known reports whether anything is expected: of one session alone there is no spread.
func (o Outlook) Known() bool { return len(o.parts) > 0 }

// Of is the outlook for one more session of n repetitions after these, of which within
// tells how repetitions differ (of the new session too). It takes at least two sessions,
// or one and what others tell; else nothing is known.
func Of(past []Session, n int, within Within, prior Prior) Outlook {
	if len(past) == 0 || (len(past) == 1 && prior.DF <= 0) || !(prior.Between > 0) || !(prior.Repetition > 0) {
		return Outlook{}
	}
	e := evidence{groups: grouped(past), n: float64(max(n, 1)), within: within, prior: prior}
	return Outlook{merged(e.parts())}
}

// group are the sessions of equally many repetitions: all that the likelihood needs.
type group struct{ n, count, mean, squares float64 }

// grouped sorts sessions by their number of repetitions: above twenty, numbers that
// differ by less than a tenth count as one, so that there are never many groups.
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

// Of the grids.
const (
	sigmas     = 13
	taus       = 13
	refined    = 4    // how often the grid of τ is laid anew around what is likely
	negligible = 1e-5 // of the likeliest
)

// parts are the outlooks for each σ and τ of the grid, with the likelihood of these.
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

// overTau adds the parts of one σ, and the logarithms of their weights.
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

// at is the outlook where σ and τ are known, and the logarithm of how likely the
// sessions are then, whatever the level is.
func (e evidence) at(sigma, tau float64) (part, float64) {
	fixed := tau*tau + e.prior.Floor*e.prior.Floor
	weights, sum, log := 0.0, 0.0, 0.0
	for _, g := range e.groups {
		v := fixed + sigma*sigma/g.n
		weights += g.count / v
		sum += g.count * g.mean / v
		log -= g.count/2*math.Log(v) + g.squares/(2*v)
	}
	if told := e.prior.Told; told.SD > 0 {
		weights += 1 / (told.SD * told.SD)
		sum += told.Centre / (told.SD * told.SD)
	}
	level := sum / weights
	for _, g := range e.groups {
		v := fixed + sigma*sigma/g.n
		log -= g.count * (g.mean - level) * (g.mean - level) / (2 * v)
	}
	if told := e.prior.Told; told.SD > 0 {
		log -= (told.Centre - level) * (told.Centre - level) / (2 * told.SD * told.SD)
	}
	log -= math.Log(weights) / 2
	next := fixed + sigma*sigma/e.n
	if df := e.prior.DF; df > 0 {
		log -= df/2*math.Log(next) + df*e.prior.Spread*e.prior.Spread/(2*next)
	}
	return part{mean: level, sd: math.Sqrt(next + 1/weights), level: math.Sqrt(1 / weights)}, log
}

// logWithin is the logarithm of how likely the differences of repetitions are.
func (e evidence) logWithin(sigma float64) float64 {
	if e.within.DF <= 0 {
		return 0
	}
	return -e.within.DF*math.Log(sigma) - e.within.Squares/(2*sigma*sigma)
}

// sigmaRange is where σ may lie: around what repetitions show, or where they show
// nothing, anywhere.
func (e evidence) sigmaRange() (low, high float64) {
	least := math.Max(e.prior.Floor/10, e.prior.Repetition/1000)
	if e.within.DF > 0 {
		s := math.Max(math.Sqrt(e.within.Squares/e.within.DF), least)
		reach := 4 / math.Sqrt(2*e.within.DF)
		return s * math.Exp(-reach), s * math.Exp(reach)
	}
	return least, 10 * (e.prior.Repetition + e.sd())
}

// tauRange is where τ may lie.
func (e evidence) tauRange() (low, high float64) {
	return e.prior.Between / 50, 10 * (e.prior.Between + e.sd() + e.prior.Spread)
}

// sd is the standard deviation of the sessions' centres, whatever their repetitions.
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

// logHalfCauchy is the logarithm of the density of σ, but for a constant.
func logHalfCauchy(x, scale float64) float64 { return -math.Log1p(x * x / (scale * scale)) }

// logHeavy is the same of τ: 1/(scale+τ), whose tail is that of not knowing the order of
// magnitude. A half-Cauchy density falls off too fast for few sessions: where they differ
// by 10 %, 5 to 6 % of the builds that are worse by 10 % would be cleared.
func logHeavy(x, scale float64) float64 { return -math.Log1p(x / scale) }

// merged puts parts of nearly the same spread together, so that asking is cheap.
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
