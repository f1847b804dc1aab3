package methods_test

import (
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/energy/unmix"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// gauged is a trace of 60 s with a sample every 10 ms of CPU time in a thread that works for 30 ms
// and sleeps for 50, of methods "a" and "b" alternately, called by "main", and the readings of a
// gauge that updates every `update`. The device draws 0.4 W asleep, 1.4 W while a runs and 2.4 W
// while b does.
func gauged(update, turn time.Duration) methods.Trace {
	tr := methods.Trace{Event: "task-clock", Hz: 100, Threads: []methods.Thread{{PID: 1, TID: 1}}}
	for _, name := range []string{"main", "a", "b"} {
		tr.Frames = append(tr.Frames, methods.Frame{Name: name, Kind: simpleperf.AOT})
	}
	var readings []energy.Reading
	joules, next := 0.0, update
	for at := time.Duration(0); at < time.Minute; at += 10 * ms {
		watts := 0.4
		// The working part of a second differs from second to second, by a third.
		if works := 30*ms + 20*ms*(at/time.Second%2); at%(80*ms) < works {
			method := 1 + int(at/turn)%2
			watts = 0.4 + float64(method)
			tr.Samples = append(tr.Samples, methods.Sample{Time: at + 10*ms, Period: 10 * ms, Chain: []int{method, 0}})
		}
		joules += watts * 0.01
		if at+10*ms == next {
			readings = append(readings, energy.Reading{Time: next, Watts: joules / update.Seconds()})
			joules, next = 0, next+update
		}
	}
	curve := energy.OfReadings(readings, 0)
	tr.Readings = curve.Readings()
	for i := range tr.Samples {
		s := &tr.Samples[i]
		s.Reading = -1
		if w, reading, ok := curve.At(s.Time); ok {
			s.Watts, s.Reading = w, reading
		}
	}
	return tr
}

func costs(r methods.Result) map[string]methods.Method {
	out := map[string]methods.Method{}
	for _, m := range r.Methods {
		out[m.Name] = m
	}
	return out
}

// In a gauge's mean over a second, half of the energy attributed to a and b is that of sleep.
// Separated, they have their own, and the readings' are reported too.
func TestAttributeSeparatesSleepFromMethods(t *testing.T) {
	t.Parallel()
	tr := gauged(time.Second, 700*ms)
	r := attribute(t, methods.Options{Measured: true}, tr)
	read := attribute(t, methods.Options{Measured: true, AsRead: true}, tr)
	if r.Power != run.PowerSplit || read.Power != "" {
		t.Fatalf("power is %q and as read %q, want %q and none", r.Power, read.Power, run.PowerSplit)
	}
	for name, watts := range map[string]float64{"a": 1.4, "b": 2.4} {
		c, was := costs(r)[name].Local, costs(read)[name].Local
		want := watts * c.CPUMS.Value / 1000
		if math.Abs(c.EnergyJ.Value-want) > 0.08*want || c.EnergyJ.Low > want || want > c.EnergyJ.High {
			t.Errorf("%s took %.2f J (%.2f to %.2f), truly %.2f", name, c.EnergyJ.Value, c.EnergyJ.Low, c.EnergyJ.High, want)
		}
		if math.Abs(c.PowerW.Value-watts) > 0.08*watts || c.PowerW.Low > watts || watts > c.PowerW.High {
			t.Errorf("%s draws %.2f W (%.2f to %.2f), truly %.2f", name, c.PowerW.Value, c.PowerW.Low, c.PowerW.High, watts)
		}
		if c.ReadJ != was.EnergyJ || was.ReadJ != (methods.Estimate{}) || math.Abs(was.EnergyJ.Value-want) < 2*math.Abs(c.EnergyJ.Value-want) {
			t.Errorf("%s took as read %+v, and with the other joules %+v", name, was.EnergyJ, c.ReadJ)
		}
	}
	if r.ReadJ != read.EnergyJ || read.ReadJ != (methods.Estimate{}) {
		t.Errorf("all take %+v as read, and beside the other joules %+v", read.EnergyJ, r.ReadJ)
	}
	for i, c := range r.Calls {
		if math.Abs(c.ReadJ-read.Calls[i].EnergyJ) > 1e-9 || c.ReadJ >= c.EnergyJ {
			t.Errorf("the call of %s takes %.3f J, as read %.3f, want %.3f", c.Name, c.EnergyJ, c.ReadJ, read.Calls[i].EnergyJ)
		}
	}
	m := r.Record()
	if l := m.List[0].Local; m.Power != run.PowerSplit || m.ReadJ != r.ReadJ.Value || l.ReadJ == 0 && m.List[0].NonLocal.ReadJ == 0 || m.Calls[0].ReadJ == 0 {
		t.Errorf("the record has not the joules as read: %+v", m)
	}
	if m := read.Record(); m.Power != "" || m.ReadJ != 0 {
		t.Errorf("as read the record has %q and %g J beside", m.Power, m.ReadJ)
	}
	powers, sum := methods.PowersOf([]methods.Trace{tr}, methods.Options{Measured: true}), 0.0
	for i, s := range tr.Samples {
		sum += powers[0][i] * s.Period.Seconds()
		if s.Reading < 0 && powers[0][i] != 0 {
			t.Errorf("a sample at %v has %.2f W, and nothing was read then", s.Time, powers[0][i])
		}
	}
	if dark := r.EnergyJ.Value - sum; dark < 0 || dark > 0.05*sum {
		t.Errorf("the samples' powers come to %.3f J, all take %.3f", sum, r.EnergyJ.Value)
	}
}

// A method that runs for long at a time has readings of its own, and needs no model; a trace with
// few readings can't be separated.
func TestAttributeWithoutSeparation(t *testing.T) {
	t.Parallel()
	long := methods.Trace{Event: "task-clock", Threads: []methods.Thread{{PID: 1, TID: 1}}, Frames: []methods.Frame{{Name: "a"}, {Name: "b"}}}
	for i := range 6000 {
		at := time.Duration(i) * 10 * ms
		long.Samples = append(long.Samples, methods.Sample{Time: at + 10*ms, Period: 10 * ms, Chain: []int{int(at/(5*time.Second)) % 2}, Watts: 1})
	}
	for i := range 60 {
		long.Readings = append(long.Readings, unmix.Reading{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second, Watts: 1})
	}
	few := gauged(time.Second, 700*ms)
	few.Readings = few.Readings[:5]
	none := gauged(time.Second, 700*ms)
	none.Samples = nil
	modelled := gauged(time.Second, 700*ms)
	for name, c := range map[string]struct {
		trace methods.Trace
		o     methods.Options
	}{
		"5 s at a time": {long, methods.Options{Measured: true}}, "five readings": {few, methods.Options{Measured: true}},
		"no samples": {none, methods.Options{Measured: true}}, "modelled": {modelled, methods.Options{}}, "asked for": {modelled, methods.Options{Measured: true, AsRead: true}},
	} {
		if r := attribute(t, c.o, c.trace); r.Power != "" {
			t.Errorf("%s: power is %q", name, r.Power)
		}
		if p, q := methods.PowersOf([]methods.Trace{c.trace}, c.o)[0], methods.Powers(c.trace); len(p) != len(q) || len(p) > 0 && p[len(p)/2] != q[len(q)/2] {
			t.Errorf("%s: the powers are not those that were read", name)
		}
	}
	for i := range long.Samples { // the same in stretches of 4.9 s
		long.Samples[i].Chain = []int{int(long.Samples[i].Time/(4900*ms)) % 2}
	}
	if r := attribute(t, methods.Options{Measured: true}, long); r.Power == "" {
		t.Error("stretches of fewer than five readings are not separated")
	}
}

// a runs for two samples at a time, b for one, on the first thread; on the second, c runs alone
// without a break. The callees of main run until the thread sleeps.
func TestAttributeStretchMS(t *testing.T) {
	t.Parallel()
	tr := methods.Trace{Event: "task-clock", Hz: 100, Threads: []methods.Thread{{PID: 1, TID: 1}, {PID: 1, TID: 2}}}
	for _, name := range []string{"main", "a", "b", "c"} {
		tr.Frames = append(tr.Frames, methods.Frame{Name: name})
	}
	at := time.Duration(0)
	for range 50 {
		for i, method := range []int{1, 1, 2, 1, 1, 2} {
			at += 10 * ms
			tr.Samples = append(tr.Samples, methods.Sample{Time: at, Period: 10 * ms, Chain: []int{method, 0}, Watts: 1, Reading: i})
			tr.Samples = append(tr.Samples, methods.Sample{Time: at + ms, Period: 10 * ms, Thread: 1, Chain: []int{3}, Watts: 1, Reading: i})
		}
		at += 40 * ms
	}
	for i := range 200 {
		from := time.Duration(i) * 50 * ms
		tr.Readings = append(tr.Readings, unmix.Reading{From: from, To: from + 50*ms, Watts: 1})
	}
	of := costs(attribute(t, methods.Options{Measured: true, AsRead: true}, tr))
	for name, want := range map[string]float64{"a": 20, "b": 10, "c": 60} {
		if got := of[name].Local; math.Abs(got.StretchMS-want) > 1e-9 || got.Blurred != (want < 50) || of[name].Blurred() != (want < 50) {
			t.Errorf("%s runs for %g ms at a time (blurred: %v), want %g beside readings of 50", name, got.StretchMS, got.Blurred, want)
		}
	}
	if main := of["main"]; math.Abs(main.NonLocal.StretchMS-60) > 1e-9 || main.Blurred() || main.Local.StretchMS != 0 {
		t.Errorf("main runs for %g ms at a time, want 60: %+v", main.NonLocal.StretchMS, main)
	}
	for name, m := range costs(attribute(t, methods.Options{}, tr)) {
		if m.Blurred() {
			t.Errorf("%s is blurred, and power was worked out", name)
		}
	}
}
