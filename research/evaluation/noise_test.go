package evaluation_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// saved writes runs to a file as a user has them.
func saved(t *testing.T, name string, runs ...run.Run) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	var lines []string
	for _, r := range runs {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// twoSources are accepted runs of a phone that was measured by its rails twenty times and then,
// after an update removed them, by its battery six times: twice the joules of the same work, since
// the battery also feeds what no rail measures.
func twoSources() []run.Run {
	var out []run.Run
	for i := range 26 {
		source, joules := "rails", 30.0
		if i >= 20 {
			source, joules = "battery", 60.0
		}
		waver := 1 + 0.01*float64(i%3-1)
		r := energyRun(fmt.Sprint(source, i), fmt.Sprint("night ", i), []float64{joules * waver, joules * waver})
		r.Context[metric.EnergyFrom] = source
		r.Started = time.Date(2026, 1, 1+i, 3, 0, 0, 0, time.UTC)
		for k := range r.Iterations {
			r.Iterations[k].Metrics["frames.duration_ms"] = 8 * waver
		}
		out = append(out, r)
	}
	return out
}

// A change of the source is no noise.
func TestNoiseOfTwoSources(t *testing.T) {
	text, _ := command(t, "noise", "--format", "json", "--history", saved(t, "history.jsonl", twoSources()...))
	var noise struct {
		Apps []struct {
			Runs    int
			History struct{ Regressions, Improvements, Inconclusive int } `json:"by_history"`
		}
	}
	if err := json.Unmarshal([]byte(text), &noise); err != nil {
		t.Fatal(err)
	}
	if len(noise.Apps) != 1 {
		t.Fatalf("%s\nwant one app", text)
	}
	if a := noise.Apps[0]; a.Runs != 26 || a.History.Regressions+a.History.Improvements+a.History.Inconclusive != 0 {
		t.Errorf("%+v, want 26 runs of which none deviates", a)
	}
}

// The same through a store, as a team has it: imported, checked, and refreshed.
func TestJoulesOfTwoSourcesInAStore(t *testing.T) {
	store := filepath.Join(t.TempDir(), "history.db")
	history := twoSources()
	command(t, "baseline", "import", "--store", store, saved(t, "history.jsonl", history...))
	as := func(id, source string, joules float64) string {
		r := energyRun(id, id, []float64{joules, joules})
		r.Context[metric.EnergyFrom] = source
		r.Started = time.Date(2026, 2, 1, 3, 0, 0, 0, time.UTC)
		for k := range r.Iterations {
			r.Iterations[k].Metrics["frames.duration_ms"] = 8
		}
		return saved(t, id+".jsonl", r)
	}
	for _, c := range []struct {
		id, source string
		joules     float64
		want       gate.Outcome
		n          int
	}{
		{"as the battery says", "battery", 60, gate.Pass, 6},
		{"as the rails say", "rails", 30, gate.Pass, 20},
		{"more by the rails", "rails", 60, gate.Regression, 20},
		{"of a new source", "model reference-phone", 600, gate.Inconclusive, 0},
	} {
		text, _ := command(t, "check", "--store", store, "--format", "json", "--run", as(c.id, c.source, c.joules))
		var v gate.Verdict
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		r := v.Runs[0]
		for _, d := range r.Comparisons {
			if d.Metric == "energy.total_j" && d.N != c.n {
				t.Errorf("%s: compared with %d runs, want %d", c.id, d.N, c.n)
			}
		}
		if v.Verdict != c.want || r.ReferenceTotal != 26 || (c.n == 0) != strings.Contains(r.Reason, "energy has no comparable history") {
			t.Errorf("%s: %s of %d references: %s; want %s of 26", c.id, v.Verdict, r.ReferenceTotal, r.Reason, c.want)
		}
	}
	file := as("next night", "battery", 60)
	text, _ := command(t, "baseline", "refresh", "--store", store, "--format", "json", "--run", file)
	var refresh struct {
		Drift []drift.Line
	}
	if err := json.Unmarshal([]byte(text), &refresh); err != nil {
		t.Fatal(err)
	}
	for _, l := range refresh.Drift {
		if l.Metric == "energy.total_j" && (l.SinceAll == nil || l.SinceAll.Runs != 6 || math.Abs(l.SinceAll.Change) > 0.011) {
			t.Errorf("the drift since all before is %+v, want none from the six of the same source", l.SinceAll)
		}
	}
	if len(refresh.Drift) == 0 {
		t.Errorf("no drift is told: %s", text)
	}
}
