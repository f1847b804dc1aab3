package stat

import "math"

// Autocorrelation returns the correlation of neighbouring values in several short series, about the
// mean of each series. It is 0 where no series has three values, or nothing varies. For independent
// values its standard error is one over the root of the number of pairs of neighbours.
//
// About the mean of n independent values the product of two of them is lower by an n-th of their
// variance, which would bias short series. That is corrected (after Kendall, "Note on bias in the
// estimation of autocorrelation", Biometrika 41, 1954).
func Autocorrelation(series [][]float64) float64 {
	products, squares, pairs, short := 0.0, 0.0, 0.0, 0.0
	for _, values := range series {
		n := float64(len(values))
		if n < 3 {
			continue
		}
		mean := 0.0
		for _, v := range values {
			mean += v / n
		}
		for i, v := range values {
			squares += (v - mean) * (v - mean)
			if i > 0 {
				products += (v - mean) * (values[i-1] - mean)
			}
		}
		pairs += n - 1
		short += (n - 1) / n
	}
	variance := squares / pairs
	if !(variance > 0) || math.IsInf(variance, 0) {
		return 0
	}
	return (products/variance + short) / pairs
}
