package level

import (
	"math"

	"github.com/apkgate/apkgate/stat"
)

const (
	// mostNewest is how many of the newest sessions may form a new level before a step shows.
	mostNewest = leastSide - 1
	// leastBefore is the least number of earlier sessions for others to be better than.
	leastBefore = 3
	// surelyBetter limits the chance that sessions of the same level look better.
	surelyBetter = 0.05
	// perDeviation converts a median absolute deviation to a standard deviation.
	perDeviation = 1.4826
)

// betterAtLast returns where the newest one or two sessions begin, if they are better than those
// before them predict by Student's t; 0 where they are not. One bad session before them widens
// nothing: the prediction uses medians of the values and of their deviations.
func betterAtLast(centres []float64, worse, least float64) int {
	for k := mostNewest; k > 0; k-- {
		at := len(centres) - k
		if at < leastBefore {
			continue
		}
		before, newest := centres[:at], centres[at:]
		expected, sum, each := stat.Median(before), 0.0, true
		for _, y := range newest {
			better := (expected - y) * worse
			sum, each = sum+better, each && better > 0 && better >= least
		}
		b, n := float64(at), float64(k)
		m := stat.Moments{SD: spreadOf(before) * math.Sqrt((1/n+1/b)/(1+1/b)), N: b, DF: b - 1}
		if each && m.Tail(sum/n) <= surelyBetter {
			return at
		}
	}
	return 0
}

// spreadOf returns the standard deviation, from the median of the deviations where that is not
// zero.
func spreadOf(values []float64) float64 {
	middle, squares := stat.Median(values), 0.0
	off := make([]float64, len(values))
	for i, v := range values {
		off[i] = math.Abs(v - middle)
		squares += off[i] * off[i]
	}
	if sd := perDeviation * stat.Median(off); sd > 0 {
		return sd
	}
	return math.Sqrt(squares / float64(len(values)-1))
}
