package pullrequest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Outcome is the result of one pull request.
type Outcome struct {
	Verdict gate.Outcome
	// Minutes are those of the device, including the new run's.
	Minutes float64
	Rounds  int
}

// Check draws a history and a pull request, and judges it with the product's own code.
func (w World) Check(p gate.Policy, rng *rand.Rand) Outcome {
	ph := &phone{World: w, rng: rng}
	out, v, nights := w.first(ph, p)
	return w.settle(ph, p, v, nights, out)
}

// budget returns what is left for rounds once the new run is measured.
func (w World) budget() gate.Budget {
	const most = 60
	return gate.Budget{Rounds: most, Minutes: w.Minutes, Durations: map[string]gate.RoundDurations{"": w.Lasts}}
}

func (w World) repetitions() int {
	if n := w.Change.Repetitions; n > 0 {
		return n
	}
	return w.Repetitions
}

// measuring returns the minutes of the new run's scenarios.
func (w World) measuring() float64 {
	return float64(w.Scenarios) * (w.Lasts.SetUp + float64(w.repetitions())*w.Lasts.Repetition)
}

// first returns the verdict by the history, and by scenario the accepted runs of the same context.
func (w World) first(ph *phone, p gate.Policy) (out Outcome, v gate.Verdict, nights [][]run.Run) {
	p.Budget = w.budget()
	n := w.repetitions()
	accepted := make([][]run.Summary, w.Scenarios)
	ph.use(0, 0)
	if w.Change.Unseen {
		for model := range phones { // the pull request is measured on the last
			ph.use(model, phonesApart*ph.rng.NormFloat64())
			w.accept(ph, p, accepted)
		}
		nights = make([][]run.Run, w.Scenarios)
		ph.update()
	} else {
		nights = w.accept(ph, p, accepted)
	}
	var subjects []history.Subject
	s := ph.session()
	for i := range w.Scenarios {
		r := ph.record(s, i, "new", w.Nights, n, true)
		subjects = append(subjects, history.Subject{Run: r, References: accepted[i]})
	}
	out.Minutes = w.measuring()
	return out, history.Check(p, metric.Default(), subjects), nights
}

// accept adds the nights of a phone to the scenarios' accepted runs, which it returns in full.
func (w World) accept(ph *phone, p gate.Policy, accepted [][]run.Summary) [][]run.Run {
	nights := make([][]run.Run, w.Scenarios)
	for night := range w.Nights {
		s := ph.session()
		for i := range w.Scenarios {
			r := ph.record(s, i, fmt.Sprint(ph.context["model"], " night ", night), night, w.repetitions(), false)
			accepted[i] = append(accepted[i], run.Summarize(r, p.Centre, metric.Default()))
			nights[i] = append(nights[i], r)
		}
	}
	return nights
}

// settle measures rounds, the most suspect scenario first, for as long as they can settle it.
func (w World) settle(ph *phone, p gate.Policy, v gate.Verdict, nights [][]run.Run, out Outcome) Outcome {
	questions := rounds.Questions(v)
	plan, err := rounds.PlanWithin(p, 0, 0, w.budget().Rounds, int(w.Minutes/w.Lasts.Round(1)), len(questions))
	if len(questions) == 0 || err != nil {
		out.Verdict = v.Verdict
		return out
	}
	trial := rounds.New(p, metric.Default(), v, plan)
	s, left := ph.session(), w.Minutes
	for _, at := range trial.Order() {
		trial.LearnAutocorrelation(at, nights[at])
		turn := trial.Turn(at, w.Lasts)
		round := w.Lasts.Round(turn)
		base, head := ph.record(s, at, "base", w.Nights, 0, false), ph.record(s, at, "head", w.Nights, 0, true)
		base.Turn, head.Turn = turn, turn
		measured := 0
		for {
			until, more := trial.Within(at, left, round)
			if !more {
				break
			}
			for ; measured < until && left >= round; measured++ {
				ph.round(s, at, turn, &base, &head)
				left -= round
				out.Rounds++
				out.Minutes += round
			}
			trial.Add(at, base, head)
			if measured < until {
				break
			}
		}
		trial.End(at, "")
	}
	out.Verdict = trial.Verdict().Verdict
	return out
}

// round adds a round to both builds' runs: all repetitions of one build's turn, then those of the
// other's. The order is drawn.
func (ph *phone) round(s session, at, turn int, base, head *run.Run) {
	builds := []*run.Run{base, head}
	if ph.rng.IntN(2) > 0 {
		slices.Reverse(builds)
	}
	for _, build := range builds {
		for range turn {
			build.Iterations = append(build.Iterations, ph.repetition(s, at, build == head))
		}
	}
}
