package history

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// judged is a judgement of time per frame with that tail, on the worse side or on
// the better, which rests on n of its own context's runs.
func judged(context, event string, tail, n float64, worse bool) *judgement {
	m, _ := metric.Default().Lookup("frames.duration_ms")
	j := &judgement{metric: m, context: context, tail: tail, x: 1, tests: 1}
	j.Comparison = gate.Comparison{Event: event, Metric: m.Name, P: 1}
	j.evidence = past.Evidence{Kind: past.OwnContext, Moments: stat.Moments{Mean: 2, N: n, DF: n - 1}}
	if worse {
		j.evidence.Moments.Mean = 0
	}
	return j
}

// Two phones with tails of 0.03 and 0.04 have the normal scores 1.8808 and 1.7507.
// Their sum over √2 is 2.5678, which 0.005117 exceed. Where both are compared with
// the same five runs their errors are correlated by 1/6, the sum's variance is 7/3,
// and 0.008718 exceed 2.3774. Half of the false alarms are theirs: twice that.
func TestReplicateByHand(t *testing.T) {
	const share = 0.5
	other := func(j *judgement, change func(*judgement)) *judgement { change(j); return j }
	ofKind := func(k past.Kind) func(*judgement) { return func(j *judgement) { j.evidence.Kind = k } }
	for name, c := range map[string]struct {
		group []*judgement
		want  []float64 // P of each
		as    []int     // Together
	}{
		"two phones":                {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, true)}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"one phone twice":           {[]*judgement{judged("a", "", 0.03, 5, true), judged("a", "", 0.04, 5, true)}, []float64{0.017437, 0.017437}, []int{2, 2}},
		"both by every context":     {[]*judgement{other(judged("a", "", 0.03, 5, true), ofKind(past.EveryContext)), other(judged("b", "", 0.04, 9, true), ofKind(past.EveryContext))}, []float64{0.017437, 0.017437}, []int{2, 2}},
		"one by every context":      {[]*judgement{other(judged("a", "", 0.03, 5, true), ofKind(past.EveryContext)), judged("b", "", 0.04, 5, true)}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"joules of two sources":     {[]*judgement{judged("a", "", 0.03, 5, true), other(judged("a", "", 0.04, 5, true), func(j *judgement) { j.within = "rails" })}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"two that are better":       {[]*judgement{judged("a", "", 0.03, 5, false), judged("b", "", 0.04, 5, false)}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"one worse, one better":     {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, false)}, []float64{0.926698, 1}, []int{2, 0}},
		"one that is like before":   {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.06, 5, true)}, []float64{0.015127, 1}, []int{2, 0}},
		"one of two events":         {[]*judgement{judged("a", "E1", 0.03, 5, true), judged("b", "E2", 0.04, 5, true)}, []float64{1, 1}, []int{0, 0}},
		"one without a history":     {[]*judgement{judged("a", "", 0.03, 5, true), other(judged("b", "", 0.04, 5, true), ofKind(past.Nothing))}, []float64{1, 1}, []int{0, 0}},
		"one without a scale":       {[]*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 1, true)}, []float64{1, 1}, []int{0, 0}},
		"one that paid for two":     {[]*judgement{judged("a", "", 0.03, 5, true), other(judged("b", "", 0.02, 5, true), func(j *judgement) { j.doubled = true })}, []float64{0.010233, 0.010233}, []int{2, 2}},
		"alone it is surer already": {[]*judgement{other(judged("a", "", 0.03, 5, true), func(j *judgement) { j.P = 0.01 }), judged("b", "", 0.04, 5, true)}, []float64{0.01, 0.010233}, []int{0, 2}},
		// Holm over two events: twice the smaller, and the larger as it is.
		"two events": {[]*judgement{judged("a", "E1", 0.03, 5, true), judged("b", "E1", 0.04, 5, true), judged("a", "E2", 0.03, 5, true), judged("a", "E2", 0.04, 5, true)},
			[]float64{0.020467, 0.020467, 0.020467, 0.020467}, []int{2, 2, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			replicate(c.group, share)
			for i, j := range c.group {
				gatetest.About(t, "P", j.P, c.want[i])
				if j.Together != c.as[i] {
					t.Errorf("it is told of %d runs together, want %d", j.Together, c.as[i])
				}
			}
		})
	}
}

// Whole runs have half of the false alarms and events half; of several runs, each
// alone has half of that. Holm multiplies the smallest by the number of questions.
func TestCorrectByHand(t *testing.T) {
	whole := func() []*judgement {
		return []*judgement{judged("a", "", 0.01, 5, true), judged("b", "", 0.2, 5, true)}
	}
	twoEvents := func() []*judgement {
		return []*judgement{judged("a", "E1", 0.001, 5, true), judged("a", "E2", 0.03, 5, true), judged("a", "E3", 0.002, 5, false)}
	}
	unknown := judged("a", "E4", 0.0001, 5, true)
	unknown.evidence.Kind = past.Nothing
	twice := judged("a", "", 0.01, 5, true)
	twice.doubled = true
	for name, c := range map[string]struct {
		js    []*judgement
		runs  int
		want  []float64 // P
		tests []float64
	}{
		"whole runs alone":   {whole(), 1, []float64{0.02, 0.2}, []float64{2, 2}},
		"events alone":       {twoEvents(), 1, []float64{0.003, 0.06, 0.006}, []float64{3, 3, 3}},
		"both":               {append(whole(), twoEvents()...), 1, []float64{0.04, 0.4, 0.006, 0.12, 0.012}, []float64{4, 4, 6, 6, 6}},
		"both, several runs": {append(whole()[:1], twoEvents()[:2]...), 2, []float64{0.04, 0.008, 0.12}, []float64{4, 8, 8}},
		"without a history":  {append(whole(), unknown), 1, []float64{0.02, 0.2, 1}, []float64{2, 2, 1}},
		"two tests tried":    {[]*judgement{twice, judged("b", "", 0.2, 5, true)}, 1, []float64{0.04, 0.2}, []float64{4, 2}},
		"half of them":       {[]*judgement{judged("a", "", 0.6, 5, true), judged("a", "E1", 0.6, 5, true)}, 1, []float64{1, 1}, []float64{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			correct(c.js, c.runs)
			for i, j := range c.js {
				gatetest.About(t, "P", j.P, c.want[i])
				gatetest.About(t, "what its tail is multiplied by", j.tests, c.tests[i])
			}
		})
	}
	// Of several runs, what they show together is looked at too.
	js := []*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, true)}
	if correct(js, 2); js[0].Together != 2 {
		t.Errorf("nothing was seen of what both show: %+v", js[0].Comparison)
	}
	js = []*judgement{judged("a", "", 0.03, 5, true), judged("b", "", 0.04, 5, true)}
	if correct(js, 1); js[0].Together != 0 {
		t.Errorf("of one run: %+v", js[0].Comparison)
	}
}

// Eight comparisons of five phones, with one run each before, moved by 0 to 7 on the
// judged scale: over √2, as both have an error, the third quartile by type 6 of
// 0, 0.7071 … 4.9497 is 4.0659; over 1.1503 the scale is 3.5346. With four degrees of
// freedom the move of 7 has t = 7/(3.5346·√2) = 1.4004, which 0.11702 exceed.
func TestBorrowByHand(t *testing.T) {
	eight := func() (js []*judgement) {
		for i := range 8 {
			j := judged("", string(rune('a'+i)), 1, 1, true)
			j.own, j.x, j.policy.OutlierFactor = []float64{10}, 10+float64(i), 1.5
			j.evidence = past.Evidence{Kind: past.EveryContext, Own: 1, N: 3, Moments: stat.Moments{Mean: 10, SD: 100, N: 3, DF: 2}}
			js = append(js, j)
		}
		return js
	}
	js := eight()
	borrow(js, 5)
	last := js[7]
	if last.evidence.Kind != past.OwnBorrowed || !last.doubled {
		t.Fatalf("it rests on kind %d, doubled %t", last.evidence.Kind, last.doubled)
	}
	gatetest.About(t, "scale", last.evidence.Moments.SD, 3.53463)
	gatetest.About(t, "tail", last.tail, 0.11702)
	gatetest.About(t, "upper fence", last.evidence.Fences.Upper, 10+0.6745*3.53463*4)
	gatetest.About(t, "lower fence", last.evidence.Fences.Lower, 10-0.6745*3.53463*4)
	gatetest.About(t, "third quartile", last.evidence.Fences.Q3, 10+0.6745*3.53463)
	gatetest.About(t, "degrees of freedom", last.evidence.Moments.DF, 4)
	js = eight()
	borrow(js, 20)
	gatetest.About(t, "degrees of freedom of many runs", js[7].evidence.Moments.DF, past.TailDF)

	kept := func(js []*judgement, runs int) past.Kind { borrow(js, runs); return js[len(js)-1].evidence.Kind }
	few, other, unseen := eight()[1:], eight(), eight()
	other[3].Metric, unseen[3].evidence.Own = "cpu.time_ms", 0
	within := eight()
	within[3].within = "rails"
	surer := eight()
	surer[7].tail = 0.001
	for what, k := range map[string]past.Kind{
		"of seven comparisons": kept(few, 5), "of a single run": kept(eight(), 1), "one is of another metric": kept(other, 5),
		"one is of a phone never seen": kept(unseen, 5), "one is of another source": kept(within, 5), "it is surer by all": kept(surer, 5),
	} {
		if k != past.EveryContext {
			t.Errorf("%s: it rests on kind %d, want what all contexts show", what, k)
		}
	}
	if !surer[7].doubled {
		t.Error("two tests were tried, and one paid for")
	}
}

// Five runs have 500 ± 15.811 frames: with t = 2.7764 at 2.5 % and four degrees of
// freedom, one more lies within 2.7764·15.811·√1.2 = 48.089 of them.
func TestTheIntervalByHand(t *testing.T) {
	history := gatetest.On("a", "frames.count", 500, 520, 480, 510, 490)
	c := checkOne(gatetest.Judging(t, gate.PresetDefault, "frames.count"), gatetest.Nearly("a", "frames.count", 450), history...).Comparisons[0]
	gatetest.About(t, "low", gatetest.End(c.Low), (450-48.089)/500-1)
	gatetest.About(t, "high", gatetest.End(c.High), (450+48.089)/500-1)
	gatetest.About(t, "change", c.Change, -0.1)
	gatetest.About(t, "p", c.P, 0.022307)
	// Of times it is worked out on their logarithm: squares of 0.025 in all, over four.
	var times []float64
	for _, x := range []float64{0, 0.1, -0.1, 0.05, -0.05} {
		times = append(times, 8*math.Exp(x))
	}
	c = checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "frames.duration_ms", 8), gatetest.On("a", "frames.duration_ms", times...)...).Comparisons[0]
	reach := 2.776445 * math.Sqrt(0.025/4) * math.Sqrt(1.2)
	gatetest.About(t, "low of times", gatetest.End(c.Low), math.Exp(-reach)-1)
	gatetest.About(t, "high of times", gatetest.End(c.High), math.Exp(reach)-1)
	// Less than nothing is left of nothing.
	c = checkOne(gatetest.Judging(t, gate.PresetDefault, "frames.count"), gatetest.Nearly("a", "frames.count", 2), gatetest.On("a", "frames.count", 500, 800, 300, 510, 250)...).Comparisons[0]
	gatetest.About(t, "low of next to no frames", gatetest.End(c.Low), -1)
}
