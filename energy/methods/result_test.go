package methods_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// Five iterations of 10, 20, 30, 40 and 50 ms: the mean is 30 ms, the variance between them 250,
// that of the mean 50, and relative to 30² 1/18. For 4 degrees of freedom t is 2.776. The score
// interval of a scaled count is 30·(1 + k/2 ± √(k + k²/4)) with k = t²/18 = 0.4282: 15.8 to 57.1.
func TestIntervalOfIterations(t *testing.T) {
	t.Parallel()
	var traces []methods.Trace
	for n := range 5 {
		traces = append(traces, steady(n+1))
	}
	r := attribute(t, methods.Options{Measured: true}, traces...)
	if r.Basis != methods.Iterations || r.Batches != 5 {
		t.Fatalf("intervals come from %d %s", r.Batches, r.Basis)
	}
	if got := r.CPUMS; got.Value != 30 || math.Abs(got.Low-15.77) > 0.02 || math.Abs(got.High-57.08) > 0.02 {
		t.Errorf("CPU time %+v, want 30 within 15.77 to 57.08", got)
	}
	// 2 W throughout: the same in joules.
	if got := r.EnergyJ; math.Abs(got.Low-0.03154) > 4e-5 || math.Abs(got.High-0.11416) > 4e-5 {
		t.Errorf("energy %+v, want 0.06 within 0.03154 to 0.11416", got)
	}
	// The one method is all there is: its share is certain, its energy no more certain than the
	// total.
	a := find(t, r, "a").Local
	if a.Share.Value != 1 || a.Share.High != 1 || a.EnergyJ.Low > 0.04 || a.EnergyJ.High < 0.09 {
		t.Errorf("share %+v, energy %+v", a.Share, a.EnergyJ)
	}
}

// If all iterations are alike, the intervals have no width.
func TestIntervalOfEqualIterations(t *testing.T) {
	t.Parallel()
	one := traced("ab", "a", "b", "b", "b")
	b := find(t, attribute(t, methods.Options{}, one, one, one, one, one), "b").Local
	for what, e := range map[string]methods.Estimate{"share": b.Share, "time": b.CPUMS, "power": b.PowerW, "energy": b.EnergyJ} {
		if !e.Bounded() || e.High-e.Low > 1e-6*e.Value {
			t.Errorf("%s %+v, want an interval of no width", what, e)
		}
	}
}

// A method that always takes the same time, and one that comes and goes: the iterations distinguish
// them.
func TestSteadyMethodsHaveNarrowIntervals(t *testing.T) {
	t.Parallel()
	var traces []methods.Trace
	for n := range 10 {
		var chains []string
		for i := range 100 + 20*(n%2) {
			if i < 50 {
				chains = append(chains, "a")
			} else {
				chains = append(chains, "b")
			}
		}
		traces = append(traces, traced("ab", chains...))
	}
	r := attribute(t, methods.Options{}, traces...)
	width := func(name string) float64 {
		e := find(t, r, name).Local.EnergyJ
		return (e.High - e.Low) / e.Value
	}
	if a, b := width("a"), width("b"); a > b/1.5 {
		t.Errorf("the interval of the steady method is %.3f wide, that of the other %.3f", a, b)
	}
}

// The record has the methods and the calls with the most energy.
func TestRecordIsBounded(t *testing.T) {
	t.Parallel()
	const count = run.MaxMethods + 200
	tr := methods.Trace{Event: "task-clock", Hz: 100, Threads: []methods.Thread{{PID: 7, TID: 7}}}
	at := time.Duration(0)
	tr.Frames = []methods.Frame{{Name: "main"}}
	for i := range count {
		tr.Frames = append(tr.Frames, methods.Frame{Name: fmt.Sprintf("m%04d", i), Kind: simpleperf.Native})
		for range 1 + 50*(i%100/99) { // every hundredth takes 51 times as much
			tr.Samples = append(tr.Samples, methods.Sample{Time: at, Period: 10 * ms, Watts: 1, Chain: []int{i + 1, 0}})
			at += 10 * ms
		}
	}
	r := attribute(t, methods.Options{}, tr)
	recordable(t, r)
	rec := r.Record()
	if len(r.Methods) != count+1 || len(rec.List) != run.MaxMethods {
		t.Errorf("%d methods of which %d are recorded", len(r.Methods), len(rec.List))
	}
	if rec.List[0].Name != "main" || rec.List[0].NonLocal.Samples != len(tr.Samples) || rec.List[1].Name != "m0099" {
		t.Errorf("the first are %+v and %+v", rec.List[0], rec.List[1])
	}
	// 0.1 % of 10.5 J is more than one sample's 10 mJ: main and seven others remain.
	if len(rec.Calls) != 8 || rec.Calls[0].Parent != -1 || rec.Calls[0].Name != "main" {
		t.Fatalf("%d calls: %+v", len(rec.Calls), rec.Calls)
	}
	for _, c := range rec.Calls[1:] {
		if c.Parent != 0 || math.Abs(c.EnergyJ-0.51) > 1e-9 {
			t.Errorf("call %+v, want 0.51 J below main", c)
		}
	}
}

// FuzzAttribute uses bytes as a recording's samples and checks what must hold for any recording.
func FuzzAttribute(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint64(1e6), 0.95)
	f.Add([]byte("\x00\x01\x81\x02\xff\x10\x22\x83\x04\x45"), uint64(math.MaxUint64), 0.5)
	f.Fuzz(func(t *testing.T, data []byte, period uint64, level float64) {
		p := &simpleperf.Profile{
			Clock:   "monotonic",
			Events:  []simpleperf.Event{{Name: "task-clock"}, {Name: "cpu-cycles"}},
			Threads: []simpleperf.Thread{{PID: 1, TID: 1}, {PID: 1, TID: 2}},
		}
		for i := range 16 {
			p.Frames = append(p.Frames, simpleperf.Frame{Symbol: string(data[:min(i, len(data))])})
		}
		at := uint64(0)
		for i := 0; i+1 < len(data); i += 2 {
			at += uint64(data[i]) << (data[i+1] % 56)
			s := simpleperf.Sample{Time: time.Duration(min(at, math.MaxInt64)), Thread: int(data[i] % 2), Event: int(data[0] % 2), Period: period >> (data[i] % 64)}
			for j := range int(data[i+1] % 5) {
				s.Chain = append(s.Chain, uint32(data[i]>>j)%16)
			}
			p.Samples = append(p.Samples, s)
		}
		tr := methods.Of(p, oneWatt(), nil, methods.Pick{})
		r, err := methods.Attribute([]methods.Trace{tr, tr, tr, tr, tr, tr}[:1+len(data)%6], methods.Options{Level: level})
		if err != nil {
			return
		}
		recordable(t, r)
		for _, m := range r.Methods {
			for _, e := range []methods.Estimate{m.Local.Share, m.Local.CPUMS, m.Local.PowerW, m.Local.EnergyJ, m.NonLocal.EnergyJ} {
				if e.Bounded() && !(e.Low <= e.Value*(1+1e-9) && e.Value <= e.High*(1+1e-9)) {
					t.Errorf("%s: %+v is outside of its interval", m.Name, e)
				}
			}
		}
	})
}
