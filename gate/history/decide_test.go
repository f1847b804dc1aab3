package history

import (
	"math"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// Which way a comparison goes, in both directions of a metric: by the fences, by p,
// by the least change, by the metric's resolution and by what it rests on.
func TestDirections(t *testing.T) {
	own := func(j *judgement) { j.evidence.Own = 2 }
	of := func(k past.Kind, more func(*judgement)) func(*judgement) {
		return func(j *judgement) {
			j.evidence.Kind = k
			if more != nil {
				more(j)
			}
		}
	}
	for name, c := range map[string]struct {
		change, p float64
		set       func(*judgement)
		want      gate.Direction
	}{
		"sure and large":                     {0.2, 0.01, nil, gate.ToRegression},
		"sure and below the least change":    {0.04, 0.001, nil, gate.None},
		"sure and within the fences":         {0.2, 0.01, func(j *judgement) { j.evidence.Fences = stat.Fences{Lower: -1e9, Upper: 1e9} }, gate.None},
		"nearly sure":                        {0.2, 0.19, nil, gate.Suspect},
		"not sure":                           {0.2, 0.21, nil, gate.None},
		"better":                             {-0.2, 0.01, nil, gate.ToImprovement},
		"better, nearly sure":                {-0.2, 0.1, nil, gate.None},
		"better by less than it resolves":    {-0.2, 0.01, func(j *judgement) { j.metric.Resolution = 30 }, gate.None},
		"worse by less than it resolves":     {0.2, 0.01, func(j *judgement) { j.metric.Resolution = 30 }, gate.None},
		"a phone never seen, 20 %":           {0.2, 0.01, of(past.EveryContext, func(j *judgement) { j.evidence.Unseen = true }), gate.None},
		"a phone never seen, 30 %":           {0.3, 0.01, of(past.EveryContext, func(j *judgement) { j.evidence.Unseen = true }), gate.ToRegression},
		"a phone never seen, 30 %, not sure": {0.3, 0.5, of(past.EveryContext, func(j *judgement) { j.evidence.Unseen = true }), gate.None},
		"by too few runs of all":             {0.2, 0.01, of(past.EveryContext, func(j *judgement) { j.evidence.N = 4 }), gate.Suspect},
		"few of its own, 12 %":               {0.12, 0.5, of(past.EveryContext, own), gate.Suspect},
		"few of its own, 9 %":                {0.09, 0.5, of(past.EveryContext, own), gate.None},
		"few of its own, borrowed":           {0.12, 0.5, of(past.OwnBorrowed, own), gate.Suspect},
		"few of its own, its kin tell":       {0.12, 0.5, of(past.OwnCentred, own), gate.None},
		"few of its own, better":             {-0.3, 0.5, of(past.EveryContext, own), gate.None},
		"without a history":                  {0.2, 0.01, of(past.Nothing, nil), gate.None},
	} {
		for _, better := range []metric.Direction{metric.LowerIsBetter, metric.HigherIsBetter} {
			t.Run(name+", "+better.String(), func(t *testing.T) {
				sign := 1.0
				if better == metric.HigherIsBetter {
					sign = -1
				}
				j := &judgement{metric: metric.Metric{Name: "m", Direction: better, Resolution: 0.1}, tests: 1, tail: c.p, own: []float64{100, 100}}
				j.policy = gate.CellPolicy{OutlierFactor: 1.5, MinChange: 0.05}
				j.evidence = past.Evidence{Kind: past.OwnContext, N: 10, Fences: stat.Fences{Q1: 99, Q3: 101, Lower: 96, Upper: 104}, Moments: stat.Moments{Mean: 100, SD: 2, N: 10, DF: 9}}
				j.x = 100 * (1 + sign*c.change)
				j.Comparison = gate.Comparison{Metric: "m", Value: j.x, P: c.p, Direction: gate.None}
				if c.set != nil {
					c.set(j)
				}
				decide(gatetest.Policy(t, gate.PresetDefault), j)
				if j.Direction != c.want {
					t.Errorf("%s, want %s", j.Direction, c.want)
				}
			})
		}
	}
}

// How bad a deviation is: the share that is lost of what should be more, and the
// logarithm of the factor for what should be less.
func TestHowBadADeviationIs(t *testing.T) {
	size := func(metricName string, value, expected float64) float64 {
		m, _ := metric.Default().Lookup(metricName)
		return (&judgement{metric: m, Comparison: gate.Comparison{Value: value, Expected: expected, Change: value/expected - 1}}).size()
	}
	gatetest.About(t, "a third of the frames lost", size("frames.count", 400, 600), 1.0/3)
	gatetest.About(t, "twice the time", size("cpu.time_ms", 200, 100), math.Ln2)
	gatetest.About(t, "half the time", size("cpu.time_ms", 50, 100), math.Ln2)
	gatetest.About(t, "from less than nothing", size("cpu.time_ms", 5, -10), 1.5)
	gatetest.About(t, "to nothing", size("cpu.time_ms", 0, 10), 1)
}

// Where no context has runs enough, the scale is that of the kin that differ least:
// a phone's runs on Wi-Fi and on 3G, not those of two phones on Wi-Fi.
func TestTheScaleIsOfTheNearestKin(t *testing.T) {
	var history []run.Run
	at := func(model, network string, ms float64) {
		r := gatetest.On(model+network, "frames.duration_ms", ms)[0]
		history = append(history, gatetest.In(r, map[string]string{"model": model, "network": network}))
	}
	for i, network := range []string{"wifi", "3g", "lte", "5g"} {
		at("a", network, 8*(1+0.01*float64(i)))
		at("b", network, 20*(1+0.01*float64(i)))
	}
	p := gatetest.Policy(t, gate.PresetDefault)
	j := newCheck(p, metric.Default(), Subject{Run: gatetest.Timed("new", map[string]string{"model": "a", "network": "wifi"}, 8), References: gatetest.Summaries(p, history...)}).judged[0]
	// Four values of one phone, 1 % apart: squares of 0.015 and 0.005 about their middle.
	if e := j.evidence; e.Kind != past.OwnCentred || !e.OfKin || e.Moments.SD > 0.014 || e.Moments.SD < 0.012 || e.Moments.DF != 6 || e.Own != 1 {
		t.Errorf("%+v, want a scale of about 0.0129 by six degrees of freedom", e)
	}
}

// The variance of a context is drawn towards that of the others by five degrees of
// freedom at most, and no judgement has more than six.
func TestTheScaleIsDrawnTowardsOthers(t *testing.T) {
	calm, wild := gatetest.On("a", "frames.count", 500, 540, 460, 520, 480), gatetest.On("b", "frames.count", 500, 700, 300, 600, 400, 650, 350, 550, 450)
	p := gatetest.Judging(t, gate.PresetDefault, "frames.count")
	e := newCheck(p, metric.Default(), Subject{Run: gatetest.Nearly("a", "frames.count", 500), References: gatetest.Summaries(p, slices.Concat(calm, wild)...)}).judged[0].evidence
	// (1600+1600+400+400)/4 = 1000 and (40000·2+10000·2+22500·2+2500·2)/8 = 18750.
	gatetest.About(t, "scale", e.Moments.SD, math.Sqrt((4*1000+5*18750)/9.0))
	gatetest.About(t, "degrees of freedom", e.Moments.DF, past.TailDF)
}
