package rounds

import (
	"math"

	"github.com/apkgate/apkgate/gate"
)

const (
	// surely is the chance with which planned rounds settle what they are asked.
	surely = 0.9
	// mostRepetitions are those of one turn: more of them tell less and less, as what a turn
	// has in common stays.
	mostRepetitions = 3
)

// Settling is how many repetitions a turn settle that a number is not worse by the margin, on
// its scale, in the least time, and how many minutes that takes. repetition is the standard
// deviation of one. What the history adds is not counted.
func Settling(repetition, margin float64, lasts gate.Lasts) (repetitions int, minutes float64) {
	minutes = math.Inf(1)
	for k := 1; k <= mostRepetitions; k++ {
		takes := float64(roundsTo(repetition/math.Sqrt(float64(k)), margin)) * lasts.Round(k)
		if takes < minutes {
			repetitions, minutes = k, takes
		}
	}
	return repetitions, minutes
}

// roundsTo is how many rounds exclude a worsening by the margin where there is none, if each
// value of a round has that standard deviation.
func roundsTo(sd, margin float64) int {
	if !(margin > 0) {
		return mostAdvised
	}
	n := math.Pow((score(PassLevel)+score(1-surely))*math.Sqrt2*sd/margin, 2) / efficiency
	return even(int(math.Ceil(math.Min(math.Max(n, leastRounds), mostAdvised))))
}
