package unmix

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Prior assumptions.
const (
	// The floor is between zero and all of the mean power: the mean and the standard deviation of
	// the uniform distribution.
	floorMean = 0.5
	floorSD   = 0.29
	// sourcesSD is the relative spread of sources in the power above the floor: what one core draws
	// for different kinds of work.
	sourcesSD = 0.25
	// trust is how much of the evidence for one response of the sensor against others counts.
	trust = 0.1
)

// Fit fits the model to recordings whose samples stand for period s of CPU time each. ok is false
// if there are too few readings.
//
// Readings are regressed on the CPU time in them: the floor and a power for each source, which are
// alike as far as the readings do not distinguish them. The unknown spread of sources and response
// of the sensor (see lates) are averaged over, weighted by how well each explains the readings. The
// residuals of successive readings are correlated (Prais and Winsten 1954).
func Fit(recordings []Recording, sources int, period float64) (m *Model, ok bool) {
	place, distinct := distinguish(recordings, sources)
	recordings, reading := joinReadings(recordings)
	var f fitting
	unsure := 0.0
	for _, part := range lates {
		late := time.Duration(part * float64(reading))
		rows := rowsOf(recordings, place, distinct, late, reading)
		f.mean, f.running = meanOf(rows)
		if !(f.running*f.mean > 0) {
			return nil, false
		}
		unsure = max(unsure, calibrate(rows, sharesOf(rows, f.running), period))
		for _, keep := range smooths {
			f.try(response{rows, keep})
		}
	}
	if len(f.found) == 0 {
		return nil, false
	}
	m = f.average()
	m.place = place
	differences := mat.NewVecDense(len(m.unknowns), slices.Clone(m.unknowns))
	differences.SetVec(0, 0)
	differences.SetVec(1, 0)
	m.covariance.SymRankOne(m.covariance, unsure*unsure, differences)
	m.boundFloor(f.mean)
	m.leftovers(f.best)
	return m, true
}

// sharesOf returns the parts of all CPU time by source.
func sharesOf(rows []row, running float64) []float64 {
	shares := make([]float64, len(rows[0].of))
	for _, r := range rows {
		for j, v := range r.of {
			shares[j] += v / (running * float64(len(rows)))
		}
	}
	return shares
}

func meanOf(rows []row) (watts, running float64) {
	for _, r := range rows {
		watts, running = watts+r.watts, running+r.running
	}
	n := float64(max(len(rows), 1))
	return watts / n, running / n
}

// distinguish assigns a place to each source with the most CPU time, and one place to all others.
func distinguish(recordings []Recording, sources int) (place []int, distinct int) {
	seconds := make([]float64, sources)
	for _, r := range recordings {
		for _, s := range r.Spells {
			seconds[s.Source] += s.Seconds
		}
	}
	order := make([]int, sources)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(seconds[b], seconds[a]) })
	place = make([]int, sources)
	for rank, source := range order {
		place[source] = min(rank, MaxSources-1)
	}
	return place, min(sources, MaxSources)
}

// fitting is the regressions that were tried.
type fitting struct {
	mean, running float64 // of the readings, W, and threads running in them
	found         []regression
	best          response
	bestAll       float64
}

// regression is one of them: the unknowns, their covariance, and the log-likelihood of the
// readings.
type regression struct {
	unknowns   []float64
	covariance *mat.SymDense
	evidence   float64
}

// try adds the regressions for one response of the sensor.
func (f *fitting) try(by response) {
	design, watts, follows := by.design()
	if design == nil {
		return
	}
	floor, common := line(design, watts)
	correlation := neighbours(follows, design, watts, floor, common)
	fixed := whiten(follows, design, watts, correlation)
	rest := 0.0
	for i := range watts {
		d := watts[i] - floor*design.At(i, 0) - common*design.At(i, 1)
		rest += d * d
	}
	n, k := design.Dims()
	noise := max(rest/float64(n-2), 1e-12*f.mean*f.mean)
	var square mat.SymDense
	square.SymOuterK(1, design.T())
	var product mat.VecDense
	product.MulVec(design.T(), mat.NewVecDense(n, watts))
	yy := 0.0
	for _, w := range watts {
		yy += w * w
	}
	q := quadratic{square: &square, product: &product, yy: yy, n: float64(n), k: k, fixed: fixed, mean: f.mean}
	above := f.above(common, noise, &square)
	noise = q.noise(noise, above*sourcesSD)
	begin := len(f.found)
	for _, part := range []float64{0.02, 0.06, 0.12, 0.18, 0.24, 0.32, 0.42, 0.55, 0.75} {
		r, ok := q.solve(noise, above*part)
		if !ok {
			continue
		}
		r.evidence += math.Log(part+0.02) - part*part/(2*sourcesSD*sourcesSD) // the grid's steps, half of a normal
		f.found = append(f.found, r)
	}
	f.temper(by, f.found[begin:])
}

// temper keeps the weights of the regressions within one response, and reduces the evidence for it
// against other responses: the noise is assumed to follow a single rule, which real sensors do not.
func (f *fitting) temper(by response, found []regression) {
	if len(found) == 0 {
		return
	}
	evidence := make([]float64, len(found))
	for i, r := range found {
		evidence[i] = r.evidence
	}
	all := floats.LogSumExp(evidence)
	for i := range found {
		found[i].evidence += (trust - 1) * all
	}
	if f.best.rows == nil || all > f.bestAll {
		f.best, f.bestAll = by, all
	}
}

// above returns roughly what a thread draws above the floor, W: the slope of a line, weighted by
// its certainty with the prior of the floor.
func (f *fitting) above(slope, noise float64, square *mat.SymDense) float64 {
	most := f.mean / f.running
	information := max(0, square.At(1, 1)-square.At(0, 1)*square.At(0, 1)/square.At(0, 0)) / noise
	assumed := 1 / (floorSD * floorSD * most * most)
	above := (information*slope + assumed*(1-floorMean)*most) / (information + assumed)
	return max(above, 0.1*most)
}

// quadratic is a regression's sums of squares.
type quadratic struct {
	square  *mat.SymDense
	product *mat.VecDense
	yy      float64
	n       float64
	k       int
	fixed   float64 // part of the evidence, from whitening
	mean    float64
}

// solve computes the unknowns for a given variance of the readings and a given standard deviation
// of sources.
func (q *quadratic) solve(noise, spread float64) (regression, bool) {
	precision := make([]float64, q.k)
	precision[0] = 1 / (floorSD * floorSD * q.mean * q.mean)
	precision[1] = 1e-6 / (q.mean * q.mean)
	for i := 2; i < q.k; i++ {
		precision[i] = 1 / (spread * spread)
	}
	a := mat.NewSymDense(q.k, nil)
	right := mat.NewVecDense(q.k, nil)
	logPrior := 0.0
	for i := range q.k {
		for j := i; j < q.k; j++ {
			a.SetSym(i, j, q.square.At(i, j)/noise)
		}
		a.SetSym(i, i, a.At(i, i)+precision[i])
		right.SetVec(i, q.product.AtVec(i)/noise)
		logPrior += math.Log(precision[i])
	}
	prior := floorMean * q.mean
	right.SetVec(0, right.AtVec(0)+precision[0]*prior)
	var chol mat.Cholesky
	var at mat.VecDense
	covariance := mat.NewSymDense(q.k, nil)
	if !chol.Factorize(a) || chol.SolveVecTo(&at, right) != nil || chol.InverseTo(covariance) != nil {
		return regression{}, false // numerically singular
	}
	// At the solution, rest/noise + the prior's square equals the remainder of y² + b².
	left := q.yy/noise + precision[0]*prior*prior - mat.Dot(&at, right)
	return regression{
		unknowns: slices.Clone(at.RawVector().Data), covariance: covariance,
		evidence: q.fixed - (q.n*math.Log(noise)+left+chol.LogDet()-logPrior)/2,
	}, true
}

// noise returns the variance of the readings about the regression.
func (q *quadratic) noise(first, spread float64) float64 {
	r, ok := q.solve(first, spread)
	if !ok {
		return first
	}
	at := mat.NewVecDense(q.k, r.unknowns)
	rest := q.yy - 2*mat.Dot(at, q.product) + mat.Inner(at, q.square, at)
	used := 0.0
	for i := range q.k {
		for j := range q.k {
			used += r.covariance.At(i, j) * q.square.At(i, j) / first
		}
	}
	return max(rest/(q.n-used), first*1e-3)
}

// average returns the mean of all regressions, weighted by how well each explains the readings.
func (f *fitting) average() *Model {
	weights, sum := make([]float64, len(f.found)), 0.0
	for i, r := range f.found {
		weights[i] = math.Exp(r.evidence - trust*f.bestAll)
		sum += weights[i]
	}
	k := len(f.found[0].unknowns)
	m := &Model{unknowns: make([]float64, k), covariance: mat.NewSymDense(k, nil)}
	for i, r := range f.found {
		for j, v := range r.unknowns {
			m.unknowns[j] += weights[i] / sum * v
		}
	}
	apart := mat.NewVecDense(k, nil)
	for i, r := range f.found {
		w := weights[i] / sum
		if w < 1e-9 {
			continue
		}
		for j, v := range r.unknowns {
			apart.SetVec(j, v-m.unknowns[j])
			for l := j; l < k; l++ {
				m.covariance.SetSym(j, l, m.covariance.At(j, l)+w*r.covariance.At(j, l))
			}
		}
		m.covariance.SymRankOne(m.covariance, w, apart)
	}
	return m
}

// boundFloor excludes a floor below zero or above the mean power: the moments of a normal
// distribution truncated there.
func (m *Model) boundFloor(mean float64) {
	variance := m.covariance.At(0, 0)
	sd := math.Sqrt(variance)
	normal := distuv.UnitNormal
	low, high := -m.unknowns[0]/sd, (mean-m.unknowns[0])/sd
	inside := normal.CDF(high) - normal.CDF(low)
	centre, square := min(max(m.unknowns[0], 0), mean), 0.01*mean*mean
	if inside > 1e-6 {
		shift := (normal.Prob(low) - normal.Prob(high)) / inside
		centre = m.unknowns[0] + sd*shift
		square = variance * (1 + (low*normal.Prob(low)-high*normal.Prob(high))/inside - shift*shift)
	}
	k := len(m.unknowns)
	with := mat.NewVecDense(k, nil)
	for i := range k {
		with.SetVec(i, m.covariance.At(0, i)/variance)
	}
	by := centre - m.unknowns[0]
	for i := range k {
		m.unknowns[i] += with.AtVec(i) * by
	}
	m.covariance.SymRankOne(m.covariance, square-variance, with)
	m.FloorW = m.unknowns[0]
}

// Work is seconds of the floor, and seconds of CPU time by source. The zero Work is empty.
type Work struct {
	floor float64
	of    []float64
}

// Add adds CPU time of a source, and the seconds of the floor attributed to it.
func (m *Model) Add(w *Work, source int, floor, seconds float64) {
	if w.of == nil {
		w.of = make([]float64, len(m.unknowns)-2)
	}
	w.floor += floor
	w.of[m.place[source]] += seconds
}

// Variance returns the variance of the work's joules, J², due to the uncertainty of the model.
func (m *Model) Variance(w Work) float64 {
	c := mat.NewVecDense(len(m.unknowns), nil)
	c.SetVec(0, w.floor)
	for i, seconds := range w.of {
		c.SetVec(1, c.AtVec(1)+seconds)
		c.SetVec(2+i, seconds)
	}
	return max(0, mat.Inner(c, m.covariance, c))
}
