package sidebyside

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

func TestIntervalHasBothEnds(t *testing.T) {
	for i := range 16 {
		var d Difference
		for k, end := range []**float64{&d.ShiftLow, &d.ShiftHigh, &d.ChangeLow, &d.ChangeHigh} {
			if i&(1<<k) != 0 {
				*end = new(0.1)
			}
		}
		if d.HasInterval() != (i == 15) {
			t.Errorf("ends %04b: %v", i, d.HasInterval())
		}
	}
}

// Samples are measured on the log scale where every value is positive, and rare counts by their
// means.
func TestSamplesByHand(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	anrs, _ := metric.Default().Lookup("anr.count")
	cpu, _ := metric.Default().Lookup("cpu.time_ms")
	for name, c := range map[string]struct {
		m                         metric.Metric
		base, head                []float64
		wantBase, wantHead, shift float64
		interval                  bool
	}{
		"times":               {ms, []float64{8, 8, 8, 8, 8}, []float64{16, 16, 16, 16, 16}, 8, 16, 8, true},
		"times with a zero":   {cpu, []float64{2, 4, 4, 4, 4}, []float64{0, 8, 8, 8, 8}, 4, 8, 4, true},
		"zeros in the base":   {cpu, []float64{0, 0, 0, 0, 0}, []float64{8, 8, 8, 8, 8}, 0, 8, 8, true},
		"what is rare":        {anrs, []float64{0, 0, 0, 0, 1}, []float64{0, 1, 0, 1, 1}, 0.2, 0.6, 0.4, false},
		"too few of anything": {ms, []float64{8, 8}, []float64{16, 16}, 8, 16, 8, false},
	} {
		x := &test{metric: c.m}
		x.measure([]stat.Pair{{X: c.base, Y: c.head}}, 0.05)
		gatetest.About(t, name+": base", x.Base, c.wantBase)
		gatetest.About(t, name+": head", x.Head, c.wantHead)
		gatetest.About(t, name+": shift", x.Shift, c.shift)
		if x.HasInterval() != c.interval || x.N != len(c.base)+len(c.head) {
			t.Errorf("%s: interval %v, of %d", name, x.HasInterval(), x.N)
		}
	}
}

// Two phones with four rounds and two have three in each on average, at least one.
func TestUnitsPerBuild(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	n := func(n int) []float64 { return make([]float64, n) }
	for want, strata := range map[int][]stat.Pair{
		3: {{X: n(4), Y: n(4)}, {X: n(2), Y: n(2)}}, 2: {{X: n(2), Y: n(5)}}, 4: {{X: n(6), Y: n(4)}}, 1: {{X: n(1), Y: n(1)}, {X: n(1), Y: n(0)}},
	} {
		x := &test{metric: ms}
		if x.measure(strata, 0.05); x.perBuild != want || x.contexts != len(strata) {
			t.Errorf("%d of each build in %d contexts, want %d in %d", x.perBuild, x.contexts, want, len(strata))
		}
	}
}

func TestPairing(t *testing.T) {
	units := func(n int) []unit { return make([]unit, n) }
	one := &stratum{baseUnits: units(1), headUnits: units(1)}
	for name, c := range map[string]struct {
		s    scenario
		want bool
	}{
		"rounds":                      {scenario{unit: Round, strata: []*stratum{{baseUnits: units(3), headUnits: units(3)}}}, true},
		"a run on each of two phones": {scenario{unit: Run, strata: []*stratum{one, one}}, true},
		"a run on one phone":          {scenario{unit: Run, strata: []*stratum{one}}, false},
		"several on one of two":       {scenario{unit: Run, strata: []*stratum{one, {baseUnits: units(2), headUnits: units(1)}}}, false},
		"several of the head":         {scenario{unit: Run, strata: []*stratum{one, {baseUnits: units(1), headUnits: units(2)}}}, false},
		"repetitions":                 {scenario{unit: Iteration, strata: []*stratum{one, one}}, false},
	} {
		if got := c.s.paired(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSessionsInWords(t *testing.T) {
	n := func(base, head int) *stratum {
		return &stratum{base: make([]run.Run, base), head: make([]run.Run, head)}
	}
	for name, c := range map[string]struct {
		strata []*stratum
		want   string
	}{
		"one":         {[]*stratum{n(1, 1)}, "one session"},
		"two phones":  {[]*stratum{n(1, 1), n(1, 1)}, "so few sessions"},
		"two of base": {[]*stratum{n(2, 1)}, "so few sessions"},
		"two of head": {[]*stratum{n(1, 2)}, "so few sessions"},
	} {
		if got := sessionsOf(c.strata); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A doubt needs as much as its most demanding comparison; a decision needs nothing.
func TestDoubtNeedsMore(t *testing.T) {
	cell := run.Cell{Metric: "frames.duration_ms"}
	of := func(together, alone gate.Direction) Comparison {
		s := &scenario{tests: []*test{{cell: cell, Direction: together, enough: 8}, {cell: cell, alone: true, Direction: alone, enough: 5}, {cell: run.Cell{Metric: "cpu.time_ms"}, enough: 50}}}
		out, ok := s.comparison(cell)
		if !ok || len(out.Contexts) != 1 {
			t.Errorf("%+v", out)
		}
		return out
	}
	if got := of(gate.Suspect, gate.Suspect); got.Enough != 8 || got.Direction != gate.Suspect {
		t.Errorf("%d for a %s", got.Enough, got.Direction)
	}
	if got := of(gate.Suspect, gate.ToRegression); got.Enough != 0 || got.Direction != gate.ToRegression || got.Together != gate.Suspect {
		t.Errorf("%d for a %s", got.Enough, got.Direction)
	}
}

func TestBuildOfFirstRun(t *testing.T) {
	var runs []run.Run
	for i := range gate.MaxListed + 5 {
		r := gatetest.Run(fmt.Sprint(i), nil)
		r.App.Version, r.Source.Commit = fmt.Sprint("v", i), fmt.Sprint("c", i)
		runs = append(runs, r)
	}
	b := buildOf(runs)
	if b.App.Version != "v0" || b.Source.Commit != "c0" || b.RunTotal != len(runs) || len(b.Runs) != gate.MaxListed || b.Runs[1] != "1" {
		t.Errorf("%+v of %d runs, %d listed", b.App, b.RunTotal, len(b.Runs))
	}
}

// Of five incomplete runs three are reported, the last first.
func TestDescribeLostRuns(t *testing.T) {
	s := &scenario{lost: []string{"a", "b", "c"}}
	if got := s.describeLost(); got != "c; b; a" {
		t.Errorf("%q", got)
	}
	s.lost = append(s.lost, "d", "e")
	if got := s.describeLost(); got != "e; d; c; and 2 more runs" {
		t.Errorf("%q", got)
	}
}

// A pass reports the whole run over all phones, and neither single phones nor events.
func TestPassReportsWholeRun(t *testing.T) {
	of := func(session string) (runs []run.Run) {
		for _, model := range []string{"a", "b"} {
			r := gatetest.Repeated("r"+session+model, model, model, gatetest.Rising(10, 1)...)
			for i := range r.Iterations {
				r.Iterations[i].Events = []run.Bucket{{Name: "tap", Metrics: map[string]float64{"frames.duration_ms": 5}}}
			}
			runs = append(runs, r)
		}
		return runs
	}
	v := compareBoth(t, of("b"), of("h"))
	if got := v.Scenarios[0].Reason; v.Verdict != gate.Pass || strings.Count(got, "time per frame") != 1 || !strings.HasSuffix(got, "worse by at most 0.0 % (time per frame)") {
		t.Errorf("%s: %s", v.Verdict, got)
	}
}

// Rounds that only one build has are left out, and so are those in which only one has the metric.
func TestRoundsOfOneBuild(t *testing.T) {
	base := gatetest.Repeated("b", "s", "a", gatetest.Rising(12, 1)...)
	head := gatetest.Repeated("h", "s", "a", gatetest.Rising(10, 1.2)...)
	delete(head.Iterations[3].Metrics, "frames.duration_ms")
	delete(base.Iterations[4].Metrics, "frames.duration_ms")
	for _, both := range [][2]run.Run{{base, head}, {head, base}} {
		v := compareBoth(t, both[:1], both[1:])
		s := v.Scenarios[0]
		if s.Unit != Round || s.Contexts[0].Base != 10 || s.Contexts[0].Head != 10 || s.Comparisons[0].N != 8 {
			t.Errorf("%s, %+v, %d pairs", s.Unit, s.Contexts[0], s.Comparisons[0].N)
		}
	}
}

// For a context of only one build, the warning names the build, and how it differs.
func TestContextsOfOneBuild(t *testing.T) {
	in := func(id string, context map[string]string) run.Run {
		r := gatetest.Repeated(id, "", "", 8, 8, 8)
		r.Context = context
		return r
	}
	a := map[string]string{"model": "a", "sdk": "34", "screen": "1080p", "compiled": "speed"}
	b := map[string]string{"model": "a", "sdk": "34", "screen": "1080p", "compiled": "verify"}
	other := map[string]string{"model": "b", "sdk": "30", "screen": "1080p", "compiled": "other"}
	v := compareBoth(t, gatetest.Runs(in("1", a)), gatetest.Runs(in("2", b), in("3", other)))
	var told []string
	for _, w := range v.Warnings {
		told = append(told, w.Text)
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(told, func(text string) bool {
			return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
		})
	}
	if v.Verdict != gate.Inconclusive || !has("measured the base build alone", "another value of compiled") || !has("measured the head build alone", "another value of compiled") || has("compiled and") {
		t.Errorf("%s: %q", v.Verdict, told)
	}
	if got := v.Scenarios[0].Reason; !strings.Contains(got, "another value of compiled") {
		t.Errorf("%s", got)
	}
	all := strings.Join(told, "\n")
	if bases, heads := strings.Count(all, "measured the base build alone"), strings.Count(all, "measured the head build alone"); bases != 1 || heads != 2 {
		t.Errorf("%d contexts of the base alone and %d of the head, want one and two: %q", bases, heads, told)
	}
}

// Comparisons are in the order of the events.
func TestEventsInOrder(t *testing.T) {
	of := func(id string) []run.Run {
		r := gatetest.Repeated(id, "s", "a", gatetest.Rising(12, 1)...)
		for i := range r.Iterations {
			for _, event := range []string{"start", "open", "back"} {
				r.Iterations[i].Events = append(r.Iterations[i].Events, run.Bucket{Name: event, Metrics: map[string]float64{"frames.duration_ms": 8}})
			}
		}
		return gatetest.Runs(r)
	}
	var got []string
	for _, d := range compareBoth(t, of("b"), of("h")).Scenarios[0].Comparisons {
		got = append(got, d.Event)
	}
	if want := []string{"", "start", "open", "back"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Metrics that few rounds have are not missing.
func TestMetricOfFewRoundsIsNotLost(t *testing.T) {
	base, head := gatetest.Repeated("b", "s", "a", gatetest.Rising(12, 1)...), gatetest.Repeated("h", "s", "a", gatetest.Rising(12, 1)...)
	for i := range 5 {
		base.Iterations[i].Metrics["cpu.time_ms"] = 100
	}
	if v := compareBoth(t, gatetest.Runs(base), gatetest.Runs(head)); v.Verdict != gate.Pass || len(v.Warnings) != 0 {
		t.Errorf("%s: %s, %v", v.Verdict, v.Reason, v.Warnings)
	}
	for i := range base.Iterations {
		base.Iterations[i].Metrics["cpu.time_ms"] = 100
		base.Iterations[i].Metrics["note.x"] = 100 // not judged
	}
	if v := compareBoth(t, gatetest.Runs(base), gatetest.Runs(head)); v.Verdict != gate.Inconclusive || v.Reason != "CPU time was measured for the base build but not for the head build" {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}
