// Package gatetest makes runs for the tests of the gate: single ones, histories of them, rounds of
// two builds, and whole labs with their noise.
//
// It is for tests only, and all of its numbers are made up: none comes from a device.
package gatetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Repeated returns a run with one iteration for each number, which is its time per frame.
func Repeated(id, session, model string, ms ...float64) run.Run {
	r := Run(id, nil)
	r.Session, r.Context, r.Iterations = session, map[string]string{"model": model}, nil
	for _, v := range ms {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.duration_ms": v}})
	}
	return r
}

// Rising returns n times that drift upwards as a phone gets hot, multiplied by a factor.
func Rising(n int, factor float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = (8 + 0.4*float64(i) + 0.05*float64(i*7%5)) * factor
	}
	return out
}

// Runs returns its arguments.
func Runs(rs ...run.Run) []run.Run { return rs }

// End returns the end of an interval, NaN where there is none.
func End(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// Steady returns a history of n runs whose frame times vary by a few per cent.
func Steady(n int, context map[string]string, ms float64, events ...string) []run.Run {
	var out []run.Run
	for i := range n {
		waver := 1 + 0.02*float64(i%3-1)
		var buckets []run.Bucket
		for _, e := range events {
			buckets = append(buckets, run.Bucket{Name: e, Metrics: map[string]float64{"frames.duration_ms": ms * waver}})
		}
		r := Run(fmt.Sprint("h", context["model"], i), map[string]float64{"frames.duration_ms": ms * waver}, buckets...)
		out = append(out, In(r, context))
	}
	return out
}

// Timed returns a run with that time per frame.
func Timed(id string, context map[string]string, ms float64) run.Run {
	return In(Run(id, map[string]float64{"frames.duration_ms": ms}), context)
}

// About fails the test unless got is want to four digits.
func About(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 5e-5*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %.5f, want %.5f", what, got, want)
	}
}

// Measured returns n runs of a phone that have these metrics.
func Measured(n int, model string, metrics ...string) []run.Run {
	var out []run.Run
	for i := range n {
		totals := map[string]float64{}
		for _, name := range metrics {
			totals[name] = 100 + float64(i%3)
		}
		out = append(out, In(Run(fmt.Sprint(model, i), totals), map[string]string{"model": model}))
	}
	return out
}

// Rounds returns a run of n repetitions.
func Rounds(id string, n int, metrics func(i int) map[string]float64) run.Run {
	r := Run(id, nil)
	r.Session, r.Iterations = "s", nil
	for i := range n {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: metrics(i)})
	}
	return r
}

// Policy returns the policy of a preset.
func Policy(t *testing.T, preset string) gate.Policy {
	t.Helper()
	p, ok := gate.PolicyOf(preset)
	if !ok {
		t.Fatalf("no preset %q", preset)
	}
	return p
}

// Lenient returns the default policy with 5 % of false alarms, for numbers worked out by hand.
func Lenient(t *testing.T) gate.Policy {
	t.Helper()
	p := Policy(t, gate.PresetDefault)
	p.Alpha = 0.05
	return p
}

// Judging returns a preset's policy that judges only the named metrics.
func Judging(t *testing.T, preset string, metrics ...string) gate.Policy {
	t.Helper()
	p := Policy(t, preset)
	p.Metrics = metrics
	return p
}

// Frames returns the totals of a run: the number of frames, the smooth ratio, the time per frame.
func Frames(count, ratio, ms float64) map[string]float64 {
	return map[string]float64{"frames.count": count, "frames.smooth_ratio": ratio, "frames.duration_ms": ms}
}

// Run returns a run of one iteration with the given totals and events.
func Run(id string, totals map[string]float64, events ...run.Bucket) run.Run {
	return run.Run{
		Format: run.Format, ID: id, App: run.App{Package: "app"}, Scenario: "s", Status: run.Complete,
		Context: map[string]string{}, Iterations: []run.Iteration{{Metrics: totals, Events: events}},
	}
}

// In returns the run in another context.
func In(r run.Run, context map[string]string) run.Run {
	r.Context = context
	return r
}

// Summaries returns the summaries of the runs by a policy.
func Summaries(p gate.Policy, rs ...run.Run) []run.Summary {
	var out []run.Summary
	for _, r := range rs {
		out = append(out, run.Summarize(r, p.Centre, metric.Default()))
	}
	return out
}

// Hungry returns a run of one phone with a time per frame and joules of a source; of no source
// where source is "".
func Hungry(id, source string, ms, joules float64) run.Run {
	context := map[string]string{"model": "a"}
	if source != "" {
		context[metric.EnergyFrom] = source
	}
	return In(Run(id, map[string]float64{"frames.duration_ms": ms, "energy.total_j": joules}), context)
}

// HungryRuns returns n such runs, which vary by a per cent or two.
func HungryRuns(n int, source string, ms, joules float64) []run.Run {
	var out []run.Run
	for i := range n {
		waver := 1 + 0.01*float64(i%3-1)
		out = append(out, Hungry(fmt.Sprint(source, i), source, ms*waver, joules*waver))
	}
	return out
}

// HungryRounds returns a run of a dozen rounds of one session. Its time per frame varies with the
// joules, so that two builds don't have the same.
func HungryRounds(source string, joules float64) run.Run {
	r := Hungry("r", source, 8, joules)
	r.Session, r.Iterations = "together", nil
	for i := range 12 {
		waver := 1 + 0.01*float64(i%5)
		ms := 8 + 0.01*float64(i*int(joules)%7)
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.duration_ms": ms, "energy.total_j": joules * waver}})
	}
	return r
}

// On returns runs of a phone with one number each, named by phone and place.
func On(model, metricName string, values ...float64) []run.Run {
	var out []run.Run
	for i, v := range values {
		out = append(out, In(Run(fmt.Sprint(model, i), map[string]float64{metricName: v}), Phone(model)))
	}
	return out
}

// Nearly returns a run of a phone with one number.
func Nearly(model, metricName string, value float64) run.Run {
	return In(Run("new", map[string]float64{metricName: value}), Phone(model))
}

// Phone returns a context that differs from those of other phones in two properties.
func Phone(model string) map[string]string {
	return map[string]string{"model": model, "screen": "of " + model, "sdk": "34"}
}

// Overruns returns the catalogue with the time beyond the deadline as users configure it, and a
// policy that judges it.
func Overruns(t *testing.T, preset string) (gate.Policy, *metric.Catalogue) {
	t.Helper()
	m, _ := metric.Default().Lookup("frames.overrun_ms")
	m.Direction = metric.LowerIsBetter
	catalogue, err := metric.Default().With(m)
	if err != nil {
		t.Fatal(err)
	}
	return Judging(t, preset, m.Name), catalogue
}
