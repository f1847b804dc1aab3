package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

func TestLostMetricIsADoubt(t *testing.T) {
	const ms, cpu = "frames.duration_ms", "cpu.time_ms"
	ten := gatetest.Measured(10, "a", ms, cpu)
	now := gatetest.Measured(2, "a", cpu)[1]
	now.ID = "new"
	for name, c := range map[string]struct {
		history []run.Run
		change  func(*gate.Policy)
		want    gate.Outcome
	}{
		"all had it":                      {ten, func(*gate.Policy) {}, gate.Inconclusive},
		"more than half had it":           {slices.Concat(ten[:6], gatetest.Measured(10, "a", cpu)[6:]), func(*gate.Policy) {}, gate.Inconclusive},
		"half had it":                     {slices.Concat(ten[:5], gatetest.Measured(10, "a", cpu)[5:]), func(*gate.Policy) {}, gate.Pass},
		"other phones have it":            {slices.Concat(gatetest.Measured(6, "a", cpu), gatetest.Measured(20, "b", ms, cpu)), func(*gate.Policy) {}, gate.Pass},
		"nobody asks for it":              {ten, func(p *gate.Policy) { p.Metrics = []string{cpu} }, gate.Pass},
		"it is ignored":                   {ten, func(p *gate.Policy) { p.Thresholds = []gate.Threshold{{Metric: ms, Ignore: true}} }, gate.Pass},
		"a detail of what is still there": {gatetest.Measured(10, "a", cpu, "energy.app_j"), func(*gate.Policy) {}, gate.Inconclusive},
		"the paper's preset":              {ten, func(p *gate.Policy) { *p = gatetest.Judging(t, gate.PresetDune, ms, cpu) }, gate.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatetest.Policy(t, gate.PresetDefault)
			c.change(&p)
			v := checkOne(p, now, c.history...)
			if v.Verdict != c.want {
				t.Errorf("%s: %s, want %s", v.Verdict, v.Reason, c.want)
			}
			said := slices.ContainsFunc(v.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, "was not measured, and") })
			if said != (c.want == gate.Inconclusive) || c.want == gate.Inconclusive && !strings.Contains(v.Reason, "was not measured") {
				t.Errorf("%s; warnings: %v", v.Reason, v.Warnings)
			}
		})
	}
	worse := now
	worse.Iterations = []run.Iteration{{Metrics: map[string]float64{cpu: 300}}}
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), worse, ten...); v.Verdict != gate.Regression {
		t.Errorf("three times the CPU time: %s", v.Verdict)
	}
}

// Fewer frames are no regression by default. Where most of them are missing, the measurement may
// have been cut short, so the run must not pass.
func TestLostFramesAreADoubt(t *testing.T) {
	of := func(id string, frames float64, events ...run.Bucket) run.Run {
		return gatetest.In(gatetest.Run(id, gatetest.Frames(frames, 0.95, 8), events...), gatetest.Phone("a"))
	}
	var ten []run.Run
	for i := range 10 {
		ten = append(ten, of(fmt.Sprint(i), 600+float64(i), run.Bucket{Name: "scroll", Metrics: gatetest.Frames(200+float64(i), 0.95, 8)}))
	}
	scroll := func(frames float64) run.Bucket {
		return run.Bucket{Name: "scroll", Metrics: gatetest.Frames(frames, 0.95, 8)}
	}
	standard := func(*gate.Policy) {}
	for name, c := range map[string]struct {
		now     run.Run
		history []run.Run
		change  func(*gate.Policy)
		want    gate.Outcome
		said    string
	}{
		"a fifth fewer":                  {of("new", 480, scroll(160)), ten, standard, gate.Pass, ""},
		"just half":                      {of("new", 300, scroll(100)), ten, standard, gate.Pass, ""},
		"less than half":                 {of("new", 299, scroll(200)), ten, standard, gate.Inconclusive, "has: 299 where the fewest were 600"},
		"after an event alone":           {of("new", 500, scroll(99)), ten, standard, gate.Inconclusive, "99 where the fewest were 200 (after scroll)"},
		"one accepted run had as few":    {of("new", 299), append(ten[:9:9], of("few", 310)), standard, gate.Pass, ""},
		"of another phone":               {gatetest.In(of("new", 100), gatetest.Phone("b")), ten, standard, gate.Inconclusive, ""},
		"of one accepted run":            {of("new", 100), ten[:1], standard, gate.Inconclusive, "100 where the fewest were 600"},
		"of few there were":              {of("new", 3), []run.Run{of("0", 9), of("1", 9), of("2", 9), of("3", 9), of("4", 9), of("5", 9)}, standard, gate.Pass, ""},
		"no event is asked for":          {of("new", 500, scroll(99)), ten, func(p *gate.Policy) { p.Grain = gate.Coarse }, gate.Pass, ""},
		"it is ignored":                  {of("new", 100, scroll(200)), ten, func(p *gate.Policy) { p.Thresholds = []gate.Threshold{{Metric: "frames.count", Ignore: true}} }, gate.Pass, ""},
		"nothing of frames is asked for": {of("new", 100), ten, func(p *gate.Policy) { p.Metrics = []string{"cpu.time_ms"} }, gate.Inconclusive, ""},
		"their times are asked for":      {of("new", 100), ten, func(p *gate.Policy) { p.Metrics = []string{"frames.duration_ms"} }, gate.Inconclusive, "100 where the fewest were 600"},
		"they are judged":                {of("new", 100), ten, func(p *gate.Policy) { p.Metrics = []string{"frames.count"} }, gate.Regression, ""},
		"they are judged in the paper":   {of("new", 100), ten, func(p *gate.Policy) { *p = gatetest.Policy(t, gate.PresetDune) }, gate.Regression, ""},
		"a threshold has them judged":    {of("new", 100), ten, func(p *gate.Policy) { p.Thresholds = []gate.Threshold{{Metric: "frames.count"}} }, gate.Regression, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatetest.Policy(t, gate.PresetDefault)
			c.change(&p)
			v := checkOne(p, c.now, c.history...)
			at := slices.IndexFunc(v.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, "fewer than half of the frames") })
			if v.Verdict != c.want || (at >= 0) != (c.said != "") {
				t.Fatalf("%s: %s; warnings %v", v.Verdict, v.Reason, v.Warnings)
			}
			if c.said != "" && (!strings.HasSuffix(v.Reason, c.said) || v.Warnings[at].Text != v.Reason) {
				t.Errorf("reason %q, warnings %v, want %q", v.Reason, v.Warnings, c.said)
			}
		})
	}
}

// A build that breaks an event's action does not pass by the events that are left.
func TestLostEventIsADoubt(t *testing.T) {
	of := func(model string, n int, events ...string) []run.Run {
		return gatetest.Steady(n, gatetest.Phone(model), 8, events...)
	}
	now := func(events ...string) run.Run {
		r := of("a", 2, events...)[1]
		r.ID = "new"
		return r
	}
	p := gatetest.Policy(t, gate.PresetDefault)
	whole, ignoring := p, p
	whole.Grain = gate.Coarse
	ignoring.Thresholds = []gate.Threshold{{Metric: perFrame, Event: "tap", Ignore: true}}
	paper := gatetest.Policy(t, gate.PresetDune)
	both, once := of("a", 9, "tap", "scroll"), append(of("a", 8, "tap", "scroll"), of("a", 9, "scroll")[8])
	const tap = "did not happen, though it did in each accepted run of this context: tap"
	for name, c := range map[string]struct {
		policy  gate.Policy
		now     run.Run
		history []run.Run
		missing string
	}{
		"all events":                    {p, now("tap", "scroll"), both, ""},
		"one is gone":                   {p, now("scroll"), both, tap},
		"two are gone":                  {p, now(), both, "did not happen, though it did in each accepted run of this context: scroll and tap"},
		"many are gone":                 {p, now(), of("a", 9, "a", "b", "c", "d", "e"), "did not happen, though it did in each accepted run of this context: a, b, c and 2 more"},
		"one run did without":           {p, now("scroll"), once, ""},
		"another phone did":             {p, now("scroll"), append(of("b", 3, "scroll"), both...), tap},
		"another phone has it":          {p, now("scroll"), append(of("b", 3, "tap"), of("a", 9, "scroll")...), ""},
		"events are not asked for":      {whole, now("scroll"), both, ""},
		"the event is not asked for":    {ignoring, now("scroll"), both, ""},
		"the paper has no such a doubt": {paper, now("scroll"), both, ""},
	} {
		v := checkOne(c.policy, c.now, c.history...)
		if doubted := c.missing != ""; v.Missing != c.missing || (v.Reason == c.missing) != doubted || doubted && v.Verdict != gate.Inconclusive || !doubted && c.policy.Preset == gate.PresetDefault && v.Verdict != gate.Pass {
			t.Errorf("%s: %s: %s, missing %q, want %q", name, v.Verdict, v.Reason, v.Missing, c.missing)
		}
	}
}

func TestLostFramesOfManyEvents(t *testing.T) {
	of := func(id string, frames float64) run.Run {
		var events []run.Bucket
		for e := range 5 {
			events = append(events, run.Bucket{Name: fmt.Sprint("e", e), Metrics: gatetest.Frames(frames, 0.95, 8)})
		}
		return gatetest.Run(id, gatetest.Frames(5*frames, 0.95, 8), events...)
	}
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), of("new", 20), of("a", 100), of("b", 110))
	if want := "has: 100 where the fewest were 500, 20 where the fewest were 100 (after e0), 20 where the fewest were 100 (after e1) and 3 more"; !strings.HasSuffix(v.Reason, want) {
		t.Errorf("%q, want %q", v.Reason, want)
	}
}
