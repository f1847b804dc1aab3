package evaluation

import (
	"math/rand/v2"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// judge judges a draw by the rule.
func (s Setup) judge(sc scene, q Question, rng *rand.Rand) (outcome, error) {
	switch q.Rule {
	case Apkgate, "":
		return s.apkgate(s.Policy, sc, q.Shift, rng, asIs)
	case Rounds:
		return s.apkgate(s.Policy, sc, q.Shift, rng, opened)
	case Dune:
		p, _ := gate.PolicyOf(gate.PresetDune)
		s.Rounds = 0
		return s.apkgate(p, sc, q.Shift, rng, asIs)
	}
	return peer(q.Rule, sc, q.Shift), nil
}

// apkgate is the product's whole procedure: the check against the history, and rounds for what it
// leaves open.
func (s Setup) apkgate(p gate.Policy, sc scene, shift float64, rng *rand.Rand, screened func(gate.Verdict) gate.Verdict) (outcome, error) {
	p.Metrics = sc.metrics()
	var accepted []run.Summary
	var subjects []history.Subject
	var checked []phone
	catalogue := metric.Default()
	for _, ph := range sc.phones {
		for _, r := range sc.accepted(ph) {
			joined, err := run.Catalogue(catalogue, r)
			if err != nil {
				return outcome{}, err
			}
			catalogue = joined
			accepted = append(accepted, run.Summarize(r, p.Centre, catalogue))
		}
	}
	out := outcome{}
	for _, ph := range sc.phones {
		if ph.checked {
			r := sc.fresh(ph, shift)
			checked, subjects = append(checked, ph), append(subjects, history.Subject{Run: r})
			out.repetitions += len(r.Iterations)
		}
	}
	for i := range subjects {
		subjects[i].References = accepted
	}
	v := screened(history.Check(p, catalogue, subjects))
	v, err := s.settle(p, catalogue, v, sc, checked, shift, rng, &out)
	if err != nil {
		return outcome{}, err
	}
	out.failed, out.inconclusive = v.Verdict == gate.Regression, v.Verdict == gate.Inconclusive
	out.named = shift > 0 && sc.named(v, checked)
	return out, nil
}

func asIs(v gate.Verdict) gate.Verdict { return v }

// opened returns the verdict of a history that cleared nothing and decided nothing.
func opened(v gate.Verdict) gate.Verdict {
	v.Verdict = gate.Inconclusive
	for i := range v.Runs {
		v.Runs[i].Verdict, v.Runs[i].Deviations = gate.Inconclusive, nil
		for k := range v.Runs[i].Comparisons {
			v.Runs[i].Comparisons[k].Screen, v.Runs[i].Comparisons[k].Direction = gate.Open, gate.None
		}
	}
	return v
}

// settle measures what the verdict leaves open in rounds, as far as their plan goes.
func (s Setup) settle(p gate.Policy, catalogue *metric.Catalogue, v gate.Verdict, sc scene, checked []phone, shift float64, rng *rand.Rand, out *outcome) (gate.Verdict, error) {
	questions := rounds.Questions(v)
	if s.Rounds == 0 || len(questions) == 0 {
		return v, nil
	}
	plan, err := rounds.PlanOf(p, s.Rounds, len(questions))
	if err != nil {
		return v, err
	}
	trial := rounds.New(p, catalogue, v, plan)
	for place, ph := range checked {
		if !slices.ContainsFunc(questions, func(q rounds.Question) bool { return q.Place == place }) {
			continue
		}
		session, ok := sc.sessionOf(ph, shift, rng, s.Widen)
		if !ok {
			out.unmeasured = true
			continue
		}
		measured := 0
		for {
			n, more := trial.Next(place)
			if !more || n <= measured {
				break
			}
			base, head := session.rounds(n)
			trial.Add(place, base, head)
			measured = n
		}
		const builds = 2
		out.repetitions += builds * measured
	}
	return trial.Verdict(), nil
}

// metrics returns the names of everything that a draw measures.
func (s scene) metrics() []string {
	var out []string
	for _, p := range s.phones {
		for k := range p.cells {
			if name := s.cell(p, k).Metric; !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// named reports whether the verdict calls the worsened number a regression.
func (s scene) named(v gate.Verdict, checked []phone) bool {
	for i, p := range checked {
		if !p.shifted {
			continue
		}
		at := s.cell(p, 0)
		if slices.ContainsFunc(v.Runs[i].Deviations, func(d gate.Comparison) bool {
			return d.Direction == gate.ToRegression && d.Metric == at.Metric && d.Event == at.Event
		}) {
			return true
		}
	}
	return false
}
