package contexts

import "math"

// difference is the squared difference between two contexts, and the part of it that is expected as
// the runs of each vary.
type difference struct{ square, noise float64 }

// spread is the variance of the difference between two contexts: the likely value, and bounds that
// it exceeds with a chance of 5 % each.
type spread struct{ low, middle, high float64 }

// tailOfSpread is the chance that either bound of a spread is wrong.
const tailOfSpread = 0.05

// spreadOf estimates the variance between pairs of contexts beyond the noise, where the pairs are
// worth df independent ones. The prior is flat on the standard deviation, up to far beyond anything
// seen (Gelman 2006, section 7.1; it leaves one pair without a useful upper bound). pairs must not
// be empty.
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
	// The density is constant from zero to the first value, and linear between two.
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

// deviations returns the standard deviations to try: from a thousandth of the largest difference or
// noise to far above it, each 9 % above the one before. It is empty where nothing differs.
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
