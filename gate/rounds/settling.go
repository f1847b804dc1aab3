package rounds

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
)

const (
	// surely is the chance with which planned rounds settle what they are asked.
	surely = 0.9
	// mostRepetitions are those of one turn: more of them tell less and less, as what a turn
	// has in common stays.
	mostRepetitions = 3
)

// Settling is how many minutes rounds take to settle that a number is not worse by the margin,
// on its scale, where a turn has as many repetitions as make that least. within is what is known
// of the noise. What the history adds is not counted.
func Settling(within screening.Within, margin float64, lasts gate.Lasts) (minutes float64) {
	minutes = math.Inf(1)
	for k := 1; k <= mostRepetitions; k++ {
		n := roundsToPass(passing{noise: noiseOf(gate.Known{Repetition: within.SD()}, k), df: within.DF, room: margin, chance: surely})
		minutes = min(minutes, float64(n)*lasts.Round(k))
	}
	return minutes
}

// noiseOf is the standard deviation of the difference that a round shows where each build has
// so many repetitions in it.
func noiseOf(k gate.Known, turn int) float64 {
	return math.Sqrt2 * k.Repetition * math.Sqrt(longer(turn, k.Wander))
}

// passing is what it takes to exclude a worsening.
type passing struct {
	noise, df float64 // of a difference, and how surely that is known
	room      float64 // between what is expected and what is to be excluded
	history   float64 // what the history says of the difference: one over its variance
	chance    float64 // with which it is to be excluded
}

// roundsToPass is how many rounds exclude it; more than mostAdvised where those don't.
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

// passScores are how many standard errors lie below a worsening that is excluded, by the degrees
// of freedom of these.
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
