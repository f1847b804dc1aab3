package history

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

const inTurns = "measure it against the base build: apkgate run --base OLD.apk; runs made elsewhere: apkgate compare --base-run OLD.jsonl --head-run NEW.jsonl"

// A doubt is settled by accepted runs where there are too few, and by rounds with the base build.
func TestSettlingHint(t *testing.T) {
	noisy := gatetest.On("a", perFrame, 8, 14, 9, 21, 11)
	both := gatetest.On("a", perFrame, 8, 8.1, 7.9)
	both[0].Iterations[0].Metrics["startup.ttid_ms"] = 100
	now := gatetest.Nearly("a", perFrame, 8)
	now.Iterations[0].Metrics["startup.ttid_ms"] = 100
	for name, c := range map[string]struct {
		now       run.Run
		history   []run.Run
		accepting string
		want      string
	}{
		"noise":                         {gatetest.Nearly("a", perFrame, 11), noisy, "", inTurns},
		"three runs":                    {gatetest.Nearly("a", perFrame, 8), gatetest.On("a", perFrame, 8, 8.1, 7.9), "", "accept 2 more, or " + inTurns},
		"three runs, accepted by merge": {gatetest.Nearly("a", perFrame, 8), gatetest.On("a", perFrame, 8, 8.1, 7.9), "merge it", "it takes 2 more accepted runs: merge it, or " + inTurns},
		"four runs, accepted by merge":  {gatetest.Nearly("a", perFrame, 8), gatetest.On("a", perFrame, 8, 8.1, 7.9, 8), "merge it", "it takes 1 more accepted run: merge it, or " + inTurns},
		"three runs, perhaps worse":     {gatetest.Nearly("a", perFrame, 16), gatetest.On("a", perFrame, 8, 8.1, 7.9), "", "accept 2 more, or " + inTurns},
		"one of one, three of all":      {now, both, "", "accept 4 more, or " + inTurns},
	} {
		p := gatetest.Policy(t, gate.PresetDefault)
		p.Accepting = c.accepting
		if v := checkOne(p, c.now, c.history...); v.Hint != c.want || v.Verdict != gate.Inconclusive {
			t.Errorf("%s: %s: %q, want %q", name, v.Verdict, v.Hint, c.want)
		}
	}
}

// The first run of a history is accepted by its id, or with all of its session where the session's
// name needs no quoting.
func TestAcceptingFirstRun(t *testing.T) {
	for name, c := range map[string]struct{ session, accepting, want string }{
		"by itself":      {"", "", "accept this run as the first of its history: apkgate baseline accept new"},
		"its session":    {"night-7", "", "accept the runs of this session as the first of their history: apkgate baseline accept --session night-7"},
		"of an odd name": {"a b", "", "accept this run as the first of its history: apkgate baseline accept new"},
		"in other words": {"night-7", "merge it", "merge it"},
	} {
		p := gatetest.Policy(t, gate.PresetDefault)
		p.Accepting = c.accepting
		now := gatetest.Nearly("a", perFrame, 8)
		now.Session = c.session
		if v := checkOne(p, now); v.Hint != c.want || !strings.HasPrefix(v.Reason, `there is no accepted run of app, scenario "s", to compare with`) || strings.Contains(v.Reason, "own session") {
			t.Errorf("%s: %q (%s), want %q", name, v.Hint, v.Reason, c.want)
		}
	}
}

// Of undecided numbers the one that may hide the most is reported, in the words of its metric.
func TestUndecidedNumberIsReported(t *testing.T) {
	values := func(metricName string, values ...float64) func(i int) (string, float64) {
		return func(i int) (string, float64) { return metricName, values[i%len(values)] }
	}
	wide := []float64{100, 160, 80, 210, 120, 90}
	shaky := []float64{100, 106, 95, 108, 101, 93}
	large := 0.3
	for name, c := range map[string]struct {
		of        []func(i int) (string, float64)
		threshold *float64
		want      []string
	}{
		"one":             {[]func(int) (string, float64){values("cpu.time_ms", wide...)}, nil, []string{"too noisy to exclude that CPU time got worse by 10 % (risk of missing it: "}},
		"two":             {[]func(int) (string, float64){values("cpu.time_ms", shaky...), values("memory.pss_kb", wide...)}, nil, []string{"that memory (PSS) got worse by 10 %", "1 more of 2 comparisons"}},
		"of 30 % matters": {[]func(int) (string, float64){values("cpu.time_ms", wide...)}, &large, []string{"got worse by 30 %"}},
		"a ratio":         {[]func(int) (string, float64){values("frames.smooth_ratio", 0.9, 0.5, 0.7, 0.95, 0.4, 0.8)}, nil, []string{"smooth ratio got worse, to 1.5 times as many bad frames"}},
		"a count":         {[]func(int) (string, float64){values("anr.count", 1, 0, 2, 0, 1, 0)}, nil, []string{"ANRs got worse by 4 in a run"}},
	} {
		t.Run(name, func(t *testing.T) {
			at := func(i int) run.Run {
				totals := map[string]float64{}
				for _, of := range c.of {
					metricName, x := of(i)
					totals[metricName] = x
				}
				r := gatetest.Run(fmt.Sprint("h", i), totals)
				if i == 0 { // the new run repeats it
					r.Iterations = append(r.Iterations, r.Iterations[0], r.Iterations[0])
				}
				return r
			}
			var history []run.Run
			for i := range 6 {
				history = append(history, at(i+6))
			}
			p := gatetest.Policy(t, gate.PresetDefault)
			if c.threshold != nil {
				p.Thresholds = []gate.Threshold{{Metric: "cpu.time_ms", MinChange: c.threshold}}
			}
			v := checkOne(p, at(0), history...)
			if v.Verdict != gate.Inconclusive {
				t.Errorf("%s: %s", v.Verdict, v.Reason)
			}
			for _, want := range c.want {
				if !strings.Contains(v.Reason, want) {
					t.Errorf("%q has no %q", v.Reason, want)
				}
			}
		})
	}
	// Below zero there are no shares: twice a change that matters.
	p, catalogue := gatetest.Overruns(t, gate.PresetDefault)
	v := Check(p, catalogue, []Subject{{Run: gatetest.Nearly("a", "frames.overrun_ms", -8), References: gatetest.Summaries(p, gatetest.On("a", "frames.overrun_ms", -8, -4, -12, -6, -9, -2)...)}}).Runs[0]
	if !strings.Contains(v.Reason, "got worse by 1.00 ms") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// Of numbers with few runs each is reported with its number of runs.
func TestTooFewAreCounted(t *testing.T) {
	of := func(i int, names ...string) run.Run {
		r := gatetest.Measured(i+1, "a", names...)[i]
		return r
	}
	var history []run.Run
	for i := range 6 {
		names := []string{"cpu.time_ms"}
		if i < 3 {
			names = append(names, "startup.ttid_ms", "startup.ttfd_ms", "memory.pss_kb")
		}
		if i < 1 {
			names = append(names, "gc.time_ms")
		}
		history = append(history, of(i, names...))
	}
	now := of(7, "cpu.time_ms", "memory.pss_kb", "startup.ttid_ms", "startup.ttfd_ms")
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...)
	if want := "time to initial display, time to full display have 3 comparable runs of the 5 that are needed"; v.Reason != want || !strings.HasPrefix(v.Hint, "accept 2 more, or ") {
		t.Errorf("%q, %q; want %q", v.Reason, v.Hint, want)
	}
	v = checkOne(gatetest.Policy(t, gate.PresetDefault), now, history[:3]...)
	if want := "the history has 3 accepted runs in this context, and 5 are needed to tell a change from noise"; v.Reason != want {
		t.Errorf("%q, want %q", v.Reason, want)
	}
	moved := gatetest.On("a", "cpu.time_ms", 100, 101, 99, 80, 81)
	v = checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Nearly("a", "cpu.time_ms", 80), moved...)
	if !strings.HasPrefix(v.Reason, "the level of this context changed with run a") || !strings.Contains(v.Reason, " since, and 5 are needed") {
		t.Errorf("after an improvement: %q", v.Reason)
	}
}

// The direction of a comparison, for both directions of a metric.
func TestDirections(t *testing.T) {
	calm, shaky := []float64{100, 101, 99, 100.5, 99.5, 100, 101, 99}, []float64{100, 108, 93, 104, 97, 109, 92, 101}
	still, few := []float64{100, 100, 100, 100, 100, 100, 100, 100}, []float64{100, 101}
	for name, c := range map[string]struct {
		history []float64
		change  float64
		set     func(*gate.Policy)
		want    gate.Direction
		screen  gate.Screen
	}{
		"as it was":                             {calm, 0, nil, gate.None, gate.Cleared},
		"worse by 3 %, surely":                  {still, 0.03, nil, gate.None, gate.Cleared},
		"worse by 6 %, surely":                  {still, 0.06, nil, gate.Suspect, gate.Open},
		"worse by 8 %, perhaps":                 {shaky, 0.08, nil, gate.None, gate.Open},
		"worse by 20 %":                         {calm, 0.2, nil, gate.Suspect, gate.Open},
		"worse by 30 %":                         {calm, 0.3, nil, gate.ToRegression, gate.Open},
		"worse by 30 %, of 40 % that matter":    {calm, 0.3, func(p *gate.Policy) { p.MinChange = 0.4 }, gate.None, gate.Cleared},
		"worse by 30 %, perhaps":                {shaky, 0.3, func(p *gate.Policy) { p.Alpha = 1e-6 }, gate.Suspect, gate.Open},
		"better by 20 %":                        {calm, -0.2, nil, gate.ToImprovement, gate.Cleared},
		"better by 3 %":                         {still, -0.03, nil, gate.None, gate.Cleared},
		"few runs, worse by 12 %":               {few, 0.12, nil, gate.Suspect, gate.Open},
		"few runs, worse by 9 %":                {few, 0.09, nil, gate.None, gate.Open},
		"few runs, worse by 12 %, of 15 %":      {few, 0.12, func(p *gate.Policy) { p.MinChange = 0.15 }, gate.None, gate.Open},
		"few runs, worse by half":               {few, 0.5, nil, gate.Suspect, gate.Open},
		"few runs, better":                      {few, -0.3, nil, gate.None, gate.Open},
		"few runs, and two are enough":          {few, 0.5, func(p *gate.Policy) { p.MinHistory = 2; p.Alpha = 0.5 }, gate.ToRegression, gate.Open},
		"no accepted run of this context yet":   {nil, 0.5, nil, gate.None, gate.Open},
		"a worsening by 60 % is to be excluded": {shaky, 0.01, func(p *gate.Policy) { p.MinEffect = 0.6 }, gate.None, gate.Cleared},
	} {
		for _, metricName := range []string{"frames.count", "cpu.time_ms"} {
			t.Run(name+", "+metricName, func(t *testing.T) {
				p := gatetest.Judging(t, gate.PresetDefault, metricName)
				if c.set != nil {
					c.set(&p)
				}
				x := 100 * (1 + c.change)
				if metricName == "frames.count" {
					x = 100 * (1 - c.change)
				}
				history := slices.Concat(gatetest.On("a", metricName, c.history...), gatetest.On("b", metricName, 500))
				d := checkOne(p, gatetest.Nearly("a", metricName, x), history...).Comparisons[0]
				if metricName == "frames.count" && strings.HasSuffix(name, ", surely") {
					return // counts of frames are assumed to vary by 3 %
				}
				if d.Direction != c.want || d.Screen != c.screen {
					t.Errorf("%s and %s, want %s and %s (p %g, missed %g)", d.Direction, d.Screen, c.want, c.screen, d.P, gatetest.End(d.Missed))
				}
			})
		}
	}
}

// Of builds that are worse by the detectable worsening of a pass, nine of ten are detected: where
// the next session is the tenth of ten, it just is.
func TestDetectableInNineOfTen(t *testing.T) {
	for name, c := range map[string]struct {
		metric string
		values []float64
		least  float64 // the least change that matters, as a share of the expected value
	}{
		"times":  {perFrame, []float64{10, 10.3, 9.8, 10.1, 10, 9.9, 10.2}, 0.05},
		"noisy":  {perFrame, []float64{10, 13, 8, 11, 10, 9, 14}, 0.05},
		"frames": {"frames.count", []float64{600, 610, 595, 605, 600, 598}, 0.05},
		"tail":   {"frames.duration_ms.p95", []float64{20, 22, 18.5, 20.5, 20, 19, 21.5}, 0.1025}, // 1.05 squared
		// 5 % are 1.23 times the bad frames: of 5 to 95, 6.15 to 95, which leaves 93.9 of 100.
		"ratio": {"frames.smooth_ratio", []float64{0.95, 0.93, 0.94, 0.96, 0.95, 0.94}, 0.011},
	} {
		p := gatetest.Judging(t, gate.PresetDefault, c.metric)
		at := func(x float64) *judgement {
			k := newCheck(p, metric.Default(), Subject{Run: gatetest.Nearly("a", c.metric, x), References: gatetest.Summaries(p, gatetest.On("a", c.metric, c.values...)...)})
			judgeTogether(p, []*check{k})
			return k.judged[0]
		}
		j := at(c.values[0])
		sign, lucky := 1.0, j.evidence.Outlook.Quantile(0.1)
		if j.metric.Direction == metric.HigherIsBetter {
			sign, lucky = -1, j.evidence.Outlook.Quantile(0.9)
		}
		shows := func(d float64) bool {
			worse := j.scale.On(j.Expected*(1+sign*d)) + lucky - j.evidence.Expected
			k := at(j.scale.Back(worse))
			return k.worsening() >= 0.05*(1-1e-9) && k.Screen == gate.Open
		}
		if d := j.Detectable; !(d > c.least) || !shows(1.01*d) || shows(0.97*d) {
			t.Errorf("%s: %.1f %% would have been seen; seen is 1.01 of it %t, 0.97 of it %t", name, 100*d, shows(1.01*d), shows(0.97*d))
		}
	}
}

// A value at the end of the range of unchanged builds has an interval that ends at no change.
func TestChangeInterval(t *testing.T) {
	for _, name := range []string{perFrame, "frames.count"} {
		p := gatetest.Judging(t, gate.PresetDefault, name)
		at := func(x float64) *judgement {
			k := newCheck(p, metric.Default(), Subject{Run: gatetest.Nearly("a", name, x), References: gatetest.Summaries(p, gatetest.On("a", name, 500, 520, 480, 510, 490)...)})
			judgeTogether(p, []*check{k})
			return k.judged[0]
		}
		j := at(500)
		if high, low := at(j.scale.Back(j.evidence.Outlook.TailQuantile(0.995))), at(j.scale.Back(j.evidence.Outlook.TailQuantile(0.005))); math.Abs(gatetest.End(high.Low)) > 1e-6 || math.Abs(gatetest.End(low.High)) > 1e-6 {
			t.Errorf("%s: from %g, to %g; want 0", name, gatetest.End(high.Low), gatetest.End(low.High))
		}
		if gatetest.End(j.Low) > -0.03 || gatetest.End(j.High) < 0.03 {
			t.Errorf("%s: as expected, from %g to %g", name, gatetest.End(j.Low), gatetest.End(j.High))
		}
	}
	// A loss is limited to the whole.
	c := checkOne(gatetest.Judging(t, gate.PresetDefault, "frames.count"), gatetest.Nearly("a", "frames.count", 2), gatetest.On("a", "frames.count", 500, 800, 300, 510, 250)...).Comparisons[0]
	gatetest.About(t, "low of next to no frames", gatetest.End(c.Low), -1)
	// The paper's preset has no level, and no interval.
	if c := checkOne(gatetest.Judging(t, gate.PresetDune, "frames.count"), gatetest.Nearly("a", "frames.count", 500), gatetest.On("a", "frames.count", 500, 800, 300, 510, 250)...).Comparisons[0]; c.Low != nil || c.Screen != "" || c.Missed != nil {
		t.Errorf("%+v, want no interval", c)
	}
}

// A run that would not have shown a worsening of 25 % does not pass, even where such a small effect
// is configured that it would.
func TestBlindRunDoesNotPass(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.MinEffect = 0.9
	shaky := gatetest.On("a", perFrame, 10, 13, 9, 11, 10, 8.6, 12)
	v := checkOne(p, gatetest.Nearly("a", perFrame, 10), shaky...)
	if v.Verdict != gate.Inconclusive || v.Reason != "nothing deviates in 1 comparison, but no worsening of less than 25 % would have been seen" || v.Hint == "" {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	// A number that was always zero shows if it occurs: that is worth a pass.
	for i := range shaky {
		shaky[i].Iterations[0].Metrics["anr.count"] = 0
	}
	now := gatetest.Nearly("a", perFrame, 10)
	now.Iterations[0].Metrics["anr.count"] = 0
	if v := checkOne(p, now, shaky...); v.Verdict != gate.Pass {
		t.Errorf("beside ANRs: %s: %s", v.Verdict, v.Reason)
	}
}

// One run of its own is enough where runs that differ only in an irrelevant property estimate its
// level; it does not suffice for a regression.
func TestOtherContextsClear(t *testing.T) {
	p := gatetest.Judging(t, gate.PresetDefault, "cpu.time_ms")
	var history []run.Run
	add := func(model, network string, level float64, n int) {
		for i := range n {
			r := gatetest.Run(fmt.Sprint(model, network, i), map[string]float64{"cpu.time_ms": level * (1 + 0.01*float64(i%3-1))})
			history = append(history, gatetest.In(r, map[string]string{"model": model, "network": network}))
		}
	}
	for i, model := range []string{"b", "c", "d", "e"} {
		add(model, "wifi", 100*float64(i+1), 6)
		add(model, "3g", 100*float64(i+1), 6)
	}
	add("a", "wifi", 1000, 8)
	add("a", "3g", 1000, 1)
	for ms, want := range map[float64]gate.Outcome{1000: gate.Pass, 1150: gate.Inconclusive, 2000: gate.Inconclusive} {
		now := gatetest.In(gatetest.Run("new", map[string]float64{"cpu.time_ms": ms}), map[string]string{"model": "a", "network": "3g"})
		if v := checkOne(p, now, history...); v.Verdict != want {
			t.Errorf("%g ms: %s: %s, want %s", ms, v.Verdict, v.Reason, want)
		}
	}
}

// Twice the rate of a rare event, in many runs, is no more than a doubt below a quarter, and a
// regression where each repetition has an event that never occurred before.
func TestMoreRareEvents(t *testing.T) {
	counted := func(id string, counts ...float64) run.Run {
		r := gatetest.Run(id, nil)
		r.Iterations = nil
		for _, n := range counts {
			r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"anr.count": n}})
		}
		return r
	}
	var many []run.Run
	for i := range 40 {
		many = append(many, counted(fmt.Sprint("h", i), 90, 110, 100, 95, 105))
	}
	for name, c := range map[string]struct {
		now  run.Run
		want gate.Direction
	}{
		"as many":       {counted("new", 100, 100, 100, 100, 100), gate.None},
		"20 % more":     {counted("new", 120, 120, 120, 120, 120), gate.Suspect},
		"half more":     {counted("new", 150, 150, 150, 150, 150), gate.ToRegression},
		"a third fewer": {counted("new", 66, 66, 66, 66, 66), gate.ToImprovement},
	} {
		if d := checkOne(gatetest.Policy(t, gate.PresetDefault), c.now, many...).Comparisons[0]; d.Direction != c.want || d.Low != nil || d.Detectable != 0 {
			t.Errorf("%s: %s, want %s (p %g, missed %g)", name, d.Direction, c.want, d.P, gatetest.End(d.Missed))
		}
	}
}

// For shares a pass reports how many more bad frames it would have shown. A run that would not have
// shown several times as many does not pass, however little of the smooth ratio that is.
func TestPassReportsBadFrames(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	const name = "frames.smooth_ratio"
	calm := gatetest.On("a", name, 0.99, 0.9905, 0.9895, 0.99, 0.9902, 0.9898)
	if v := checkOne(p, gatetest.Nearly("a", name, 0.99), calm...); v.Verdict != gate.Pass || !strings.Contains(v.Reason, "would have been seen of smooth ratio to 1.") || !strings.HasSuffix(v.Reason, " times as many bad frames") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	p.MinEffect = 1.5 // 52 times as many
	if v := checkOne(p, gatetest.Nearly("a", name, 0.99), calm...); v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, "no worsening of less than 25 % would have been seen") {
		t.Errorf("where 52 times as many are excluded: %s: %s", v.Verdict, v.Reason)
	}
}
