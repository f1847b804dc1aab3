package history

import (
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/metric"
)

// judged returns a judgement of time per frame with that tail, on the worse side or the better,
// based on n sessions of its own context.
func judged(context, event string, tail float64, n int, worse bool) *judgement {
	m, _ := metric.Default().Lookup("frames.duration_ms")
	sides := familywise.Tails{Worse: tail, Better: 1}
	if !worse {
		sides = familywise.Tails{Worse: 1, Better: tail}
	}
	j := &judgement{metric: m, context: context, tails: sides}
	j.Comparison = gate.Comparison{Event: event, Metric: m.Name, P: 1, Missed: new(0.5)}
	j.evidence = past.Evidence{N: n, Own: n}
	return j
}

// Two phones with tails of 0.03 and 0.04 have the normal scores 1.8808 and 1.7507. Their sum over
// √2 is 2.5678, which 0.005117 exceed. Where both are compared with the same five sessions their
// errors are correlated by 1/6, the sum's variance is 7/3, and 0.008718 exceed 2.3774. In one
// session they are one score, 1.8157, which 0.034711 exceed. Half of the false alarms are theirs:
// twice that.
func TestTogetherByHand(t *testing.T) {
	const share = 0.5
	at := func(j *judgement, session string) *judgement { j.session = session; return j }
	for name, c := range map[string]struct {
		group []*judgement
		want  []float64 // P of each
		as    []int     // Together
	}{
		"two phones":                 {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, true)}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"two sessions of one phone":  {[]*judgement{at(judged("a", "", 0.03, 5, true), "s"), at(judged("a", "", 0.04, 5, true), "t")}, []float64{0.017437, 0.017437}, []int{2, 2}},
		"unlike many sessions":       {[]*judgement{at(judged("a", "", 0.03, 5, true), "s"), at(judged("a", "", 0.04, 9, true), "t")}, []float64{0.017437, 0.017437}, []int{2, 2}},
		"one session of one phone":   {[]*judgement{at(judged("a", "", 0.03, 5, true), "s"), at(judged("a", "", 0.04, 5, true), "s")}, []float64{1, 1}, []int{0, 0}},
		"no session of one phone":    {[]*judgement{judged("a", "", 0.03, 5, true), judged("a", "", 0.04, 5, true)}, []float64{1, 1}, []int{0, 0}},
		"two phones in a session":    {[]*judgement{at(judged("a", "", 0.03, 5, true), "s"), at(judged("b", "", 0.04, 5, true), "s")}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"two that are better":        {[]*judgement{judged("a", "", 0.03, 5, false), judged("b", "", 0.04, 5, false)}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"one worse, one better":      {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, false)}, []float64{1, 1}, []int{0, 0}},
		"one that is like before":    {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.06, 5, true)}, []float64{1, 1}, []int{0, 0}},
		"one of two events":          {[]*judgement{judged("a", "E1", 0.03, 5, true), judged("b", "E2", 0.04, 5, true)}, []float64{1, 1}, []int{0, 0}},
		"one with too few sessions":  {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 4, true)}, []float64{1, 1}, []int{0, 0}},
		"joules of two sources":      {[]*judgement{at(judged("a", "", 0.03, 5, true), "s"), func() *judgement { j := at(judged("a", "", 0.04, 5, true), "t"); j.within = "rails"; return j }()}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"alone it is surer already":  {[]*judgement{func() *judgement { j := judged("a", "", 0.03, 5, true); j.P = 0.01; return j }(), judged("b", "", 0.04, 5, true)}, []float64{0.01, 0.010233}, []int{0, 2}},
		"two phones, and one is not": {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, true), judged("c", "", 0.5, 5, true)}, []float64{0.036, 0.036, 1}, []int{3, 3, 0}},
		// Holm over two events: twice the smaller, and the larger as it is.
		"two events": {[]*judgement{judged("a", "E1", 0.03, 5, true), judged("b", "E1", 0.04, 5, true), at(judged("a", "E2", 0.03, 5, true), "s"), at(judged("a", "E2", 0.04, 5, true), "t")},
			[]float64{0.020467, 0.020467, 0.020467, 0.020467}, []int{2, 2, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			together(gatetest.Policy(t, gate.PresetDefault), c.group, share)
			for i, j := range c.group {
				gatetest.About(t, "P", j.P, c.want[i])
				if j.Together != c.as[i] {
					t.Errorf("it is told of %d runs together, want %d", j.Together, c.as[i])
				}
			}
		})
	}
}

// The deciding numbers of the whole run have half of the false alarms, events and shown numbers the
// other half; of several runs, each alone has half of that. Holm multiplies the smallest by the
// number of tests.
func TestCorrectByHand(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	whole := func() []*judgement {
		return []*judgement{judged("a", "", 0.01, 5, true), judged("b", "", 0.2, 5, true)}
	}
	twoEvents := func() []*judgement {
		return []*judgement{judged("a", "E1", 0.001, 5, true), judged("a", "E2", 0.03, 5, true), judged("a", "E3", 0.002, 5, false)}
	}
	shown := func(js ...*judgement) []*judgement {
		for _, j := range js {
			j.Shown = true
		}
		return js
	}
	unknown := judged("a", "E4", 0.0001, 5, true)
	unknown.Missed = nil
	for name, c := range map[string]struct {
		js   []*judgement
		runs int
		want []float64 // P
	}{
		"whole runs alone":   {whole(), 1, []float64{0.02, 0.2}},
		"events alone":       {twoEvents(), 1, []float64{0.003, 0.06, 0.006}},
		"both":               {append(whole(), shown(twoEvents()...)...), 1, []float64{0.04, 0.4, 0.006, 0.12, 0.012}},
		"both, several runs": {append(whole()[:1], shown(twoEvents()[:2]...)...), 2, []float64{0.04, 0.008, 0.12}},
		"events that decide": {append(whole()[:1], twoEvents()...), 1, []float64{0.02, 0.006, 0.12, 0.012}},
		"one is only shown":  {append(whole()[:1], shown(whole()[0])...), 1, []float64{0.02, 0.02}},
		"without a history":  {append(whole(), unknown), 1, []float64{0.02, 0.2, 1}},
		"half of them":       {[]*judgement{judged("a", "", 0.6, 5, true), judged("a", "E1", 0.6, 5, true)}, 1, []float64{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			correct(p, c.js, c.runs)
			for i, j := range c.js {
				gatetest.About(t, "P", j.P, c.want[i])
			}
		})
	}
	// For several runs, what they show together is tested too.
	js := []*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, true)}
	if correct(p, js, 2); js[0].Together != 2 {
		t.Errorf("nothing was seen of what both show: %+v", js[0].Comparison)
	}
	js = []*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, true)}
	if correct(p, js, 1); js[0].Together != 0 {
		t.Errorf("of one run: %+v", js[0].Comparison)
	}
}
