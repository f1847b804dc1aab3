package evaluation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/research/evaluation/published"
	"github.com/apkgate/apkgate/research/evaluation/series"
	"github.com/apkgate/apkgate/stat"
)

// sets are the series that docs/evaluation/single-questions.md draws from, by name.
func sets(t *testing.T) map[string][]series.Series {
	t.Helper()
	corpus := filepath.Dir(corpustest.Path(t, "dataset"))
	monsoon, batterystats, err := published.Energy(corpus)
	if errors.Is(err, published.ErrNoXZ) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	macro, err := published.Benchmarks(corpus)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]series.Series{
		"monsoon": monsoon, "macro": macro, "quiet": published.Quiet(slices.Concat(batterystats, monsoon)), "all": slices.Concat(batterystats, monsoon, macro),
	}
}

// made are series of a simulated phone, in ten sessions of five repetitions: sessions and
// repetitions differ by these standard deviations of the logarithm.
func made(n int, session, noise float64) []series.Series {
	var out []series.Series
	for k := range n {
		rng := rand.New(rand.NewPCG(uint64(k), 5))
		s := series.Series{Name: fmt.Sprint("made ", k+1), Device: "simulated"}
		for i := range 10 {
			level := 100 * math.Exp(session*rng.NormFloat64())
			for range 5 {
				s.Values = append(s.Values, level*math.Exp(noise*rng.NormFloat64()))
				s.Session = append(s.Session, fmt.Sprint("session ", i+1))
			}
		}
		out = append(out, s)
	}
	return out
}

// rowOf answers one question by the default gate with rounds at hand.
func rowOf(t *testing.T, all []series.Series, q Question, draws int) Row {
	t.Helper()
	p, _ := gate.PolicyOf(gate.PresetDefault)
	s := Setup{Series: all, Policy: p, Rounds: 60, Draws: draws, Seed: 1}
	if q.World == "" {
		q.World = Plain
	}
	if err := s.Check([]Question{q}); err != nil {
		t.Fatal(err)
	}
	report, err := Evaluate(context.Background(), s, []Question{q}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := report.Rows[0]
	t.Logf("%s across %v, %d metrics, %s, %+.0f %%: fails %.1f %% (%.1f to %.1f), inconclusive %.1f %%, named %.1f %%, %.1f repetitions",
		r.Design, r.AcrossSessions, r.Metrics, q.World, 100*r.Shift, 100*r.Failed, 100*r.FailedLow, 100*r.FailedHigh, 100*r.Inconclusive, 100*r.Named, r.Repetitions)
	return r
}

// atMost fails the test where the share that fails is surely above a bound, atLeast where
// it is surely below: where the interval of the draws leaves it out.
func atMost(t *testing.T, what string, r Row, bound float64) {
	t.Helper()
	if r.FailedLow > bound {
		t.Errorf("%s: %.1f %% of %d fail, want at most %.1f %%", what, 100*r.Failed, r.Checks, 100*bound)
	}
}

func atLeast(t *testing.T, what string, r Row, bound float64) {
	t.Helper()
	if r.FailedHigh < bound {
		t.Errorf("%s: %.1f %% of %d fail, want at least %.1f %%", what, 100*r.Failed, r.Checks, 100*bound)
	}
}

// The aims: one of a hundred unchanged builds fails, a worsening of 10 % is found, and an
// unchanged build takes few repetitions.
type aim struct {
	name        string
	set         string
	q           Question
	found       float64 // the least share of builds 10 % worse that fails; 0: no aim
	repetitions float64 // the most for an unchanged build; 0: no aim
}

const unchanged = 0.01

func TestAimsOnRealSeries(t *testing.T) {
	all := sets(t)
	draws := 40
	if os.Getenv("APKGATE_FULL") != "" {
		draws = 120
	}
	for _, a := range []aim{
		{"metered joules across sessions", "monsoon", Question{Design: Design{9, 3, 3}, AcrossSessions: true}, 0.90, 30},
		{"ten metered workloads across sessions", "monsoon", Question{Design: Design{9, 3, 3}, AcrossSessions: true, Metrics: 10}, 0.90, 0},
		{"quiet joules", "quiet", Question{Design: Design{9, 3, 3}}, 0.95, 8},
		{"quiet joules, single repetitions", "quiet", Question{Design: Design{18, 1, 10}}, 0.95, 0},
		{"ten quiet metrics", "quiet", Question{Design: Design{9, 3, 3}, Metrics: 10}, 0.95, 0},
		{"one repetition beside ten", "all", Question{Design: Design{18, 10, 1}}, 0, 0},
		{"benchmarks", "macro", Question{Design: Design{9, 3, 3}}, 0, 0},
	} {
		t.Run(a.name, func(t *testing.T) {
			same := rowOf(t, all[a.set], a.q, draws)
			atMost(t, "unchanged", same, unchanged)
			if a.repetitions > 0 && same.Repetitions > a.repetitions {
				t.Errorf("an unchanged build takes %.1f repetitions, want at most %v", same.Repetitions, a.repetitions)
			}
			if a.found > 0 {
				q := a.q
				q.Shift = 0.1
				atLeast(t, "10 % worse", rowOf(t, all[a.set], q, draws), a.found)
			}
		})
	}
}

// The same on simulated phones, where no measurements are at hand.
func TestAimsOnMadeSeries(t *testing.T) {
	for _, a := range []struct {
		name           string
		session, noise float64
		q              Question
		found          float64
		repetitions    float64
	}{
		{"a quiet phone", 0.01, 0.02, Question{Design: Design{9, 3, 3}, AcrossSessions: true}, 0.95, 8},
		{"sessions that lie apart", 0.08, 0.03, Question{Design: Design{9, 3, 3}, AcrossSessions: true}, 0.95, 40},
		{"ten metrics", 0.02, 0.02, Question{Design: Design{9, 3, 3}, AcrossSessions: true, Metrics: 10}, 0.95, 0},
	} {
		t.Run(a.name, func(t *testing.T) {
			draws := 40
			if os.Getenv("APKGATE_FULL") != "" {
				draws = 100
			}
			all := made(20, a.session, a.noise)
			same := rowOf(t, all, a.q, draws)
			atMost(t, "unchanged", same, unchanged)
			if a.repetitions > 0 && same.Repetitions > a.repetitions {
				t.Errorf("an unchanged build takes %.1f repetitions, want at most %v", same.Repetitions, a.repetitions)
			}
			a.q.Shift = 0.1
			atLeast(t, "10 % worse", rowOf(t, all, a.q, draws), a.found)
		})
	}
}

// Five ways in which a history misled the gate, each with the share of builds that failed
// before, of 2000 draws each: docs/evaluation/single-questions.md has the table.
func TestAHistoryDoesNotMislead(t *testing.T) {
	all := sets(t)
	draws := 100
	if testing.Short() {
		draws = 40
	}
	for _, c := range []struct {
		name     string
		set      string
		q        Question
		unharmed float64 // the most that may fail; 0: none is asked for
		found    float64 // the least that has to
	}{
		// 1: before, 51.0 % failed.
		{"noisy phones beside a quiet one hide nothing", "all", Question{Design: Design{2, 3, 3}, World: QuietBesideNoisy, Shift: 0.2}, 0, 0.98},
		// 2: before, 16.0 %.
		{"quiet phones beside a noisy one fail nothing", "all", Question{Design: Design{2, 3, 3}, World: NoisyBesideQuiet}, unchanged, 0},
		// 3: before, 22.3 %.
		{"a new phone fails nothing", "all", Question{Design: Design{9, 3, 3}, World: NewPhone}, unchanged, 0},
		// 7: before, 0 %.
		{"a bad run that was accepted hides nothing", "quiet", Question{Design: Design{5, 3, 3}, World: BadRun, Shift: 0.2}, 0, 0.98},
		// 9: before, 0 % and 21.1 %.
		{"an improvement that is lost again is seen", "quiet", Question{Design: Design{18, 3, 3}, World: LostImprovement, Shift: 0.25}, 0, 0.98},
		{"a slow fall hides nothing", "quiet", Question{Design: Design{18, 3, 3}, World: Drift, Shift: 0.1}, 0, 0.95},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rowOf(t, all[c.set], c.q, draws)
			if c.unharmed > 0 {
				atMost(t, c.name, r, c.unharmed)
			}
			if c.found > 0 {
				atLeast(t, c.name, r, c.found)
			}
		})
	}
}

// What bounds the row of ten workloads, widened, in docs/evaluation/single-questions.md: a test that knew how far
// the repetitions of each session of monsoon vary, and looked once, after 60 rounds, would find
// 10 % in so many cases, at a false alarm in a hundred, or one of ten that share it.
func TestWhatAnyTestWouldFind(t *testing.T) {
	text, err := os.ReadFile("../../docs/evaluation/single-questions.md")
	if err != nil {
		t.Fatal(err)
	}
	normal := distuv.UnitNormal
	found := map[int]float64{1: 0, 10: 0}
	all := sets(t)["monsoon"]
	for _, s := range all {
		sessions := map[string][]float64{}
		for i, v := range s.Values {
			sessions[s.Session[i]] = append(sessions[s.Session[i]], math.Log(v))
		}
		for of := range found {
			for _, values := range sessions {
				worse := math.Log(1.1) / (math.Sqrt2 * stat.SD(values) / math.Sqrt(60))
				found[of] += normal.CDF(worse-normal.Quantile(1-unchanged/float64(of))) / float64(len(sessions)*len(all))
			}
		}
	}
	want := fmt.Sprintf("would find %.0f %% of one workload and %.0f %% of ten", 100*found[1], 100*found[10])
	if words := strings.Join(strings.Fields(string(text)), " "); !strings.Contains(words, want) {
		t.Errorf("docs/evaluation/single-questions.md does not say: %s", want)
	}
}

// A user's own evaluation gives the same numbers on every machine.
func TestAnEvaluationCanBeRepeated(t *testing.T) {
	q := Question{Design: Design{5, 2, 2}, World: Plain, Shift: 0.05}
	all := made(3, 0.03, 0.03)
	first := rowOf(t, all, q, 30)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := rowOf(t, all, q, 30); again != first {
		t.Errorf("%+v, and then %+v", first, again)
	}
}
