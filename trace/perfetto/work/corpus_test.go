package work_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/apkgate/apkgate/internal/corpustest"
)

// benchmarks is the counts in the output of Macrobenchmark and Microbenchmark.
type benchmarks struct {
	Context    struct{ Build struct{ Model string } }
	Benchmarks []struct {
		SampledMetrics struct{ FrameCPUTimeMs struct{ Runs [][]float64 } }
		Metrics        struct{ AllocationCount, TimeNs struct{ Runs []float64 } }
	}
}

func readBenchmarks(t *testing.T, pattern string) (out []benchmarks) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpustest.Path(t, "macrobenchmark"), pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file %s: %v", pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var b benchmarks
		if err := json.Unmarshal(text, &b); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, b)
	}
	return out
}

// row is a row of docs/evaluation/long-series.md: the relative differences of counts and times
// between like repetitions, the median and the 90th percentile.
func row(label string, counts, times []float64) string {
	at := func(values []float64, p float64) string {
		return fmt.Sprintf("%.2g %%", 100*stat.Quantile(p, stat.Empirical, slices.Sorted(slices.Values(values)), nil))
	}
	return fmt.Sprintf("| %s | %d | %s, %s | %s, %s |", label, len(counts), at(counts, 0.5), at(counts, 0.9), at(times, 0.5), at(times, 0.9))
}

// The table of docs/evaluation/long-series.md: how much counts vary between repetitions of one
// build on one phone, compared with the times of the same repetitions.
func TestHowMuchCountsWaver(t *testing.T) {
	apart := func(a, b float64) float64 { return math.Abs(math.Log(a / b)) }
	counts, times := map[string][]float64{}, map[string][]float64{}
	for _, file := range readBenchmarks(t, "compose_versions/compose_*.json") {
		model := file.Context.Build.Model
		for _, b := range file.Benchmarks {
			if r := b.SampledMetrics.FrameCPUTimeMs.Runs; len(r) == 2 {
				counts[model] = append(counts[model], apart(float64(len(r[0])), float64(len(r[1]))))
				times[model] = append(times[model], apart(stat.Mean(r[0], nil), stat.Mean(r[1], nil)))
			}
		}
	}
	var rows []string
	for model := range counts {
		rows = append(rows, row("frames drawn, "+model, counts[model], times[model]))
	}
	var allocations, took []float64
	for _, file := range readBenchmarks(t, "kxserialization_*.json") {
		for _, b := range file.Benchmarks {
			a, ns := b.Metrics.AllocationCount.Runs, b.Metrics.TimeNs.Runs
			allocations = append(allocations, stat.StdDev(a, nil)/stat.Mean(a, nil))
			took = append(took, stat.StdDev(ns, nil)/stat.Mean(ns, nil))
		}
	}
	rows = append(rows, row("allocations, SM-A145R", allocations, took))
	text, err := os.ReadFile("../../../docs/evaluation/long-series.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !strings.Contains(string(text), r+"\n") {
			t.Errorf("docs/evaluation/long-series.md lacks the row\n%s", r)
		}
	}
}
