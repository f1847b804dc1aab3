package drift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/research/evaluation"
)

// quarters are histories of one metric: a session of five repetitions, with a noise of 3 % each and
// the session's own, so many times a week.
type quarters struct {
	before  int // quarters without a change that come first
	weekly  int // refreshes a week
	session float64
	creep   float64 // a week, from the first refresh of the quarter on
}

// reported returns the first week after which a drift for the worse is reported, of 13; 0 for none.
// Each refresh tests once.
func (q quarters) reported(random *rand.Rand) int {
	const week, alpha, budget = 7, 0.01, 0.05
	var c []point
	for w := -13 * q.before; w <= 12; w++ {
		for k := range q.weekly {
			day := float64(w*week + k)
			values := make([]float64, 5)
			for i := range values {
				values[i] = 0.03 * random.NormFloat64()
			}
			slices.Sort(values)
			y := values[2] + q.session*random.NormFloat64() + math.Log(1+q.creep)*max(0, day)/week
			c = append(c, point{day: day, y: y, runs: 1})
			if w < 0 {
				continue
			}
			if r := riseOf([][]point{c}, budget, alpha); r.rising <= alpha && r.by >= math.Log(1+budget) {
				return max(1, int(math.Ceil(day/week)))
			}
		}
	}
	return 0
}

// sweep returns in how many of so many quarters a drift is reported, by the eighth and the twelfth
// week and in the whole quarter.
func (q quarters) sweep(trials int) (eight, twelve, all int) {
	for trial := range trials {
		switch week := q.reported(rand.New(rand.NewPCG(uint64(trial), 77))); {
		case week == 0:
			continue
		case week <= 8:
			eight++
			fallthrough
		case week <= 12:
			twelve++
		}
		all++
	}
	return eight, twelve, all
}

// The table of docs/evaluation/long-series.md: how often a drift of 1 % a week, and a quiet quarter, is
// reported. APKGATE_QUARTERS sets how many are simulated of each (4,000 in the table).
func TestSweepOfCreeps(t *testing.T) {
	trials := 80
	if os.Getenv("APKGATE_FULL") != "" {
		trials = 400
	}
	if n, err := strconv.Atoi(os.Getenv("APKGATE_QUARTERS")); err == nil {
		trials = n
	}
	text, err := os.ReadFile("../../docs/evaluation/long-series.md")
	if err != nil {
		t.Fatal(err)
	}
	for before := range 3 {
		for _, weekly := range []int{1, 5} {
			for _, session := range []float64{0.02, 0.05} {
				q := quarters{before: before, weekly: weekly, session: session}
				_, _, quiet := q.sweep(trials)
				q.creep = 0.01
				eight, twelve, _ := q.sweep(trials / 4)
				label := fmt.Sprintf("| %d | %d | %.0f %% |", before, weekly, 100*session)
				share := func(n, of int) float64 { return 100 * float64(n) / float64(of) }
				row := fmt.Sprintf("%s %.1f %% | %.0f %% | %.0f %% |", label, share(quiet, trials), share(eight, trials/4), share(twelve, trials/4))
				t.Log(row)
				if low, _ := evaluation.Interval(quiet, trials); low > 0.01 {
					t.Errorf("%s: of %d quiet quarters %d report a creep, want 1 in 100 at most", label, trials, quiet)
				}
				within := eight
				if session > 0.02 {
					within = twelve
				}
				if before > 0 && 2*within < trials/4 {
					t.Errorf("%s: reported in %d of %d in time, want most", label, within, trials/4)
				}
				documented(t, string(text), label, quiet, eight, twelve, trials)
			}
		}
	}
}

// documented compares a row of the document with the counts, within the chance error of so many
// trials.
func documented(t *testing.T, text, label string, quiet, eight, twelve, trials int) {
	t.Helper()
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(line, label)
		if !found {
			continue
		}
		var says [3]float64
		if _, err := fmt.Sscanf(rest, " %f %% | %f %% | %f %% |", &says[0], &says[1], &says[2]); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for i, n := range []int{quiet, eight, twelve} {
			of := trials
			if i > 0 {
				of = trials / 4
			}
			p := says[i] / 100
			room := 4*math.Sqrt(max(p*(1-p), 0.005)/float64(of)) + 0.006
			if got := float64(n) / float64(of); math.Abs(got-p) > room {
				t.Errorf("docs/evaluation/long-series.md has %s where it is %.3f (column %d)", strings.TrimSpace(line), got, i+1)
			}
		}
		return
	}
	t.Errorf("docs/evaluation/long-series.md lacks the row %s", label)
}
