package history

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// declared returns a run of three repetitions of a number that the app itself counts.
func declared(id string, better string, scale run.Scale, value float64) run.Run {
	totals := map[string]float64{"db.queries": value}
	r := gatetest.In(gatetest.Run(id, totals), gatetest.Phone("a"))
	r.Iterations = []run.Iteration{{Metrics: totals}, {Metrics: totals}, {Metrics: totals}}
	r.Declared = []run.Declared{{Name: "db.queries", Better: better, Scale: scale}}
	return r
}

// checkDeclared checks one run against five, and encodes the verdict.
func checkDeclared(t *testing.T, better string, scale run.Scale, was, is float64) gate.RunVerdict {
	t.Helper()
	p := gatetest.Policy(t, gate.PresetDefault)
	now := declared("new", better, scale, is)
	catalogue, err := run.Catalogue(metric.Default(), now)
	if err != nil {
		t.Fatal(err)
	}
	var history []run.Summary
	for i := range 5 {
		history = append(history, run.Summarize(declared(fmt.Sprint("h", i), better, scale, was), p.Centre, catalogue))
	}
	v := Check(p, metric.Default(), []Subject{{Run: now, References: history}})
	if _, err := json.Marshal(v); err != nil {
		t.Errorf("from %g to %g: %v", was, is, err)
	}
	return v.Runs[0]
}

// An app's own count states no resolution. Where it was always zero, zero is unchanged; one is
// worse, but not a proof by the history alone.
func TestDeclaredCountOfZero(t *testing.T) {
	for _, c := range []struct {
		better  string
		was, is float64
		want    gate.Outcome
	}{
		{"lower", 0, 0, gate.Pass}, {"lower", 0, 1, gate.Inconclusive}, {"lower", 10, 10, gate.Pass}, {"lower", 10, 20, gate.Regression},
		{"higher", 0, 0, gate.Pass}, {"higher", 10, 0, gate.Regression}, {"higher", -1, -1, gate.Pass},
	} {
		for _, scale := range []run.Scale{run.Linear, run.Log} {
			v := checkDeclared(t, c.better, scale, c.was, c.is)
			if v.Verdict != c.want {
				t.Errorf("%s is better, %s: from %g to %g: %s: %s, want %s", c.better, scale, c.was, c.is, v.Verdict, v.Reason, c.want)
			}
			if perhaps := c.want == gate.Inconclusive; (v.Comparisons[0].Direction == gate.Suspect) != perhaps {
				t.Errorf("from %g to %g: %s", c.was, c.is, v.Comparisons[0].Direction)
			}
		}
	}
}

// The greatest number that a record can hold is encoded like any other.
func TestHugeNumbersAreEncoded(t *testing.T) {
	const huge = 1.7e308
	for _, scale := range []run.Scale{run.Linear, run.Log} {
		for _, is := range []float64{1, huge} {
			checkDeclared(t, "lower", scale, huge, is)
			checkDeclared(t, "lower", scale, is, huge)
		}
	}
}
