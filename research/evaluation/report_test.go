package evaluation

import (
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/research/evaluation/series"
)

// The interval of Clopper and Pearson: k of n, and what textbooks print of it.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 10, 0, 0.3085}, {10, 10, 0.6915, 1}, {8, 10, 0.4439, 0.9748}, {1, 100, 0.0003, 0.0545}, {0, 0, 0, 1},
	} {
		if low, high := Interval(c.k, c.n); math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

func TestARowCountsItsChecks(t *testing.T) {
	var c counts
	for _, o := range []outcome{
		{failed: true, named: true, repetitions: 43}, {failed: true, repetitions: 23},
		{inconclusive: true, repetitions: 83, unmeasured: true}, {repetitions: 3},
	} {
		c.add(o)
	}
	q := Question{Design: Design{9, 3, 3}, World: Plain, Rule: Apkgate, Shift: 0.1}
	r := c.row(q)
	if r.Checks != 4 || r.Failed != 0.5 || r.Named != 0.25 || r.Inconclusive != 0.25 || r.Repetitions != 38 || r.Metrics != 1 || r.World != "" || r.Rule != "" || r.Design != "9x3-3" {
		t.Errorf("%+v", r)
	}
	var report Report
	report.warn(q, c, 2, 5)
	report.warn(q, c, 2, 5)
	if text := strings.Join(report.Warnings, "\n"); len(report.Warnings) != 2 ||
		!strings.Contains(text, "2 of 5 series are too short") || !strings.Contains(text, "sessions of one repetition give no rounds") {
		t.Errorf("warnings %q, want each once", report.Warnings)
	}
}

func TestDesigns(t *testing.T) {
	if d, err := ParseDesign("18x10-3"); err != nil || d != (Design{18, 10, 3}) || d.String() != "18x10-3" {
		t.Errorf("%v, %v", d, err)
	}
	for _, text := range []string{"", "9x3", "9x3-", "x3-3", "9x3-3 ", "9X3-3", "-1x3-3", "9x0-3", "9x3-0", "1001x3-3", "9x1001-3", "99999x1-1"} {
		if d, err := ParseDesign(text); err == nil {
			t.Errorf("%q is read as %v", text, d)
		} else if !strings.Contains(err.Error(), "want") {
			t.Errorf("%q: %v, want what is allowed", text, err)
		}
	}
}

// The peers' rules by hand. The changes between 100, 102, 101, 104, 103 are 2, .98, 2.97
// and .96 %: halves of .97 and 2.485 %, so that the fence is 2.485 + 3 · 1.515 = 7.03 %
// above the last. The runs' mean is 102 with a standard deviation of 1.5811; the 99th
// percentile of t with four degrees is 3.747, so that the limit is 102 + 3.747 · 1.5811 ·
// √1.2 = 108.49.
func TestPeersRules(t *testing.T) {
	history := [][]float64{{99, 101}, {102}, {101}, {104}, {103}}
	for _, c := range []struct {
		name  string
		rule  func([][]float64, []float64) bool
		fresh []float64
		want  bool
	}{
		{"rustc-perf", rustcPerf, []float64{110.2}, false}, {"rustc-perf", rustcPerf, []float64{110.3}, true},
		{"bencher", bencher, []float64{108.4}, false}, {"bencher", bencher, []float64{108.6}, true},
		// Of nine values three above all of six: p = 1/84 = .012; two of eight: 1/28 = .036.
		{"mann-whitney", mannWhitney, []float64{110, 111, 112}, true},
		{"mann-whitney", mannWhitney, []float64{110, 111}, false},
		{"mann-whitney", mannWhitney, []float64{105, 106, 106.2}, false}, // 4 % is too little
	} {
		if got := c.rule(history, c.fresh); got != c.want {
			t.Errorf("%s of %v: %v, want %v", c.name, c.fresh, got, c.want)
		}
	}
	for _, rule := range []Rule{RustcPerf, Bencher, MannWhitney} {
		q := Question{Design: Design{0, 1, 3}, World: Plain, Rule: rule}
		if o := peer(rule, sceneOf(t, q, flat(1), 0), 0); o.failed || o.repetitions != 3 {
			t.Errorf("%s without any history: %+v", rule, o)
		}
	}
}

func TestWhatCantBeEvaluatedIsRefused(t *testing.T) {
	good := Setup{Series: flat(2), Draws: 10}
	for want, of := range map[string]struct {
		setup     Setup
		questions []Question
	}{
		"draws are 0":     {Setup{Series: flat(2)}, []Question{{World: Plain}}},
		"no design":       {good, nil},
		"metrics are 101": {good, []Question{{Metrics: 101, World: Plain}}},
		"a shift is -1":   {good, []Question{{Shift: -1, World: Plain}}},
		"a shift is NaN":  {good, []Question{{Shift: math.NaN(), World: Plain}}},
		`no world "moon"`: {good, []Question{{World: "moon"}}},
		"and 2 fit":       {good, []Question{{Metrics: 3, World: Plain}}},
		"no series has 2": {Setup{Series: []series.Series{{Name: "s", Values: []float64{1}}}, Draws: 1}, []Question{{World: Plain}}},
	} {
		if err := of.setup.Check(of.questions); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := good.Check([]Question{{Design: Design{9, 3, 3}, World: Plain}}); err != nil {
		t.Error(err)
	}
}
