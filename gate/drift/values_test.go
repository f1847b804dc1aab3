package drift

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

// on returns a run of a phone on a day of January; day 0 has no time.
func on(phone, day int, ms float64, events ...run.Bucket) run.Run {
	r := gatetest.Run(fmt.Sprint(phone, ".", day, ".", ms), map[string]float64{"frames.duration_ms": ms}, events...)
	if r.Started = time.Date(2026, 1, day, 3, 0, 0, 0, time.UTC); day == 0 {
		r.Started = time.Time{}
	}
	return gatetest.In(r, map[string]string{"model": fmt.Sprint("phone ", phone)})
}

// Eight phones whose levels lie far apart, measured once before and once now: each is 8 to 12 %
// slower. Of the 36 means of two of their logarithms the fourth from either end bounds the shift,
// by the table of the signed rank test for eight.
func TestPhonesMeasuredOnceEach(t *testing.T) {
	var before, now []run.Run
	for phone, by := range []float64{0.08, 0.09, 0.1, 0.11, 0.12, 0.1, 0.09, 0.11} {
		level := 8 * math.Pow(2, float64(phone))
		before, now = append(before, on(phone, 1, level)), append(now, on(phone, 2, level*(1+by)))
	}
	// A phone that was never measured before is compared with nothing.
	now = append(now, on(8, 2, 5000))
	line := Of(gatetest.Lenient(t), metric.Default(), now, before, before)[0]
	for name, s := range map[string]*Shift{"since the last": line.SinceLast, "since all": line.SinceAll} {
		if s == nil || s.Runs != 8 || math.Abs(s.Change-0.1) > 0.005 || s.Low == nil || math.Abs(math.Log1p(*s.Low)-(math.Log(1.08)+math.Log(1.1))/2) > 1e-6 || math.Abs(*s.High-0.11) > 1e-6 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// One run now and six of the same phone before: the standard error comes from the variation of
// single runs, not from ranks, which show nothing about one run. The median of the six is 8 and
// their standard deviation of logarithms 0.05.
func TestOneRunAgainstMany(t *testing.T) {
	var before []run.Run
	for i, off := range []float64{-0.06, 0.06, -0.04, 0.04, 0.03, -0.03} {
		before = append(before, on(0, 1+i, 8*math.Exp(off)))
	}
	const reach = 2.5706 * 0.04940 * 1.0801                                                                         // t with five degrees of freedom, √(1 + 1/6)
	line := Of(gatetest.Lenient(t), metric.Default(), []run.Run{on(0, 9, 8*1.2), on(1, 9, 500)}, before, before)[0] // phone 1 is new
	s := line.SinceAll
	if s == nil || s.Low == nil || math.Abs(s.Change-0.2) > 1e-6 || math.Abs(math.Log1p(*s.Low)-(math.Log(1.2)-reach)) > 1e-4 || math.Abs(math.Log1p(*s.High)-(math.Log(1.2)+reach)) > 1e-4 {
		t.Errorf("%+v, want 20 %% ± %.4f on logarithms", s, reach)
	}
	// Two runs now are compared by ranks: of 6 with 2 the least p is 1/28, which gives no interval
	// at 5 %.
	two := Of(gatetest.Lenient(t), metric.Default(), []run.Run{on(0, 9, 8*1.2), on(0, 10, 8*1.2)}, before, before)[0]
	if s := two.SinceAll; s == nil || math.Abs(s.Change-0.2) > 0.07 || s.Low != nil {
		t.Errorf("%+v of two runs", s)
	}
}

// A run without a time is left out of the trend, but compared.
func TestRunsWithoutATime(t *testing.T) {
	var before []run.Run
	for i := range 6 {
		before = append(before, on(0, 0, 8+float64(i)/100))
	}
	line := Of(gatetest.Lenient(t), metric.Default(), []run.Run{on(0, 9, 9)}, nil, before)[0]
	if line.Creep != nil || line.P != 1 || line.SinceAll == nil || line.SinceAll.Runs != 6 {
		t.Errorf("%+v, want no trend, and six runs before", line)
	}
}

// Drift is reported for the judged metrics of the whole run: for no event, and for no metric that
// is only shown.
func TestMetricsOfDrift(t *testing.T) {
	tap := run.Bucket{Name: "tap", Metrics: map[string]float64{"frames.duration_ms": 9}}
	with := func(day int) run.Run {
		r := on(0, day, 8, tap)
		r.Iterations[0].Metrics["apk.size_bytes"] = 1000 // judged on request only
		return r
	}
	lines := Of(gatetest.Lenient(t), metric.Default(), []run.Run{with(3)}, nil, []run.Run{with(1), with(2)})
	if len(lines) != 1 || lines[0].Metric != "frames.duration_ms" || lines[0].Direction != gate.None {
		t.Errorf("%+v", lines)
	}
}
