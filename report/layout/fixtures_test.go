package layout

import (
	"fmt"
	"math"
	"strings"

	"github.com/apkgate/apkgate/report/reporttest"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// The fixtures are made by hand and by simple arithmetic; nothing in them was measured. They follow
// the paper's lab: 40 accepted runs, five upgraded devices.

// phone returns a context of the upgraded lab.
func phone(maker, model, sdk, api string) map[string]string {
	return map[string]string{"manufacturer": maker, "model": model, "sdk": sdk, "api": api, "cpu": "x86", "network": "wifi"}
}

var upgraded = []map[string]string{
	phone("Google", "Nexus 9", "5.0.0", "21"),
	phone("LG", "Nexus 5", "5.0.0", "21"),
	phone("Asus", "Nexus 7", "5.1.0", "22"),
	phone("Samsung", "Galaxy S5", "5.1.0", "22"),
	phone("Google", "Nexus 5X", "6.0.0", "23"),
}

// sample returns n values spread evenly around centre, ±spread.
func sample(centre, spread float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = centre + spread*(2*float64(i)/float64(n-1)-1)
	}
	return out
}

// compared returns one comparison with an even sample: quartiles half-way to the ends, fences one
// and a half times their distance beyond.
func compared(event, name string, centre, spread, value float64, d gate.Direction) gate.Comparison {
	c := gate.Comparison{
		Event: event, Metric: name, Direction: d, Value: value, Expected: centre,
		Q1: centre - spread/2, Q3: centre + spread/2, Lower: centre - 2*spread, Upper: centre + 2*spread,
		N: 40, Sample: sample(centre, spread, 40), P: 1,
	}
	if centre != 0 {
		c.Change = value/centre - 1
	}
	if d != gate.None {
		c.P = 0.002
		c.Low, c.High = new(c.Change-0.03), new(c.Change+0.03)
	}
	return c
}

func runVerdict(id string, outcome gate.Outcome, context map[string]string, cs ...gate.Comparison) gate.RunVerdict {
	r := gate.RunVerdict{
		ID: id, Verdict: outcome, Scenario: "open-message", Context: context,
		App:            run.App{Package: "com.fsck.k9", Version: "5.006"},
		ReferenceTotal: 40,
		Reference:      []gate.Reference{{ID: "D8-wifi", Similarity: 2.2361, Weight: 0.0312, Cluster: 1}, {ID: "D2-3g", Similarity: 1.4142, Weight: 0.0197, Cluster: 2}},
		Comparisons:    cs, Labels: []string{"N"},
	}
	for _, c := range cs {
		if c.Direction != gate.None {
			r.Deviations = append(r.Deviations, c)
		}
	}
	return r
}

// regression is a worse build on five upgraded devices: fewer frames on all of them, most after E2,
// with an after-effect on E3; slow frames on two.
func regression() Input {
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Preset: "default", Level: 0.95}
	in := Input{Notes: []string{"The devices are simulated."}}
	in.Meta = Meta{
		Repository: "k9mail/k-9", Version: "apkgate 0.1.0",
		BaseCommit: strings.Repeat("0123456789", 4), HeadCommit: strings.Repeat("abcdef0123", 4),
	}
	for i, context := range upgraded {
		worse := 270 - 3*float64(i-2)
		e2 := compared("E2", "frames.count", 120, 6, 54+float64(i), gate.ToRegression)
		e3 := compared("E3", "frames.count", 110, 6, 80+float64(i), gate.ToRegression)
		e3.AfterEffectOf = "E2"
		cs := []gate.Comparison{
			compared("", "frames.count", 450, 16, worse, gate.ToRegression),
			compared("", "frames.smooth_ratio", 0.93, 0.03, 0.40+0.01*float64(i), gate.ToRegression),
			compared("", "frames.duration_ms", 9, 1.5, 100+11*float64(i), gate.ToRegression),
			compared("start", "frames.count", 60, 4, 61, gate.None),
			compared("E1", "frames.count", 118, 6, 117, gate.None),
			e2, e3,
		}
		if i < 2 {
			cs[3] = compared("start", "frames.count", 60, 4, 90, gate.ToImprovement)
		}
		id := fmt.Sprintf("U%d", i+1)
		r := runVerdict(id, gate.Regression, context, cs...)
		r.Labels = []string{"Outlier-", "E2Outlier-"}
		r.Reason = "7 comparisons, 5 of them worse than the history of like runs."
		v.Runs = append(v.Runs, r)
		in.Runs = append(in.Runs, framesRun(id, context, 270))
	}
	for _, condition := range [][2]string{{"sdk", "5.0.0"}, {"api", "21"}, {"sdk", "5.1.0"}, {"api", "22"}} {
		v.Rules = append(v.Rules, gate.Rule{If: map[string]string{condition[0]: condition[1]}, Then: "Outlier-", Support: 2.0 / 45, Confidence: 1, Lift: 9, Count: 2})
	}
	for _, condition := range [][2]string{{"sdk", "6.0.0"}, {"api", "23"}, {"model", "Nexus 5X"}} {
		v.Rules = append(v.Rules, gate.Rule{If: map[string]string{condition[0]: condition[1]}, Then: "Outlier-", Support: 1.0 / 45, Confidence: 1, Lift: 9, Count: 1})
	}
	in.Verdict = v
	return in
}

// framesRun returns a run of four buckets with frames that are slow after E2.
func framesRun(id string, context map[string]string, frames int) run.Run {
	it := run.Iteration{Events: []run.Bucket{{Name: run.Start}, {Name: "E1"}, {Name: "E2"}, {Name: "E3"}}}
	for i := range frames {
		bucket := 4 * i / frames
		ms := 8 + 3*math.Sin(float64(i)/5) + float64(i*7%5)
		if bucket == 2 && i%3 == 0 {
			ms = 40 + float64(i%11)*25
		}
		if i == frames/8 {
			ms = 24
		}
		it.Frames = append(it.Frames, run.Frame{DurationMS: ms, Bucket: bucket})
	}
	return run.Run{Format: run.Format, ID: id, Scenario: "open-message", Context: context, Status: run.Complete,
		App: run.App{Package: "com.fsck.k9", Version: "5.006"}, Iterations: []run.Iteration{it}}
}

// pass is two runs in which nothing deviates.
func pass() Input {
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Pass, Preset: "default"}
	for i, context := range upgraded[:2] {
		r := runVerdict(fmt.Sprintf("U%d", i+1), gate.Pass, context,
			compared("", "frames.count", 450, 16, 449, gate.None),
			compared("", "frames.smooth_ratio", 0.93, 0.03, 0.94, gate.None))
		r.Reason = "Nothing deviates."
		v.Runs = append(v.Runs, r)
	}
	return Input{Verdict: v}
}

// improvement is one run that renders more frames.
func improvement() Input {
	r := runVerdict("U1", gate.Improvement, upgraded[0], compared("", "frames.count", 450, 16, 540, gate.ToImprovement))
	r.Labels = []string{"Outlier+"}
	return Input{
		Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Improvement, Level: 0.95, Runs: []gate.RunVerdict{r}},
	}
}

// inconclusive is one run that may be worse, with a history of three.
func inconclusive() Input {
	c := compared("", "frames.count", 450, 16, 396, gate.Suspect)
	c.N, c.Sample, c.Enough, c.P, c.Low, c.High = 3, []float64{440, 450, 460}, 8, 0.25, new(-0.3), new(0.06)
	r := runVerdict("U1", gate.Inconclusive, upgraded[0], c)
	r.ReferenceTotal = 3
	r.Reason = "Three accepted runs are too few to confirm a change of −12 %."
	return Input{
		Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Inconclusive, Level: 0.95, Runs: []gate.RunVerdict{r}},
	}
}

// invalid is one run that lost its device.
func invalid() Input {
	r := runVerdict("U1", gate.Invalid, upgraded[0])
	r.Reason = "The run is partial: 4 of 10 repetitions have no frames."
	r.Hint = "Check the cable of the device and run again."
	r.Warnings = []run.Warning{{Line: 12, Text: "the frame table ends in the middle of a row"}}
	return Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Invalid, Runs: []gate.RunVerdict{r}}}
}

// hostile has hostile names in every place for a name.
func hostile() Input {
	at := func(i int) string { return reporttest.Hostile[i%len(reporttest.Hostile)] }
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Preset: at(0)}
	in := Input{Title: at(1), Notes: reporttest.Hostile, Meta: Meta{Repository: at(6), BaseCommit: at(5), HeadCommit: at(0), Version: at(2)}}
	for i := range reporttest.Hostile {
		context := map[string]string{at(i): at(i + 1), "sdk": at(i + 2), "model": at(i + 3), "manufacturer": at(i + 4)}
		c := compared(at(i), at(i+5), 100, 10, 50, gate.ToRegression)
		after := compared(at(i+1), "frames.count", 100, 10, 50, gate.ToRegression)
		after.AfterEffectOf = at(i)
		r := runVerdict(at(i+6), gate.Regression, context, c, after, compared("", "frames.count", 450, 10, 300, gate.ToRegression))
		r.App = run.App{Package: at(i + 7), Version: at(i + 8)}
		r.Scenario, r.Reason, r.Hint = at(0), at(i+9), at(i+10)
		r.Labels = []string{at(i) + "Outlier-"}
		r.Warnings = []run.Warning{{Line: 1, Text: at(i)}}
		r.Reference[0].ID = at(i + 11)
		v.Runs = append(v.Runs, r)
		v.Warnings = append(v.Warnings, run.Warning{Text: at(i)})
		v.Rules = append(v.Rules, gate.Rule{If: context, Then: at(i) + "Outlier-", Support: 0.1, Confidence: 0.95, Lift: 2, Count: 19})
		recorded := framesRun(at(i+6), context, 60)
		for b := range recorded.Iterations[0].Events {
			recorded.Iterations[0].Events[b].Name = at(i + b)
		}
		in.Runs = append(in.Runs, recorded)
	}
	in.Verdict, in.Energy = v, hostileEnergy()
	in.Catalogue, _ = metric.Default().With(metric.Metric{Name: "user.metric", Unit: at(0), Title: at(4)})
	return in
}

// huge has runs × events comparisons, every tenth of them worse.
func huge(runs, events int) Input {
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Regression, Preset: "default"}
	in := Input{}
	for i := range runs {
		context := phone("Maker "+fmt.Sprint(i%9), "Model "+fmt.Sprint(i), fmt.Sprintf("%d.0", 5+i%11), fmt.Sprint(21+i%11))
		cs := make([]gate.Comparison, 0, events)
		for e := range events {
			d := gate.None
			if (i+e)%10 == 0 {
				d = gate.ToRegression
			}
			cs = append(cs, compared(fmt.Sprintf("event-%03d", e), "frames.count", 100, 10, 50+float64(i%7), d))
		}
		id := fmt.Sprintf("run-%04d", i)
		v.Runs = append(v.Runs, runVerdict(id, gate.Regression, context, cs...))
		if i < 60 {
			in.Runs = append(in.Runs, framesRun(id, context, 20_000))
		}
		v.Rules = append(v.Rules, gate.Rule{If: map[string]string{"model": "Model " + fmt.Sprint(i)}, Then: "Outlier-", Support: 1 / float64(runs), Confidence: 1, Lift: 3, Count: 1})
	}
	in.Verdict = v
	return in
}
