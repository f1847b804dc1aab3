package methods_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

const ms = time.Millisecond

// traced is a trace of one thread with frames of the given names, sampled every 10 ms. Each sample
// is its chain, the innermost first, as letters: "ba" is b called by a. Power is 2 W in readings of
// 50 ms; a "-" means unknown power.
func traced(names string, chains ...string) methods.Trace {
	t := methods.Trace{Event: "task-clock", Hz: 100, Threads: []methods.Thread{{PID: 7, TID: 7, Name: "main"}}}
	for _, n := range names {
		t.Frames = append(t.Frames, methods.Frame{Name: string(n), File: "base.odex", Kind: simpleperf.AOT})
	}
	for i, chain := range chains {
		at := time.Duration(i) * 10 * ms
		s := methods.Sample{Time: at, Period: 10 * ms, Watts: 2, Reading: int(at / (50 * ms))}
		if strings.HasPrefix(chain, "-") {
			s.Watts, s.Reading = 0, -1
		}
		for _, n := range strings.TrimPrefix(chain, "-") {
			s.Chain = append(s.Chain, strings.IndexRune(names, n))
		}
		t.Samples = append(t.Samples, s)
	}
	return t
}

func attribute(t *testing.T, o methods.Options, traces ...methods.Trace) methods.Result {
	t.Helper()
	r, err := methods.Attribute(traces, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func find(t *testing.T, r methods.Result, name string) methods.Method {
	t.Helper()
	for _, m := range r.Methods {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no method %q among %d", name, len(r.Methods))
	return methods.Method{}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// Ten samples of 10 ms at 2 W: 100 ms and 0.2 J. By equations 3.5 to 3.8, b with
// 4 of them is 0.4 of the time, 40 ms, at 2 W, 0.08 J.
func TestAttributeEquations(t *testing.T) {
	t.Parallel()
	r := attribute(t, methods.Options{}, traced("abc", "a", "ba", "ba", "cba", "ca", "ba", "ba", "a", "ca", "ca"))
	near(t, "all CPU time", r.CPUMS.Value, 100)
	near(t, "all energy", r.EnergyJ.Value, 0.2)
	for _, c := range []struct {
		name            string
		local, nonLocal int
	}{{"a", 2, 8}, {"b", 4, 1}, {"c", 4, 0}} {
		m := find(t, r, c.name)
		for _, x := range []struct {
			kind string
			cost methods.Cost
			n    int
		}{{"local", m.Local, c.local}, {"non-local", m.NonLocal, c.nonLocal}} {
			if x.cost.Samples != x.n {
				t.Errorf("%s has %d %s samples, want %d", c.name, x.cost.Samples, x.kind, x.n)
			}
			n := float64(x.n)
			near(t, c.name+": share "+x.kind, x.cost.Share.Value, n/10)
			near(t, c.name+": time "+x.kind, x.cost.CPUMS.Value, n*10)
			near(t, c.name+": energy "+x.kind, x.cost.EnergyJ.Value, n*0.02)
			if x.n > 0 {
				near(t, c.name+": power "+x.kind, x.cost.PowerW.Value, 2)
			}
		}
	}
	if got := []string{r.Methods[0].Name, r.Methods[1].Name, r.Methods[2].Name}; strings.Join(got, "") != "abc" {
		t.Errorf("ranked %v: with its callees, a takes 0.2 J, b 0.1 J, c 0.08 J", got)
	}
}

// A sample counts once for each method in its chain: locally for the innermost method, however
// often it recurs.
func TestAttributeCountsRecursionOnce(t *testing.T) {
	t.Parallel()
	r := attribute(t, methods.Options{}, traced("ab", "baba", "aaa", "bbab"))
	a, b := find(t, r, "a"), find(t, r, "b")
	for what, n := range map[string][2]int{
		"a local": {a.Local.Samples, 1}, "a non-local": {a.NonLocal.Samples, 2},
		"b local": {b.Local.Samples, 2}, "b non-local": {b.NonLocal.Samples, 0},
	} {
		if n[0] != n[1] {
			t.Errorf("%s: %d samples, want %d", what, n[0], n[1])
		}
	}
}

func TestAttributeMergesFramesOfAMethod(t *testing.T) {
	t.Parallel()
	tr := traced("aba", "a", "b")
	tr.Frames[2].Line = 7 // the same method at another line
	tr.Frames[1].Kind = simpleperf.JIT
	tr.Samples = append(tr.Samples, methods.Sample{Time: 20 * ms, Period: 10 * ms, Chain: []int{2, 1}, Reading: -1})
	r := attribute(t, methods.Options{}, tr)
	if a := find(t, r, "a"); a.Local.Samples != 2 || len(r.Methods) != 2 {
		t.Errorf("a has %d local samples among %d methods, want 2 among 2", a.Local.Samples, len(r.Methods))
	}
	if b := find(t, r, "b"); b.Kind != simpleperf.JIT {
		t.Errorf("b is %s, want jit", b.Kind)
	}
}

// One of b's two samples has no power: b still takes 20 ms at 2 W. c has no power at all: its energy
// is that of 10 ms at the mean power, as in the tree of calls and in pprof's profile; otherwise it
// would seem to take nothing. The uncertainty of that is unknown.
func TestAttributeSamplesWithoutPower(t *testing.T) {
	t.Parallel()
	r := attribute(t, methods.Options{}, traced("abc", "a", "b", "-b", "-c"))
	near(t, "energy of b", find(t, r, "b").Local.EnergyJ.Value, 0.04)
	near(t, "power of b", find(t, r, "b").Local.PowerW.Value, 2)
	c := find(t, r, "c").Local
	near(t, "time of c", c.CPUMS.Value, 10)
	near(t, "energy of c", c.EnergyJ.Value, 0.02)
	near(t, "energy of all", r.EnergyJ.Value, 0.08)
	if c.EnergyJ.Bounded() || c.PowerW != (methods.Estimate{}) {
		t.Errorf("c takes %+v J at %+v W, but no power is known while it ran: want no interval and no power", c.EnergyJ, c.PowerW)
	}
	warned(t, r, "for 50.0 % of the CPU time the power is unknown")
}

// Iterations are averaged: 20 ms and 40 ms of b result in 30 ms.
func TestAttributePerIteration(t *testing.T) {
	t.Parallel()
	r := attribute(t, methods.Options{}, traced("ab", "b", "b", "a"), traced("b", "b", "b", "b", "b"))
	b := find(t, r, "b").Local
	near(t, "time of b", b.CPUMS.Value, 30)
	near(t, "energy of b", b.EnergyJ.Value, 0.06)
	near(t, "all CPU time", r.CPUMS.Value, 35)
	if b.Samples != 6 || r.Samples != 7 {
		t.Errorf("%d samples of b among %d, want 6 among 7", b.Samples, r.Samples)
	}
	if b.Readings != 2 {
		t.Errorf("b has %d readings, want one of each iteration", b.Readings)
	}
}

// Two threads that are always busy share the device's 2 W: 10 s result in 20 J, not 40 J. One alone
// takes all.
func TestAttributeSharesPowerAmongThreads(t *testing.T) {
	t.Parallel()
	tr := traced("ab")
	tr.Threads = append(tr.Threads, methods.Thread{PID: 7, TID: 8, Name: "worker"})
	for at := time.Duration(0); at < 20*time.Second; at += 10 * ms {
		tr.Samples = append(tr.Samples, methods.Sample{Time: at, Period: 10 * ms, Chain: []int{0}, Watts: 2})
		if at < 10*time.Second {
			tr.Samples = append(tr.Samples, methods.Sample{Time: at, Thread: 1, Period: 10 * ms, Chain: []int{1}, Watts: 2})
		}
	}
	r := attribute(t, methods.Options{}, tr)
	near(t, "energy of a", find(t, r, "a").Local.EnergyJ.Value, 10+20)
	near(t, "energy of b", find(t, r, "b").Local.EnergyJ.Value, 10)
	near(t, "power of b", find(t, r, "b").Local.PowerW.Value, 1)
	near(t, "all CPU time", r.CPUMS.Value, 30_000)
}

func TestAttributeTreeOfCalls(t *testing.T) {
	t.Parallel()
	r := attribute(t, methods.Options{}, traced("abc", "a", "ba", "cba", "ca", "cba", "b"))
	got := map[string]float64{}
	for _, c := range r.Calls {
		path := c.Name
		for at := c.Parent; at >= 0; at = r.Calls[at].Parent {
			path = r.Calls[at].Name + path
		}
		got[path] = c.EnergyJ
	}
	want := map[string]float64{"a": 0.1, "ab": 0.06, "abc": 0.04, "ac": 0.02, "b": 0.02}
	for path, joules := range want {
		near(t, "energy of "+path, got[path], joules)
	}
	if len(got) != len(want) {
		t.Errorf("calls %v, want %v", got, want)
	}
}

func TestAttributeErrors(t *testing.T) {
	t.Parallel()
	one := traced("a", "a")
	other := traced("a", "a")
	other.Event = "cpu-clock"
	for _, c := range []struct {
		name   string
		traces []methods.Trace
		o      methods.Options
		want   string
	}{
		{"no trace", nil, methods.Options{}, "there is no trace"},
		{"level", []methods.Trace{one}, methods.Options{Level: 1}, "level of confidence is 1, want more than 0 and less than 1"},
		{"two events", []methods.Trace{one, other}, methods.Options{}, "trace 2 is of the event cpu-clock, an earlier one of task-clock"},
		{"counted", []methods.Trace{one}, methods.Options{CountedCPU: []time.Duration{1, 2}}, "2 counted CPU times and 1 traces"},
	} {
		if _, err := methods.Attribute(c.traces, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
}

func warned(t *testing.T, r methods.Result, want string) {
	t.Helper()
	for _, w := range r.Warnings {
		if strings.Contains(w.Text, want) {
			return
		}
	}
	t.Errorf("no warning has %q: %v", want, r.Warnings)
}
