package drift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// nightly returns a refresh on some phones in each of so many nights, whose times per frame grow by
// a share per night.
func nightly(rng *rand.Rand, nights, phones int, creep, noise float64) [][]run.Run {
	out := make([][]run.Run, nights)
	for night := range nights {
		for phone := range phones {
			level := 8 * (1 + 0.3*float64(phone)) * math.Pow(1+creep, float64(night)) * math.Exp(noise*rng.NormFloat64())
			r := gatetest.Repeated(fmt.Sprint("n", night, ".", phone), "", fmt.Sprint("phone ", phone), level, level, level)
			r.Started = time.Date(2026, 1, 1+night, 3, phone, 0, 0, time.UTC)
			out[night] = append(out[night], r)
		}
	}
	return out
}

// drifted returns the drift at the newest night.
func drifted(t *testing.T, nights [][]run.Run) []Line {
	t.Helper()
	var before []run.Run
	for _, n := range nights[:len(nights)-1] {
		before = append(before, n...)
	}
	last := [][]run.Run{nil}
	if len(nights) > 1 {
		last = nights[len(nights)-2:]
	}
	return Of(gatetest.Lenient(t), metric.Default(), nights[len(nights)-1], last[0], before)
}

// A drift of 1 % a night, with a noise of 2 % that hides each step, is detected after ten nights,
// where almost no single night would be called a regression.
func TestSlowDriftIsDetected(t *testing.T) {
	p := gatetest.Lenient(t)
	seen, steps, called := 0, 0, 0
	const trials = 20
	for trial := range uint64(trials) {
		nights := nightly(rand.New(rand.NewPCG(trial, 3)), 11, 3, 0.01, 0.02)
		line := drifted(t, nights)[0]
		if line.Context != nil || line.Metric != "frames.duration_ms" || line.Runs != 3 || line.SinceLast == nil || line.SinceAll.Runs != 30 {
			t.Fatalf("the first line is %+v", line)
		}
		if line.Direction == gate.ToRegression {
			seen++
		}
		for n := 6; n < len(nights); n++ {
			now := history.Subject{Run: nights[n][0]}
			for _, night := range nights[max(0, n-5):n] {
				now.References = append(now.References, gatetest.Summaries(p, night[0])...)
			}
			steps++
			if history.Check(p, metric.Default(), []history.Subject{now}).Verdict == gate.Regression {
				called++
			}
		}
	}
	if called > steps/10 {
		t.Errorf("%d of %d nights are called a regression by themselves: the example shows nothing", called, steps)
	}
	if seen < trials*9/10 {
		t.Errorf("the creep is seen in %d of %d histories", seen, trials)
	}
}

func TestConstantLevel(t *testing.T) {
	alarms := 0
	const trials = 200
	for trial := range uint64(trials) {
		for _, line := range drifted(t, nightly(rand.New(rand.NewPCG(trial, 4)), 11, 3, 0, 0.06)) {
			if line.Direction == gate.ToRegression {
				alarms++
				break
			}
		}
	}
	if limit := 0.05 + 2*math.Sqrt(0.05*0.95/trials); float64(alarms)/trials > limit {
		t.Errorf("%d of %d histories that stand still are said to creep", alarms, trials)
	}
}

func TestLinesByHand(t *testing.T) {
	nights := nightly(rand.New(rand.NewPCG(1, 1)), 5, 2, 0.25, 0)
	lines := drifted(t, nights)
	if len(lines) != 3 || lines[1].Context["model"] != "phone 0" {
		t.Fatalf("%+v", lines)
	}
	for _, l := range lines {
		for what, pair := range map[string][2]float64{
			"since the last": {l.SinceLast.Change, 0.25},
			"creep":          {l.Creep.Change, math.Pow(1.25, 4) - 1},
		} {
			if math.Abs(pair[0]-pair[1]) > 0.01 {
				t.Errorf("%v: %s is %+.3f, want %+.3f", l.Context, what, pair[0], pair[1])
			}
		}
	}
	if l := drifted(t, nights[:1])[0]; l.SinceLast != nil || l.SinceAll != nil || l.Creep != nil || l.Direction != gate.None {
		t.Errorf("the first refresh of all drifts: %+v", l)
	}
}

// A falling number of frames, where it is judged, drifts for the worse, and a rising one for the
// better, also where the policy's preset sets no level.
func TestDirectionOfDrift(t *testing.T) {
	for _, preset := range gate.Presets() {
		for factor, want := range map[float64]gate.Direction{0.97: gate.ToRegression, 1.03: gate.ToImprovement, 0.999: gate.None} {
			var before []run.Run
			for night := range 12 {
				r := gatetest.Run(fmt.Sprint("n", night), map[string]float64{"frames.count": 600 * math.Pow(factor, float64(night))})
				r.Started = time.Date(2026, 1, 1+night, 3, 0, 0, 0, time.UTC)
				before = append(before, r)
			}
			lines := Of(gatetest.Judging(t, preset, "frames.count"), metric.Default(), before[11:], before[10:11], before[:11])
			if preset == gate.PresetDune && want == gate.None {
				want = gate.ToRegression // it has no least change
			}
			if len(lines) != 1 || lines[0].Direction != want {
				t.Errorf("%s, %g times as many frames each night: %+v, want %s", preset, factor, lines, want)
			}
			if l := lines[0]; l.Creep.Low == nil || l.SinceAll.Low == nil || l.SinceLast.Low != nil {
				t.Errorf("intervals: creep %v, since all %v, since the last %v; want none of one run after one", l.Creep.Low, l.SinceAll.Low, l.SinceLast.Low)
			}
		}
	}
}

// One phone of four drifts: its line reports it, and those of the others don't.
func TestOnePhoneIsFound(t *testing.T) {
	nights := nightly(rand.New(rand.NewPCG(2, 2)), 12, 4, 0, 0.001)
	for i, night := range nights {
		for k := range night[2].Iterations {
			night[2].Iterations[k].Metrics["frames.duration_ms"] *= math.Pow(1.02, float64(i))
		}
	}
	for _, l := range drifted(t, nights) {
		if want := l.Context["model"] == "phone 2"; l.Context != nil && (l.Direction == gate.ToRegression) != want {
			t.Errorf("%v: %s (p %g)", l.Context, l.Direction, l.P)
		}
	}
}

// One run of 90 frames after five of 100 ± 1.5811: one more of these would lie within
// 2.7764·1.5811·√1.2 = 4.8090 of them.
func TestOneNewRunByHand(t *testing.T) {
	at := func(id string, frames float64) run.Run {
		r := gatetest.Run(id, map[string]float64{"frames.count": frames})
		r.Started = time.Date(2026, 1, 1, 0, 0, len(id), 0, time.UTC)
		return r
	}
	before := gatetest.Runs(at("a", 100), at("aa", 102), at("aaa", 98), at("aaaa", 101), at("aaaaa", 99))
	p := gatetest.Lenient(t)
	p.Metrics = []string{"frames.count"}
	l := Of(p, metric.Default(), gatetest.Runs(at("aaaaaa", 90)), nil, before)[0]
	gatetest.About(t, "change", l.SinceAll.Change, -0.1)
	gatetest.About(t, "low", gatetest.End(l.SinceAll.Low), -0.148090)
	gatetest.About(t, "high", gatetest.End(l.SinceAll.High), -0.051910)
	if l.SinceLast != nil || l.Runs != 1 || l.SinceAll.Runs != 5 {
		t.Errorf("%+v", l)
	}
}

// The new runs' declaration of a metric counts, whatever older ones declared.
func TestNewRunsDeclareDirection(t *testing.T) {
	night := func(day int, better string, level float64) run.Run {
		r := gatetest.Repeated(fmt.Sprint(better, day), "", "phone", 8, 8, 8)
		r.Started = time.Date(2026, 1, day, 3, 0, 0, 0, time.UTC)
		r.Declared = []run.Declared{{Name: "hits", Better: better}}
		for i := range r.Iterations {
			r.Iterations[i].Metrics["hits"] = level
		}
		return r
	}
	var before []run.Run
	for day := range 10 {
		before = append(before, night(day+1, "lower", 100+float64(day)))
	}
	now := []run.Run{night(12, "higher", 115)}
	for _, line := range Of(gatetest.Lenient(t), metric.Default(), now, nil, before) {
		if line.Metric == "hits" {
			if line.Direction != gate.ToImprovement {
				t.Errorf("more hits are %s, want an improvement", line.Direction)
			}
			return
		}
	}
	t.Error("the hits have no line")
}

// Frames that come nearer to their deadline night after night, by amounts.
func TestOverrunDrifts(t *testing.T) {
	p, catalogue := gatetest.Overruns(t, gate.PresetDefault)
	for step, want := range map[float64]gate.Direction{0.5: gate.ToRegression, -0.5: gate.ToImprovement, 0.01: gate.None} {
		var before []run.Run
		for night := range 12 {
			r := gatetest.Run(fmt.Sprint("n", night), map[string]float64{"frames.overrun_ms": -3 + step*float64(night)})
			r.Started = time.Date(2026, 1, 1+night, 3, 0, 0, 0, time.UTC)
			before = append(before, r)
		}
		lines := Of(p, catalogue, before[11:], before[10:11], before[:11])
		if len(lines) != 1 || lines[0].Direction != want {
			t.Fatalf("%g ms a night: %+v, want %s", step, lines, want)
		}
		l := lines[0]
		gatetest.About(t, "creep", l.Creep.Shift, 11*step)
		gatetest.About(t, "from", l.Creep.From, -3)
		if l.Creep.Change != 0 || l.Creep.Low != nil || l.SinceLast.Change != 0 || l.SinceAll.High != nil {
			t.Errorf("%+v, want no shares", l)
		}
	}
}
