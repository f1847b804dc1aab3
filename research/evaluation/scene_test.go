package evaluation

import (
	"fmt"
	"math"
	"testing"

	"github.com/apkgate/apkgate/research/evaluation/series"
)

// flat are series that hardly vary, each with a spread of its own.
func flat(n int) []series.Series {
	var out []series.Series
	for k := range n {
		s := series.Series{Name: fmt.Sprint("series ", k+1), Device: "phone"}
		if k%2 == 1 {
			s.Metric = "energy.total_j"
		}
		for i := range 20 {
			s.Values = append(s.Values, 100*float64(k+1)*(1+0.0001*float64(k+1)*float64(i%3-1)))
		}
		out = append(out, s)
	}
	return out
}

// levels returns the runs of a history as shares of the new run.
func levels(c source) []float64 {
	var out []float64
	for _, values := range c.history {
		out = append(out, math.Round(100*values[0]/c.fresh[0])/100)
	}
	return out
}

func TestWorldsAreWhatTheyAreNamedFor(t *testing.T) {
	const runs = 6
	for world, want := range map[World][]float64{
		Plain:           {1, 1, 1, 1, 1, 1},
		Drift:           {0.95, 0.96, 0.97, 0.98, 0.99, 1},
		LostImprovement: {1.25, 1.25, 1.25, 1.25, 1, 1},
	} {
		q := Question{Design: Design{runs, 2, 2}, World: world}
		if got := levels(sceneOf(t, q, flat(3), 0).phones[0].cells[0]); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: levels %v, want %v", world, got, want)
		}
	}
	for world, want := range map[World]int{BadRun: 1, TwoBadRuns: 2} {
		bad := 0
		for _, level := range levels(sceneOf(t, Question{Design: Design{runs, 2, 2}, World: world}, flat(3), 0).phones[0].cells[0]) {
			if level == badLevel {
				bad++
			} else if level != 1 {
				t.Errorf("%s has a run at %v", world, level)
			}
		}
		if bad != want {
			t.Errorf("%s: %d runs at three times the level, want %d", world, bad, want)
		}
	}
}

func TestOneRepetitionGivesNoRounds(t *testing.T) {
	q := Question{Design: Design{2, 1, 1}, World: Plain, AcrossSessions: true}
	s := sceneOf(t, q, told(1, 4, 1), 0)
	if _, ok := s.sessionOf(s.phones[0], 0, q.chance(1, 0), false); ok {
		t.Error("there are rounds of a session of one repetition")
	}
}

func TestPhonesOfAWorld(t *testing.T) {
	for _, c := range []struct {
		world                 World
		phones, checked, runs int
		quietest              bool // whether the own phone is of the quietest third
	}{
		{Plain, 1, 1, 4, false}, {NewPhone, 2, 1, 0, false}, {FiveDevices, 5, 5, 4, false},
		{QuietBesideNoisy, 4, 1, 4, true}, {NoisyBesideQuiet, 4, 1, 4, false},
	} {
		for draw := range 20 {
			s := sceneOf(t, Question{Design: Design{4, 2, 2}, World: c.world}, flat(9), draw)
			checked, shifted, models := 0, 0, map[string]bool{}
			for _, p := range s.phones {
				if at := s.cell(p, 0); at != s.cell(s.phones[0], 0) {
					t.Errorf("%s: phones measure %v and %v", c.world, at, s.cell(s.phones[0], 0))
				}
				checked, shifted = checked+count(p.checked), shifted+count(p.shifted)
				models[p.model] = true
				if of := meanSize(p.cells[0].of.Values) / meanSize(s.phones[0].cells[0].of.Values); of < 0.2 || of > 5 {
					t.Errorf("%s: a phone at %.2f times the level of the own one", c.world, of)
				}
			}
			own := s.phones[0].cells[0]
			if len(s.phones) != c.phones || len(models) != c.phones || checked != c.checked || shifted != 1 || len(own.history) != c.runs {
				t.Errorf("%s: %d phones of which %d are checked and %d worse, %d own runs; want %d, %d, 1, %d",
					c.world, len(s.phones), checked, shifted, len(own.history), c.phones, c.checked, c.runs)
			}
			quiet := own.of.CV() < 0.0003
			if (c.world == QuietBesideNoisy || c.world == NoisyBesideQuiet) && quiet != c.quietest {
				t.Errorf("%s: the own phone varies by %v", c.world, own.of.CV())
			}
			for _, p := range s.phones[1:] {
				if of := p.cells[0].of.CV() < 0.0003; (c.world == QuietBesideNoisy || c.world == NoisyBesideQuiet) && of == c.quietest {
					t.Errorf("%s: another phone varies by %v", c.world, p.cells[0].of.CV())
				}
			}
		}
	}
}

// A draw consists of records that the product reads: valid, each of a session of its own, only the
// new run's first metric worse, and paired rounds in one session.
func TestADrawIsMadeOfRecords(t *testing.T) {
	q := Question{Design: Design{3, 2, 2}, Metrics: 2}
	for _, world := range []World{Plain, Events} {
		q.World = world
		s := sceneOf(t, q, flat(3), 0)
		p := s.phones[0]
		runs := append(s.accepted(p), s.fresh(p, 0.5))
		sessions := map[string]bool{}
		for i, r := range runs {
			if err := r.Validate(); err != nil {
				t.Fatalf("%s, run %d: %v", world, i, err)
			}
			if len(r.Iterations) != 2 || i > 0 && !r.Started.After(runs[i-1].Started) {
				t.Errorf("%s, run %d: %d repetitions at %s", world, i, len(r.Iterations), r.Started)
			}
			sessions[r.Session] = true
		}
		if len(sessions) != len(runs) {
			t.Errorf("%s: %d sessions of %d runs", world, len(sessions), len(runs))
		}
		in, ok := s.sessionOf(p, 0.5, q.chance(1, 0), false)
		if !ok {
			t.Fatal("no rounds")
		}
		few, _ := in.rounds(3)
		base, head := in.rounds(5)
		if base.Session != head.Session || len(base.Iterations) != 5 || len(head.Iterations) != 5 {
			t.Errorf("%s: rounds of sessions %q and %q, %d and %d", world, base.Session, head.Session, len(base.Iterations), len(head.Iterations))
		}
		for k, want := range []float64{1.5, 1} {
			at := s.cell(p, k)
			value := func(i int, it func(int) map[string]float64) float64 { return it(i)[at.Metric] }
			of := func(r int) func(int) map[string]float64 {
				return func(i int) map[string]float64 {
					it := base.Iterations[i]
					if r == 1 {
						it = head.Iterations[i]
					}
					if at.Event != "" {
						return it.Events[k].Metrics
					}
					return it.Metrics
				}
			}
			if got := value(4, of(1)) / value(4, of(0)); math.Abs(got-want) > 0.01 {
				t.Errorf("%s: number %d of the head is %.3f of the base's, want %v", world, k+1, got, want)
			}
		}
		if fmt.Sprint(few.Iterations) != fmt.Sprint(base.Iterations[:3]) {
			t.Errorf("%s: the first rounds are others when more are measured", world)
		}
	}
}
