package methods_test

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
)

// steady is a trace of one method with this many samples.
func steady(samples int) methods.Trace {
	chains := make([]string, samples)
	for i := range chains {
		chains[i] = "a"
	}
	return traced("a", chains...)
}

func TestDoubts(t *testing.T) {
	t.Parallel()
	long := steady(1000) // 10 s of CPU time, 200 readings
	lost := long
	lost.Lost = 250
	slow := steady(1000)
	for i := range slow.Samples {
		slow.Samples[i].Reading = i / 100
	}
	brief := steady(12)
	for i := range 12 {
		brief.Threads = append(brief.Threads, methods.Thread{PID: 7, TID: 100 + i})
		brief.Samples[i].Thread = i + 1
	}
	dark := steady(1000)
	for i := range dark.Samples {
		dark.Samples[i].Reading, dark.Samples[i].Watts = -1, 0
	}
	ofUser := long
	ofUser.Event = "task-clock:u"
	cautioned := long
	cautioned.Warnings = []run.Warning{{Text: "the clock jumped"}}
	for _, c := range []struct {
		name   string
		traces []methods.Trace
		o      methods.Options
		want   string // "": no warning
	}{
		{"nothing wrong", []methods.Trace{long}, methods.Options{Measured: true, CountedCPU: []time.Duration{11 * time.Second}}, ""},
		{"few readings of a model", []methods.Trace{slow}, methods.Options{}, ""},
		{"short-lived threads", []methods.Trace{long}, methods.Options{CountedCPU: []time.Duration{30 * time.Second}}, "the samples stand for 10s of CPU time, the kernel counted 30s: threads that run for less than a period are never sampled; raise sample-hz, which was 100"},
		{"the kernel's part of the time", []methods.Trace{ofUser}, methods.Options{CountedCPU: []time.Duration{19 * time.Second}}, ""},
		{"more than the kernel's part", []methods.Trace{ofUser}, methods.Options{CountedCPU: []time.Duration{30 * time.Second}}, "the kernel counted 30s: task-clock:u leaves out what the kernel does for the app, and threads"},
		{"threads sampled once", []methods.Trace{brief}, methods.Options{}, "12 of 12 threads were sampled only once"},
		{"lost", []methods.Trace{lost}, methods.Options{}, "250 samples were lost (20.0 % of all)"},
		{"slow sensor", []methods.Trace{slow}, methods.Options{Measured: true}, "the power sensor gave 10 readings"},
		{"no power", []methods.Trace{dark}, methods.Options{}, "no power is known at the time of any sample"},
		{"too short", []methods.Trace{steady(100)}, methods.Options{}, "the methods have no intervals"},
		{"never sampled", []methods.Trace{{}}, methods.Options{}, "the app was never sampled"},
		{"the trace's own", []methods.Trace{cautioned, cautioned}, methods.Options{}, "the clock jumped"},
	} {
		r := attribute(t, c.o, c.traces...)
		if c.want == "" {
			if len(r.Warnings) > 0 {
				t.Errorf("%s: %v", c.name, r.Warnings)
			}
			continue
		}
		warned(t, r, c.want)
		for _, w := range r.Warnings[1:] {
			if strings.Contains(w.Text, c.want) {
				t.Errorf("%s: said twice: %v", c.name, r.Warnings)
			}
		}
	}
}

// A sensor with few readings does not show its own spread: shares and times keep their intervals,
// joules have none.
func TestAttributeWithFewReadings(t *testing.T) {
	t.Parallel()
	slow := steady(1000)
	for i := range slow.Samples {
		slow.Samples[i].Chain = []int{0}
		slow.Samples[i].Reading = i / 100
	}
	c := find(t, attribute(t, methods.Options{Measured: true}, slow), "a").Local
	if !c.CPUMS.Bounded() || c.EnergyJ.Bounded() || c.PowerW.Bounded() {
		t.Errorf("time %+v, power %+v, energy %+v", c.CPUMS, c.PowerW, c.EnergyJ)
	}
	if c := find(t, attribute(t, methods.Options{}, slow), "a").Local; !c.EnergyJ.Bounded() {
		t.Errorf("modelled energy %+v has no interval", c.EnergyJ)
	}
}
