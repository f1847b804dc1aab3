package layout_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

// One benchmark in three compilation modes, by the names of androidx's own samples: each is
// compared with the one without compilation, whatever the order in the file. Another start mode is
// another benchmark.
func TestCompilationModesAreCompared(t *testing.T) {
	t.Parallel()
	r := run.Run{ID: "R"}
	for i := range 3 {
		d := float64(i)
		var it run.Iteration
		for name, ms := range map[string]float64{
			"startup[startup=COLD,compilation=Partial(baselineProfile=Require,iterations=0)]": 300,
			"startup[startup=COLD,compilation=None]":                                          400,
			"startup[startup=WARM,compilation=None]":                                          90,
			"plain":                                                                           70,
		} {
			it.Events = append(it.Events, run.Bucket{Name: name, Metrics: map[string]float64{"startup.ttid_ms": ms + d}})
		}
		r.Iterations = append(r.Iterations, it)
	}
	d := layout.Verdict(layout.Input{Verdict: gate.Verdict{Verdict: gate.Pass, Runs: []gate.RunVerdict{{ID: "R"}}}, Runs: []run.Run{r}})
	at := slices.IndexFunc(d.Sections, func(s document.Section) bool { return s.ID == "modes" })
	var got [][]string
	for _, row := range d.Sections[at].Body.(*document.Table).Rows {
		got = append(got, row.Cells[1:])
	}
	want := [][]string{{"None", "401.0\u00a0ms", "–"}, {"Partial(baselineProfile=Require,iterations=0)", "301.0\u00a0ms", "−25\u00a0%"}}
	if len(got) != 2 || !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
		t.Errorf("%q, want %q", got, want)
	}
}

// No compilation comes first, by either name of it; a truncated name has no parameters, a mode that
// is the only one with a metric is not compared, and with several runs each row names its own.
func TestCompilationModesOfNames(t *testing.T) {
	t.Parallel()
	bucket := func(name string, metrics map[string]float64) run.Bucket {
		return run.Bucket{Name: name, Metrics: metrics}
	}
	it := run.Iteration{Events: []run.Bucket{
		bucket("open[compilation=Full]", map[string]float64{"startup.ttid_ms": 300, "startup.ttfd_ms": 900}),
		bucket("open[compilation=None()]", map[string]float64{"startup.ttid_ms": 400}),
		bucket("open[compilation=Partial", map[string]float64{"startup.ttid_ms": 350}),
	}}
	runs := []run.Run{{ID: "R", Iterations: []run.Iteration{it}}, {ID: "S", Iterations: []run.Iteration{it}}}
	v := gate.Verdict{Verdict: gate.Pass, Runs: []gate.RunVerdict{{ID: "R", Context: map[string]string{"model": "A"}}, {ID: "S", Context: map[string]string{"model": "B"}}}}
	d := layout.Verdict(layout.Input{Verdict: v, Runs: runs})
	at := slices.IndexFunc(d.Sections, func(s document.Section) bool { return s.ID == "modes" })
	var got []string
	for _, row := range d.Sections[at].Body.(*document.Table).Rows {
		got = append(got, strings.ReplaceAll(strings.Join(row.Cells, " | "), "\u00a0", " "))
	}
	want := []string{
		"A, open: time to initial display | None() | 400.0 ms | –", "A, open: time to initial display | Full | 300.0 ms | −25 %",
		"B, open: time to initial display | None() | 400.0 ms | –", "B, open: time to initial display | Full | 300.0 ms | −25 %",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
