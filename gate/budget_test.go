package gate

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Two builds' repetitions, and one and a half set-ups.
func TestRoundDuration(t *testing.T) {
	b := Budget{Durations: map[string]RoundDurations{"": {SetUp: 1, Repetition: 0.5}, "start": {SetUp: 2, Repetition: 0.1}}}
	if got := b.DurationsOf("scroll").Round(3); got != 4.5 {
		t.Errorf("%g minutes, want 4.5", got)
	}
	if got := b.DurationsOf("start").Round(1); math.Abs(got-3.2) > 1e-9 {
		t.Errorf("%g minutes, want 3.2", got)
	}
}

// A few numbers decide, and those that are listed, declared or have a threshold.
func TestPolicyDecides(t *testing.T) {
	p, _ := PolicyOf(PresetDefault)
	least := 0.05
	named, thresholds := p, p
	named.Metrics = []string{"cpu.time_ms"}
	thresholds.Thresholds = []Threshold{{Metric: "cpu.time_ms", MinChange: &least}, {Metric: "frames.duration_ms", Event: "tap", MinChange: &least}}
	for name, c := range map[string]struct {
		p      Policy
		metric string
		want   bool
	}{
		"time per frame":            {p, "frames.duration_ms", true},
		"CPU time":                  {p, "cpu.time_ms", false},
		"CPU time by name":          {named, "cpu.time_ms", true},
		"CPU time by a threshold":   {thresholds, "cpu.time_ms", true},
		"the 95th percentile":       {p, "frames.duration_ms.p95", true},
		"a detail of what decides":  {p, "frames.duration_ms.p90", true}, // in place of its summary
		"a detail of what does not": {p, "memory.peak_rss_kb", false},
		"what the catalogue lacks":  {p, "search.ms", true},
	} {
		if got := c.p.Decides(run.Cell{Metric: c.metric}, metric.Default()); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if p.Named("tap", "frames.duration_ms") || !thresholds.Named("tap", "frames.duration_ms") {
		t.Error("an event is named by its threshold")
	}
}

// 10 % of a mean is a factor of 1.1, of a tail 1.1 squared, of shares 1.5 times the bad frames.
func TestDescribeWorsening(t *testing.T) {
	for name, want := range map[string]string{
		"frames.duration_ms": "got worse by 10 %", "frames.duration_ms.p95": "got worse by 21 %",
		"frames.smooth_ratio": "got worse, to 1.5 times as many bad frames", "anr.count": "became more frequent",
	} {
		m, _ := metric.Default().Lookup(name)
		if got := GotWorse(m, 0.1); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := GotWorse(metric.Metric{Ratio: true}, 0.1); got != "got worse by 10 points" {
		t.Errorf("a ratio: %q", got)
	}
	smooth, _ := metric.Default().Lookup("frames.smooth_ratio")
	// With half a percentage point added to either share, 50.5 to 50.5 becomes 40.4 to 60.6.
	if amount, share := Change(smooth, 0.5, -math.Log(1.5), metric.Odds); math.Abs(amount+0.101) > 1e-9 || math.Abs(share+0.202) > 1e-9 {
		t.Errorf("from 1 to 1, to 1.5 to 1: %g, %g; want -0.101 and -0.202", amount, share)
	}
}
