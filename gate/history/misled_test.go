package history

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

const perFrame = "frames.duration_ms"

// sessions returns runs of one phone, of three repetitions each that vary by 1 % about these times
// per frame, a day apart.
func sessions(model string, ms ...float64) []run.Run {
	var out []run.Run
	for i, level := range ms {
		r := gatetest.Repeated(fmt.Sprint(model, i), fmt.Sprint(model, " day ", i), model, 0.99*level, level, 1.01*level)
		r.Started = time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		out = append(out, r)
	}
	return out
}

// quiet returns n times about a level that vary by a per cent from day to day.
func quiet(level float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = level * (1 + 0.01*math.Sin(float64(7*i)))
	}
	return out
}

func today(model string, ms float64) run.Run {
	r := sessions(model, ms)[0]
	r.ID, r.Session = "new of "+model, "today"
	return r
}

// A history must not clear a build that is 20 % worse, nor call one worse without evidence. Each
// case was seen on real series.
func TestMisleadingHistory(t *testing.T) {
	wild := append(append(sessions("b", 4, 12, 7, 16, 5), sessions("c", 20, 6, 11, 30, 9)...), sessions("d", 3, 9, 14, 5, 21)...)
	calm := append(append(sessions("b", quiet(8, 6)...), sessions("c", quiet(20, 6)...)...), sessions("d", quiet(13, 6)...)...)
	improved := append(quiet(10, 12), quiet(8, 6)...)
	falling := make([]float64, 18)
	for i := range falling {
		falling[i] = 8 * math.Pow(1.01, float64(i-17))
	}
	pass, doubt, fails := gate.Pass, gate.Inconclusive, gate.Regression
	for name, c := range map[string]struct {
		own, others []run.Run
		same, worse gate.Outcome // for an unchanged build, and for one that is 20 % worse
		twice       gate.Outcome // for one that takes twice the time
	}{
		"nothing misleads":                         {sessions("a", quiet(8, 9)...), nil, pass, doubt, fails},
		"noisy phones beside a quiet one":          {sessions("a", quiet(8, 9)...), wild, pass, doubt, fails},
		"five runs, and noisy phones":              {sessions("a", quiet(8, 5)...), wild, pass, doubt, fails},
		"one run, and noisy phones":                {sessions("a", 8), wild, doubt, doubt, doubt},
		"one run, and quiet phones":                {sessions("a", 8), calm, doubt, doubt, doubt},
		"four runs, and quiet phones":              {sessions("a", quiet(8, 4)...), calm, doubt, doubt, doubt},
		"a phone never measured":                   {nil, calm, doubt, doubt, doubt},
		"one bad run of five":                      {sessions("a", 8, 8.1, 24, 7.95, 8.05), nil, pass, doubt, fails},
		"two bad runs of five":                     {sessions("a", 8, 24, 8.1, 24, 7.95), nil, pass, doubt, fails},
		"an improvement of 20 % that is lost":      {sessions("a", improved...), nil, pass, doubt, fails},
		"an improvement that is a day old":         {sessions("a", improved[:13]...), nil, pass, doubt, doubt}, // sessions vary as they did before
		"an improvement after three sessions":      {sessions("a", 10, 10.1, 9.9, 8), nil, doubt, doubt, doubt},
		"a number that rises by 1 % with each run": {sessions("a", falling...), nil, pass, doubt, fails},
	} {
		t.Run(name, func(t *testing.T) {
			for slow, want := range map[float64]gate.Outcome{1: c.same, 1.2: c.worse, 2: c.twice} {
				v := checkOne(gatetest.Policy(t, gate.PresetDefault), today("a", 8*slow), append(c.own, c.others...)...)
				if v.Verdict != want {
					t.Errorf("%g times as slow: %s: %s, want %s", slow, v.Verdict, v.Reason, want)
				}
				d := v.Comparisons[0]
				if cleared := want == pass; (d.Screen == gate.Cleared) != cleared {
					t.Errorf("%g times as slow: it is %s, missed with %v", slow, d.Screen, gatetest.End(d.Missed))
				}
				if want == fails && d.Screen != gate.Open {
					t.Errorf("a regression is %q, want open to be measured alternately", d.Screen)
				}
			}
		})
	}
}

// Two sessions of one phone, or two phones, show together what neither proves. One session does
// not, and what another session contradicts is due to the session.
func TestDeviationSeenTwice(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	refs := gatetest.Summaries(p, append(sessions("a", quiet(8, 9)...), sessions("b", quiet(20, 9)...)...)...)
	in := func(r run.Run, session string) run.Run { r.ID, r.Session = r.ID+session, session; return r }
	for name, c := range map[string]struct {
		runs []run.Run
		want gate.Outcome
		each []gate.Direction
	}{
		"one session":                     {gatetest.Runs(today("a", 9)), gate.Inconclusive, []gate.Direction{gate.Suspect}},
		"two sessions":                    {gatetest.Runs(in(today("a", 9), "s"), in(today("a", 9.1), "t")), gate.Regression, []gate.Direction{gate.ToRegression, gate.ToRegression}},
		"one session twice":               {gatetest.Runs(in(today("a", 9), "s"), in(today("a", 9.1), "s")), gate.Inconclusive, []gate.Direction{gate.Suspect, gate.Suspect}},
		"two phones":                      {gatetest.Runs(today("a", 9), today("b", 22.8)), gate.Regression, []gate.Direction{gate.ToRegression, gate.ToRegression}},
		"two phones, one as it was":       {gatetest.Runs(today("a", 9), today("b", 20)), gate.Inconclusive, []gate.Direction{gate.Suspect, gate.None}},
		"a half more, and then as it was": {gatetest.Runs(in(today("a", 12), "s"), in(today("a", 8), "t")), gate.Inconclusive, []gate.Direction{gate.Suspect, gate.None}},
		"a half more, and again":          {gatetest.Runs(in(today("a", 12), "s"), in(today("a", 12), "t")), gate.Regression, []gate.Direction{gate.ToRegression, gate.ToRegression}},
		"two phones are faster":           {gatetest.Runs(today("a", 7), today("b", 17.5)), gate.Improvement, []gate.Direction{gate.ToImprovement, gate.ToImprovement}},
	} {
		t.Run(name, func(t *testing.T) {
			var subjects []Subject
			for _, r := range c.runs {
				subjects = append(subjects, Subject{Run: r, References: refs})
			}
			v := Check(p, metric.Default(), subjects)
			if v.Verdict != c.want {
				t.Errorf("%s: %s, want %s", v.Verdict, v.Runs[0].Reason, c.want)
			}
			for i, r := range v.Runs {
				if d := r.Comparisons[0]; d.Direction != c.each[i] {
					t.Errorf("run %d is %s (p %.3g, together %d), want %s", i+1, d.Direction, d.P, d.Together, c.each[i])
				}
			}
		})
	}
}
