package stat

import "math"

// Autocorrelation is how far each value of several short series goes with the next: the
// correlation of neighbours about the mean of their own series, which all of them share, and its
// standard error where values are independent. Both are 0 where no series has three values, or
// nothing varies.
//
// About the mean of n independent values the product of two of them is below zero by an n-th of
// their variance, which would hide in short series what it is asked for. That is made up for
// (after Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954).
func Autocorrelation(series [][]float64) (r, se float64) {
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
		return 0, 0
	}
	return (products/variance + short) / pairs, 1 / math.Sqrt(pairs)
}
