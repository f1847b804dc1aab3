package contexts

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// The prior of docs/design/contexts.md is how much real phones differ: between phones at one version of the
// toolkit that draws, and between its versions on one phone, as standard deviations of the
// logarithm of the mean time per frame.
func TestPriorOfContexts(t *testing.T) {
	files, err := filepath.Glob("../../../../shared/corpus/macrobenchmark/compose_versions/compose_*.json")
	if err != nil || len(files) == 0 {
		t.Skip("the corpus is not here")
	}
	type cell struct{ of, benchmark string }
	byVersion, byPhone := map[cell][]float64{}, map[cell][]float64{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var report struct {
			Context    struct{ Build struct{ Model string } }
			Benchmarks []struct {
				Name, ClassName string
				SampledMetrics  struct{ FrameCPUTimeMs struct{ Runs [][]float64 } }
			}
		}
		if err := json.Unmarshal(text, &report); err != nil {
			t.Fatal(err)
		}
		version := strings.Split(filepath.Base(file), "_")[1]
		for _, b := range report.Benchmarks {
			mean := 0.0
			runs := b.SampledMetrics.FrameCPUTimeMs.Runs
			for _, r := range runs {
				mean += stat.Mean(r, nil) / float64(len(runs))
			}
			v, p := cell{version, b.ClassName + b.Name}, cell{report.Context.Build.Model, b.ClassName + b.Name}
			byVersion[v], byPhone[p] = append(byVersion[v], math.Log(mean)), append(byPhone[p], math.Log(mean))
		}
	}
	largest := func(of map[cell][]float64) float64 {
		sums, counts, most := map[string]float64{}, map[string]float64{}, 0.0
		for c, levels := range of {
			if len(levels) > 1 {
				sums[c.of], counts[c.of] = sums[c.of]+stat.Variance(levels, nil), counts[c.of]+1
			}
		}
		for name, sum := range sums {
			most = max(most, math.Sqrt(2*sum/counts[name]))
		}
		return most
	}
	if got := largest(byVersion); math.Abs(got-0.57) > 0.01 {
		t.Errorf("two phones differ by %.3f, want 0.57", got)
	}
	if got := largest(byPhone); math.Abs(got-0.15) > 0.01 {
		t.Errorf("two versions on one phone differ by %.3f, want 0.15", got)
	}
}
