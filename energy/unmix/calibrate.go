package unmix

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// calibrate removes from each row's mix of sources what may be chance: if a source has three
// samples in a reading rather than two, it need not have run for longer. A regression on such
// counts underestimates the effect and its uncertainty (errors in variables; Carroll et al.,
// Measurement Error in Nonlinear Models, chapter 4).
//
// In units of the variance of independent draws, the mix has variance 1 in each direction where it
// is all chance, and more where there is a true effect (truthIn). A direction with no more variance
// than chance is replaced by the mean mix. period is the CPU time of a sample in s. unsure is the
// relative error of the differences between sources that may result (one standard deviation).
func calibrate(rows []row, shares []float64, period float64) (unsure float64) {
	n, k := len(rows), len(shares)
	units := mat.NewDense(n, k, nil)
	scale := make([]float64, n)
	for i, r := range rows {
		if r.running <= 0 || period <= 0 {
			continue
		}
		samples := r.running * (r.to - r.from).Seconds() / period
		scale[i] = r.running / math.Sqrt(max(samples, 1))
		for j, p := range shares {
			if p > 0 {
				units.Set(i, j, (r.of[j]-r.running*p)/(scale[i]*math.Sqrt(p)))
			}
		}
	}
	var found mat.SymDense
	found.SymOuterK(1/float64(n), units.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&found, true) {
		k = 0
	}
	// The largest eigenvalue that chance produces (Marchenko and Pastur 1967).
	edge := 1 + math.Sqrt(float64(k)/float64(n))
	edge *= edge
	var directions mat.Dense
	kept := mat.NewDense(n, len(shares), nil)
	if k > 0 {
		eigen.VectorsTo(&directions)
		var along mat.Dense
		along.Mul(units, &directions)
		all := 0.0
		for j, v := range eigen.Values(nil) {
			truth := 0.0
			if v > edge*1.1 {
				low, high := truthIn(v)
				truth = (low + high) / 2
				unsure, all = unsure+v*(high-low)/2, all+v*truth
			}
			for i := range n {
				along.Set(i, j, along.At(i, j)*truth)
			}
		}
		kept.Mul(&along, directions.T())
		unsure /= max(all, 1)
	}
	for i := range rows {
		for j, p := range shares {
			rows[i].of[j] = rows[i].running*p + kept.At(i, j)*scale[i]*math.Sqrt(p)
		}
	}
	return unsure
}

// truthIn returns the true part of a mix's variance along a direction whose variance is v times
// that of independent draws. If samples were such draws of something that changes slowly, it would
// be 1 - 1/v. If sources alternate at random instants, a sample per period captures nearly all of
// it: successive samples are then correlated by (v-1)/(v+1), and the part is 1/(v·artanh(1/v)).
func truthIn(v float64) (low, high float64) {
	return 1 - 1/v, 1 / (v * math.Atanh(1/v))
}
