package evaluation_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// alert is a change that Mozilla's own detector is expected to report, which uses points on both
// sides of it. Apkgate has none after it.
type alert struct {
	push   int64 // Unix time of the first point at the new level
	change float64
	way    gate.Direction
}

// The expected alerts of four series. The changes are those of the medians of
// twelve points on either side, and the spikes the single points that lie 25 %
// above the median of the twenty around them, both worked out apart.
var talos = []struct {
	name   string
	long   bool
	spikes float64
	alerts []alert
}{
	{"runs1", false, 0, []alert{{1365019665, 0.078, gate.ToRegression}}},
	{"runs3", false, 0, []alert{{1335293827, 0.044, gate.ToRegression}, {1338839958, 0.014, gate.ToRegression}}},
	{"a11y", false, 0, []alert{{1366197637, -0.017, gate.ToImprovement}, {1367799757, 0.036, gate.ToRegression}}},
	{"runs4", true, 266, []alert{{1364922838, -0.298, gate.ToImprovement}}},
}

// pushesOf returns the points of one file as runs in the order in which they were pushed, and their
// times.
func pushesOf(t *testing.T, name string) (runs []run.Run, pushed []int64) {
	t.Helper()
	data, err := os.ReadFile(corpustest.Path(t, "dataset", "changepoint", "treeherder_"+name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TestRuns [][]json.RawMessage `json:"test_runs"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for i, point := range file.TestRuns {
		var at int64
		if err := json.Unmarshal(point[2], &at); err != nil {
			t.Fatal(err)
		}
		list := fmt.Sprintf(`[{"name":"talos","unit":"ms","value":%s}]`, point[3])
		result, err := importer.Read(name, []byte(list), importer.Options{Scenario: name, Context: map[string]string{"series": name}})
		if err != nil {
			t.Fatal(err)
		}
		r := result.Runs[0]
		r.ID = fmt.Sprint(name, "-", i) // two pushes may bear the same number
		runs, pushed = append(runs, r), append(pushed, at)
	}
	return runs, pushed
}

// watched is what a team sees that checks each push of a series.
type watched struct {
	points, rebaselined int

	deviations []deviation // the first of each row of them
}

type deviation struct {
	at    int
	way   gate.Direction
	doubt bool // it would be measured in rounds with the push before, and fails nothing yet
}

// newLevel is how many consecutive pushes deviate in the same direction before the team accepts the
// level in place of the old.
const newLevel = 3

// watch checks each push against those accepted before it. A push that fails, or that looks worse
// and would be measured in rounds with the one before, is not accepted, unless it turns out to be
// the third at a new level: then the history starts again with these three.
func watch(p gate.Policy, runs []run.Run) watched {
	catalogue, _ := run.Catalogue(metric.Default(), runs[0])
	w := watched{points: len(runs)}
	var past, row []run.Summary
	way := gate.None
	for i, r := range runs {
		s := run.Summarize(r, p.Centre, catalogue)
		v := history.Check(p, catalogue, []history.Subject{{Run: r, References: past}}).Runs[0]
		now := gate.None
		if len(v.Deviations) > 0 {
			now = v.Deviations[0].Direction
		}
		doubt := now == gate.Suspect
		if doubt {
			now = gate.ToRegression
		}
		if now == gate.None || now != way {
			row = nil
		}
		if now != gate.None && len(row) == 0 {
			w.deviations = append(w.deviations, deviation{i, now, doubt})
		}
		way = now
		if now != gate.None {
			row = append(row, s)
		}
		if now != gate.ToRegression {
			past = append(past, s)
		}
		if len(row) == newLevel {
			past, row, way = row, nil, gate.None
			w.rebaselined++
		}
	}
	return w
}

// found counts the alerts that are detected within five pushes, and the other rows of failures and
// doubts: as far as the alerts are the truth, false alarms and pushes that are measured again for
// nothing.
func (w watched) found(alerts []alert, pushed []int64) (found []bool, falseAlarms, doubts, otherImprovements int) {
	found = make([]bool, len(alerts))
	for _, d := range w.deviations {
		expected := false
		for i, a := range alerts {
			if d.way == a.way && within(pushed, a.push, d.at) {
				found[i], expected = true, true
			}
		}
		switch {
		case expected:
		case d.doubt:
			doubts++
		case d.way == gate.ToRegression:
			falseAlarms++
		default:
			otherImprovements++
		}
	}
	return found, falseAlarms, doubts, otherImprovements
}

// within reports whether push number i is one of the five from the alert's on.
func within(pushed []int64, alert int64, i int) bool {
	for back := range 5 {
		if i-back >= 0 && pushed[i-back] == alert {
			return true
		}
	}
	return false
}

func policies() (names []string, policy map[string]gate.Policy) {
	plain, _ := gate.PolicyOf(gate.PresetDefault)
	dune, _ := gate.PolicyOf(gate.PresetDune)
	dune.Metrics = []string{"talos"}
	return []string{"default", "dune"}, map[string]gate.Policy{"default": plain, "dune": dune}
}

// Mozilla's own detector expects these alerts. The default has to find those that are large enough
// to matter to it, and must not fail a build for others.
func TestTalos(t *testing.T) {
	names, policy := policies()
	for _, s := range talos {
		if s.long && os.Getenv("APKGATE_EVALUATION") != "full" {
			t.Logf("%s has thousands of points and is left out: set APKGATE_EVALUATION=full", s.name)
			continue
		}
		runs, pushed := pushesOf(t, s.name)
		for _, name := range names {
			w := watch(policy[name], runs)
			found, falseAlarms, doubts, better := w.found(s.alerts, pushed)
			t.Logf("%-5s %-24s %4d points, alerts found %v, %3d false alarms (%.1f in 100), %d to be measured again (%.1f in 100), %2d other improvements, %d new levels",
				s.name, name, w.points, found, falseAlarms, 100*float64(falseAlarms)/float64(w.points), doubts, 100*float64(doubts)/float64(w.points), better, w.rebaselined)
			for i, a := range s.alerts {
				if large := math.Abs(a.change) > policy[name].MinChange; found[i] != large {
					t.Errorf("%s, %s: alert %d of %+.1f %%: found is %v", s.name, name, i+1, 100*a.change, found[i])
				}
			}
			if limit := s.spikes + 0.02*float64(w.points); float64(falseAlarms) > limit {
				t.Errorf("%s, %s: %d false alarms in %d points, want at most %.0f", s.name, name, falseAlarms, w.points, limit)
			}
		}
	}
}
