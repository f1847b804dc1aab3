package rounds

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
)

// A pass in nine of ten cases takes ((2.5758+1.2816)·√2·sd/margin)²/0.955 rounds: where a
// repetition has 0.05 and 10 % are to be excluded, 8.58 of one a turn, 4.29 of two and 2.86
// of three, each even.
func TestHowManyRepetitionsATurnHas(t *testing.T) {
	margin := math.Log(1.1)
	for name, c := range map[string]struct {
		sd, margin  float64
		lasts       gate.Lasts
		repetitions int
		minutes     float64
	}{
		"a set-up that takes long":  {0.05, margin, gate.Lasts{SetUp: 1, Repetition: 0.1}, 3, 4 * (1.5 + 0.6)},
		"a set-up of no time":       {0.05, margin, gate.Lasts{Repetition: 1}, 1, 10 * 2},
		"one as long as the other":  {0.05, margin, gate.Lasts{SetUp: 1, Repetition: 1}, 3, 4 * (1.5 + 6)},
		"in between":                {0.05, margin, gate.Lasts{SetUp: 2, Repetition: 1}, 3, 4 * (3 + 6)},
		"noise of next to nothing":  {0.001, margin, gate.Lasts{SetUp: 1, Repetition: 1}, 1, 2 * (1.5 + 2)},
		"noise of the largest kind": {10, margin, gate.Lasts{Repetition: 1}, 1, 200 * 2},
		"nothing to exclude":        {0.05, 0, gate.Lasts{SetUp: 1, Repetition: 1}, 1, 200 * (1.5 + 2)},
	} {
		repetitions, minutes := Settling(c.sd, c.margin, c.lasts)
		if repetitions != c.repetitions {
			t.Errorf("%s: %d repetitions, want %d", name, repetitions, c.repetitions)
		}
		about(t, name, minutes, c.minutes)
	}
}
