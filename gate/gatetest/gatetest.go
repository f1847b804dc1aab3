// Package gatetest makes runs for the tests of the gate: single ones, histories of
// them, rounds of two builds, and whole labs with their noise.
//
// It is for tests alone, and makes everything up: nothing of it comes from a device.
package gatetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Repeated is a run of one iteration for each number, its time per frame.
func Repeated(id, session, model string, ms ...float64) run.Run {
	r := Run(id, nil)
	r.Session, r.Context, r.Iterations = session, map[string]string{"model": model}, nil
	for _, v := range ms {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.duration_ms": v}})
	}
	return r
}

// Rising are n times that drift upwards as a phone gets hot, times a factor.
func Rising(n int, factor float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = (8 + 0.4*float64(i) + 0.05*float64(i*7%5)) * factor
	}
	return out
}

// Runs are its arguments.
func Runs(rs ...run.Run) []run.Run { return rs }

// End is the end of an interval, not a number where there is none.
func End(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// Steady is a history of n runs whose frame times waver by a few per cent.
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

// Timed is a run with that time per frame.
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

// Measured are n runs of a phone that have these metrics.
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

// Rounds is a run of n repetitions.
func Rounds(id string, n int, metrics func(i int) map[string]float64) run.Run {
	r := Run(id, nil)
	r.Session, r.Iterations = "s", nil
	for i := range n {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: metrics(i)})
	}
	return r
}

// Policy is a preset's.
func Policy(t *testing.T, preset string) gate.Policy {
	t.Helper()
	p, ok := gate.PolicyOf(preset)
	if !ok {
		t.Fatalf("no preset %q", preset)
	}
	return p
}

// Lenient is the default policy with false alarms of 5 %, for numbers by hand.
func Lenient(t *testing.T) gate.Policy {
	t.Helper()
	p := Policy(t, gate.PresetDefault)
	p.Alpha = 0.05
	return p
}

// Judging is a preset's policy that judges the metrics of these names alone.
func Judging(t *testing.T, preset string, metrics ...string) gate.Policy {
	t.Helper()
	p := Policy(t, preset)
	p.Metrics = metrics
	return p
}

// Frames are the totals of a run: how many, the smooth ratio, the time of each.
func Frames(count, ratio, ms float64) map[string]float64 {
	return map[string]float64{"frames.count": count, "frames.smooth_ratio": ratio, "frames.duration_ms": ms}
}

// Run is a run of one iteration with the given totals and events.
func Run(id string, totals map[string]float64, events ...run.Bucket) run.Run {
	return run.Run{
		Format: run.Format, ID: id, App: run.App{Package: "app"}, Scenario: "s", Status: run.Complete,
		Context: map[string]string{}, Iterations: []run.Iteration{{Metrics: totals, Events: events}},
	}
}

// In is the run in another context.
func In(r run.Run, context map[string]string) run.Run {
	r.Context = context
	return r
}

// Summaries are the runs as a policy sums them up.
func Summaries(p gate.Policy, rs ...run.Run) []run.Summary {
	var out []run.Summary
	for _, r := range rs {
		out = append(out, run.Summarize(r, p.Centre, metric.Default()))
	}
	return out
}

// Hungry is a run of one phone with a time per frame and joules of a source; of
// no source where it is "".
func Hungry(id, source string, ms, joules float64) run.Run {
	context := map[string]string{"model": "a"}
	if source != "" {
		context[metric.EnergyFrom] = source
	}
	return In(Run(id, map[string]float64{"frames.duration_ms": ms, "energy.total_j": joules}), context)
}

// HungryRuns are n that waver by a per cent or two.
func HungryRuns(n int, source string, ms, joules float64) []run.Run {
	var out []run.Run
	for i := range n {
		waver := 1 + 0.01*float64(i%3-1)
		out = append(out, Hungry(fmt.Sprint(source, i), source, ms*waver, joules*waver))
	}
	return out
}

// HungryRounds is a run of a dozen rounds that share their session. Its time per
// frame wavers with the joules, so that those of two builds are not the same.
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

// On are runs with a number each, of a phone, named by phone and place.
func On(model, metricName string, values ...float64) []run.Run {
	var out []run.Run
	for i, v := range values {
		out = append(out, In(Run(fmt.Sprint(model, i), map[string]float64{metricName: v}), Phone(model)))
	}
	return out
}

// Nearly is a run of a phone with a number.
func Nearly(model, metricName string, value float64) run.Run {
	return In(Run("new", map[string]float64{metricName: value}), Phone(model))
}

// Phone is a context that differs from those of other phones in two properties.
func Phone(model string) map[string]string {
	return map[string]string{"model": model, "screen": "of " + model, "sdk": "34"}
}

// Overruns is the catalogue with the time beyond the deadline as users have it judged,
// and the policy that does.
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
