package familywise

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-4 {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// Each of two divisions of the tests halves what a family may use.
func TestShares(t *testing.T) {
	near(t, "one family's", Share(false, false), 1)
	near(t, "that of two", Share(true, false), 0.5)
	near(t, "that of four", Share(true, true), 0.25)
}

// Holm multiplies the smallest of three chances by three and the next by two, separately on each
// side; half a share doubles all of them.
func TestCorrectEachSide(t *testing.T) {
	tests := []Tails{{Worse: 0.01, Better: 0.99}, {Worse: 0.98, Better: 0.02}, {Worse: 0.03, Better: 0.97}}
	for share, want := range map[float64][3][2]float64{
		1:   {{0.03, 1}, {0.98, 0.06}, {0.06, 1}},
		0.5: {{0.06, 1}, {1, 0.12}, {0.12, 1}},
	} {
		for i, got := range Correct(tests, share) {
			near(t, "the worse side", got.On(true), want[i][0])
			near(t, "the better side", got.On(false), want[i][1])
		}
	}
}

// Two scores of 1.6449 (p = 0.05) divided by √2 give 2.3262, which 0.01 exceed. Where both share
// their history, with a correlation of one half, they are divided by √3: 1.8993 and 0.02876.
func TestCombine(t *testing.T) {
	scores := []float64{Score(0.05, true), Score(0.05, true)}
	near(t, "the score of 5 %", scores[0], 1.644854)
	apart := Combine(scores, func(int, int) float64 { return 0 })
	near(t, "two together", apart.Worse, 0.010004)
	near(t, "the other side of it", apart.Better, 0.989996)
	near(t, "two that share a half", Combine(scores, func(int, int) float64 { return 0.5 }).Worse, 0.028756)
	near(t, "one for the better beside it", Combine([]float64{scores[0], Score(0.05, false)}, func(int, int) float64 { return 0 }).Worse, 0.5)
	near(t, "the most that one test may say", Score(0, true), 7.034484)
	near(t, "what says nothing", Score(0.9, true), 0)
}
