package show

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/settings"
)

// fewestRepeated is the minimum number of repetitions of a run from which rounds are drawn: two
// have hardly any differences.
const fewestRepeated = 3

// inTurns returns the verdict after what is undecided is measured alternately with an identical base
// build: each round draws a repetition of the session for either build. Noise that lasts for some
// repetitions, and wanders in time, is lost by that; differences between sessions don't matter
// within one. Runs of few repetitions are left as they are.
func inTurns(v gate.Verdict, runs []run.Run, set settings.Settings) gate.Verdict {
	questions := rounds.Questions(v)
	most := set.Config.Rounds.Max
	if len(questions) == 0 || most == 0 || set.Policy.Preset == gate.PresetDune {
		return v
	}
	plan, err := rounds.PlanOf(set.Policy, most, len(questions))
	if err != nil { // more questions than so many rounds can answer: they stay undecided
		return v
	}
	trial := rounds.New(set.Policy, set.Catalogue, v, plan)
	asked := map[int]bool{}
	for _, q := range questions {
		if asked[q.Place] || len(runs[q.Place].Iterations) < fewestRepeated {
			continue
		}
		asked[q.Place] = true
		r := runs[q.Place]
		h := fnv.New64a()
		_, _ = h.Write([]byte(r.ID))
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		base, head := r, r
		base.Iterations, head.Iterations = nil, nil
		cells := trial.Cells(r)
		var bases, heads []run.Cells
		for until, more := trial.Next(q.Place); more; until, more = trial.Next(q.Place) {
			for len(base.Iterations) < until {
				b, h := rng.IntN(len(r.Iterations)), rng.IntN(len(r.Iterations))
				base.Iterations, head.Iterations = append(base.Iterations, r.Iterations[b]), append(head.Iterations, r.Iterations[h])
				bases, heads = append(bases, cells[b]), append(heads, cells[h])
			}
			trial.AddCells(q.Place, base, head, bases, heads)
		}
	}
	out := trial.Verdict()
	out.Verdict = gate.Pass
	for i := range out.Runs {
		if !asked[i] {
			out.Runs[i] = v.Runs[i]
		}
		out.Verdict = gate.Graver(out.Verdict, out.Runs[i].Verdict)
	}
	return out
}
