package level

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/internal/corpustest"
)

// Mozilla's four series of Talos and the pushes at which their own detector should alert
// (treeherder, tests/perfalert/test_analyze.py): eight pushes later the present level begins at
// that push, or at the one before.
func TestLevelsOfTalos(t *testing.T) {
	for name, alerts := range map[string][]int64{
		"runs1": {1365019665}, "runs3": {1335293827, 1338839958}, "runs4": {1364922838}, "a11y": {1366197637, 1367799757},
	} {
		pushed, values := talos(t, name)
		for _, alert := range alerts {
			at := slices.Index(pushed, alert)
			got := Present(values[:at+8], 1, math.Abs(values[at])/100)
			if got.Why != Step || got.From < at-1 || got.From > at {
				t.Errorf("%s, alert at push %d: %+v", name, at, got)
			}
		}
	}
}

// talos returns the times of the pushes of a series, and the measured values.
func talos(t *testing.T, name string) (pushed []int64, values []float64) {
	var file struct {
		Runs [][]json.RawMessage `json:"test_runs"`
	}
	read(t, "treeherder_"+name+".json", &file)
	for _, r := range file.Runs {
		var at int64
		var value float64
		if err := json.Unmarshal(r[2], &at); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(r[3], &value); err != nil {
			t.Fatal(err)
		}
		pushed, values = append(pushed, at), append(values, value)
	}
	return pushed, values
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(corpustest.Path(t, "dataset", "changepoint", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// MongoDB's series with which their E-divisive is tested: its statistic is largest at the change
// that they look for first.
func TestLevelsOfMongoDB(t *testing.T) {
	var values, statistic []float64
	read(t, "mongodb_robust_series.json", &values)
	read(t, "mongodb_expected_result_robust_series_proper_division.json", &statistic)
	at := slices.Index(statistic, slices.Max(statistic))
	got := Present(values[:at+12], -1, 200)
	if got.Why != Step || got.From < at-1 || got.From > at+1 {
		t.Errorf("%+v, want a level from %d", got, at)
	}
}

// Otava's example: metric2 falls at its seventh commit, aaa6.
func TestLevelsOfOtava(t *testing.T) {
	metric2 := []float64{10.43, 10.23, 10.29, 10.91, 10.34, 10.69, 9.23, 9.11, 9.13, 9.03}
	for _, worse := range []float64{1, -1} {
		if got := Present(metric2, worse, 0.5); got.From != 6 || got.Why != Step {
			t.Errorf("where %+g is worse: %+v", worse, got)
		}
	}
}
