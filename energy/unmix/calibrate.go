package unmix

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// calibrate takes out of each row's mix of sources what may be chance: of a reading
// in which a source was sampled three times rather than two, the source need not
// have run for longer. A regression on such counts finds less than there is, and is
// too sure of it (errors in variables; Carroll et al., Measurement Error in
// Nonlinear Models, chapter 4).
//
// In units of what independent draws vary by, the mix varies by 1 in each direction
// where it is all chance, and by more where there is truth in it (truthIn). What
// varies no more than chance would is taken to be the mean mix. period is the CPU
// time of a sample in s. unsure is by how much the differences between sources may
// so be wrong, as a part of them (one standard deviation).
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
	// The largest that chance makes (Marchenko and Pastur 1967).
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

// truthIn is which part of a mix's variance along a direction is truth, where it
// varies v times as much as independent draws do. If samples were such draws, about
// something that changes slowly, it would be 1 - 1/v. If sources change places at
// random instants, a sample a period sees nearly all of it: successive samples are
// then correlated by (v-1)/(v+1), and the part is 1/(v·artanh(1/v)).
func truthIn(v float64) (low, high float64) {
	return 1 - 1/v, 1 / (v * math.Atanh(1/v))
}
