package rounds

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
)

const (
	// surely is the chance with which planned rounds settle their questions.
	surely = 0.9
	// mostRepetitions is the largest number in one turn: each further one adds less, as what a turn
	// has in common stays.
	mostRepetitions = 3
)

// Settling returns how many minutes rounds take to exclude that a number is worse by the margin, on
// its scale, with the number of repetitions per turn that makes this least. within is the known
// noise. What the history adds is not counted.
func Settling(within screening.Within, margin float64, lasts gate.RoundDurations) (minutes float64) {
	minutes = math.Inf(1)
	for k := 1; k <= mostRepetitions; k++ {
		n := roundsToPass(passing{noise: noiseOf(gate.Prior{Repetition: within.SD()}, k), df: within.DF, room: margin, chance: surely})
		minutes = min(minutes, float64(n)*lasts.Round(k))
	}
	return minutes
}

// noiseOf returns the standard deviation of the difference of a round with so many repetitions of
// each build.
func noiseOf(k gate.Prior, turn int) float64 {
	return math.Sqrt2 * k.Repetition * math.Sqrt(longer(turn, k.Autocorrelation))
}

// passing is what excluding a worsening takes.
type passing struct {
	noise, df float64 // of a difference, and its degrees of freedom
	room      float64 // between the expected value and what is to be excluded
	history   float64 // the inverse variance of the history's estimate of the difference
	chance    float64 // with which it should be excluded
}

// roundsToPass returns how many rounds exclude it; more than mostAdvised where those don't.
func roundsToPass(p passing) int {
	n := leastRounds
	for ; n <= mostAdvised; n += passEvery {
		rounds := float64(n)
		se := 1 / math.Sqrt(efficiency*rounds/(p.noise*p.noise)+p.history)
		if (passScore(min(p.df, mostDF)+rounds-1)+score(1-p.chance))*se <= p.room {
			break
		}
	}
	return n
}

// passScores are how many standard errors an excluded worsening lies away, by their degrees of
// freedom.
var passScores = sync.OnceValue(func() (scores [mostDF + mostAdvised + passEvery]float64) {
	for df := range scores {
		scores[df] = distuv.StudentsT{Sigma: 1, Nu: math.Max(float64(df), 1)}.Quantile(1 - PassLevel)
	}
	return scores
})

func passScore(df float64) float64 {
	scores := passScores()
	return scores[min(max(int(df), 0), len(scores)-1)]
}
