package contexts

import "math"

// difference is how far two contexts lie apart: the square of it, and how much of that
// is to be expected as the runs of each differ among themselves.
type difference struct{ square, noise float64 }

// spread is the variance of the difference between two contexts: what is likely, and
// what it is at the least and at the most, each with a chance of 5 % to be beyond.
type spread struct{ low, middle, high float64 }

// tailOfSpread is the chance of either bound of a spread to be wrong.
const tailOfSpread = 0.05

// spreadOf estimates the variance that pairs of contexts differ by beyond the noise,
// given that they are worth df independent ones. Its standard deviation is as likely
// to be anywhere from nothing to far beyond what was seen before anything is known
// (Gelman 2006, section 7.1: flat on the standard deviation, which leaves one pair
// without an upper bound worth the name). Pairs are not empty.
func spreadOf(pairs []difference, df float64) spread {
	sds := deviations(pairs)
	if sds == nil {
		return spread{}
	}
	logs, best := make([]float64, len(sds)), math.Inf(-1)
	for i, sd := range sds {
		for _, p := range pairs {
			v := sd*sd + p.noise
			logs[i] -= (math.Log(v) + p.square/v) / 2
		}
		logs[i] *= df / float64(len(pairs))
		best = max(best, logs[i])
	}
	// The density is as at the first of them down to zero, and even between two.
	below := make([]float64, len(sds))
	below[0] = sds[0] * math.Exp(logs[0]-best)
	for i := 1; i < len(sds); i++ {
		below[i] = below[i-1] + (sds[i]-sds[i-1])*(math.Exp(logs[i]-best)+math.Exp(logs[i-1]-best))/2
	}
	at := func(share float64) float64 {
		mass, i := share*below[len(below)-1], 0
		for below[i] < mass {
			i++
		}
		fromMass, fromSD := 0.0, 0.0
		if i > 0 {
			fromMass, fromSD = below[i-1], sds[i-1]
		}
		sd := fromSD + (sds[i]-fromSD)*(mass-fromMass)/(below[i]-fromMass)
		return sd * sd
	}
	return spread{low: at(tailOfSpread), middle: at(0.5), high: at(1 - tailOfSpread)}
}

// deviations are the standard deviations to try: from a thousandth of the largest
// difference or noise to far above it, each 9 % above the one before. None where there is
// nothing that differs.
func deviations(pairs []difference) []float64 {
	const (
		below  = 1000
		beyond = 32
		step   = 1.09
	)
	largest := 0.0
	for _, p := range pairs {
		largest = max(largest, p.square, p.noise)
	}
	if !(largest > 0) || math.IsInf(largest, 1) {
		return nil
	}
	var out []float64
	for by := 1.0 / below; by < beyond; by *= step {
		out = append(out, by*math.Sqrt(largest))
	}
	return out
}
