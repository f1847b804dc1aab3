package run

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/metric"
)

func repeatedOf(t *testing.T, cell Cell, iterations ...Iteration) Repeated {
	t.Helper()
	s := Summarize(Run{Iterations: iterations}, Median, metric.Default())
	r, ok := s.Repeated(cell)
	if !ok {
		t.Fatalf("the summary tells nothing of the repetitions of %v", cell)
	}
	return r
}

func iterationsOf(name string, values ...float64) (out []Iteration) {
	for _, v := range values {
		out = append(out, Iteration{Metrics: map[string]float64{name: v}})
	}
	return out
}

// Times are judged by their logarithms where all have one; counts as they are.
func TestRepeatedOf(t *testing.T) {
	ln := math.Log
	for name, c := range map[string]struct {
		metric string
		values []float64
		want   Repeated
	}{
		"a time, once":              {"cpu.time_ms", []float64{200}, Repeated{1, ln(200), 0, true}},
		"a time, twice":             {"cpu.time_ms", []float64{100, 400}, Repeated{2, ln(200), ln(4) / math.Sqrt2, true}},
		"one of four far out":       {"cpu.time_ms", []float64{100, 100, 100, 5000}, Repeated{4, ln(100), 0, true}},
		"a time that may be none":   {"cpu.time_ms", []float64{0, 1, 2, 3}, Repeated{4, 1.5, 1.0015, false}},
		"a time below none":         {"cpu.time_ms", []float64{-2, 2}, Repeated{2, 0, math.Sqrt(8), false}},
		"frames":                    {"frames.count", []float64{60, 58}, Repeated{2, 59, math.Sqrt2, false}},
		"an ANR in one of five":     {"anr.count", []float64{0, 0, 1, 0, 0}, Repeated{5, 0.2, math.Sqrt(0.2), false}},
		"none of an unknown metric": {"users.own", []float64{0, 0}, Repeated{2, 0, 0, false}},
	} {
		got := repeatedOf(t, Cell{"", c.metric}, iterationsOf(c.metric, c.values...)...)
		if got.N != c.want.N || got.Log != c.want.Log || math.Abs(got.Centre-c.want.Centre) > 1e-12 || math.Abs(got.SD-c.want.SD) > 1e-6 {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A number derived from buckets is derived from those of each repetition, and a repetition that
// lacks it doesn't count.
func TestRepeatedOfDerivedNumbers(t *testing.T) {
	bucket := func(name string, count, janky float64) Bucket {
		return Bucket{name, map[string]float64{"frames.count": count, "frames.janky": janky}}
	}
	its := []Iteration{
		{Events: []Bucket{bucket("tap", 60, 6), bucket("swipe", 40, 4)}},
		{Events: []Bucket{bucket("tap", 50, 0), bucket("swipe", 50, 20)}},
		{Events: []Bucket{bucket("tap", 100, 10)}},
	}
	for cell, want := range map[Cell]Repeated{
		{"", "frames.count"}:             {3, 100, 0, false},
		{"", "frames.smooth_ratio"}:      {3, 0.875, math.Sqrt(0.01 / 3), false}, // 0.9, 0.8, 0.9
		{"tap", "frames.smooth_ratio"}:   {3, 0.925, math.Sqrt(0.01 / 3), false}, // 0.9, 1, 0.9
		{"swipe", "frames.count"}:        {2, 45, math.Sqrt(50), false},
		{"swipe", "frames.janky"}:        {2, 12, math.Sqrt(128), false},
		{"swipe", "frames.smooth_ratio"}: {2, 0.75, math.Sqrt(0.045), false}, // 0.9, 0.6
	} {
		got := repeatedOf(t, cell, its...)
		if got.N != want.N || got.Log != want.Log || math.Abs(got.Centre-want.Centre) > 1e-12 || math.Abs(got.SD-want.SD) > 1e-6 {
			t.Errorf("%v: %+v, want %+v", cell, got, want)
		}
	}
}

// Both centres of a summary come with the same repetitions, and with the commit.
func TestRepetitionsDoNotDependOnTheCentre(t *testing.T) {
	r := Run{Source: Source{Commit: "c0ffee"}, Iterations: iterationsOf("cpu.time_ms", 100, 110, 400)}
	both := SummarizeBy(r, metric.Default(), Median, Mean)
	cell := Cell{"", "cpu.time_ms"}
	a, _ := both[0].Repeated(cell)
	b, _ := both[1].Repeated(cell)
	if a != b || a.N != 3 || both[0].Commit != "c0ffee" || both[1].Commit != "c0ffee" {
		t.Errorf("%+v and %+v of commits %q and %q", a, b, both[0].Commit, both[1].Commit)
	}
	if _, ok := both[0].Repeated(Cell{"tap", "cpu.time_ms"}); ok {
		t.Error("a cell that is not there has repetitions")
	}
	if _, ok := CellsOf(both[0].Cells.Map()).Repeated(cell); ok {
		t.Error("bare numbers tell of repetitions")
	}
}

// A history can have values that one run's scale does not fit.
func TestRepeatedOn(t *testing.T) {
	for _, c := range []struct {
		is   Repeated
		log  bool
		want Repeated
		ok   bool
	}{
		{Repeated{3, math.Log(200), 0.1, true}, true, Repeated{3, math.Log(200), 0.1, true}, true},
		{Repeated{3, math.Log(200), 0.1, true}, false, Repeated{3, 200, 20, false}, true},
		{Repeated{3, 200, 20, false}, true, Repeated{3, math.Log(200), 0.1, true}, true},
		{Repeated{3, 200, 20, false}, false, Repeated{3, 200, 20, false}, true},
		{Repeated{3, 0, 20, false}, true, Repeated{}, false},
		{Repeated{3, -1, 20, false}, true, Repeated{}, false},
	} {
		got, ok := c.is.On(c.log)
		if ok != c.ok || got.N != c.want.N || got.Log != c.want.Log || math.Abs(got.Centre-c.want.Centre) > 1e-9 || math.Abs(got.SD-c.want.SD) > 1e-9 {
			t.Errorf("%+v on log %t: %+v, %t; want %+v, %t", c.is, c.log, got, ok, c.want, c.ok)
		}
	}
}
