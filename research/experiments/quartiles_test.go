package experiments

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// duneReadings are those of readings that are the preset dune's.
func duneReadings() []reading {
	return slices.DeleteFunc(slices.Clone(readings), func(by reading) bool { return by.preset != gate.PresetDune })
}

// withWeka is the reading with Weka's quartiles.
func (r reading) withWeka() reading {
	of := r.change
	r.change = func(p *gate.Policy) {
		of(p)
		p.Quartiles = gate.QuartilesWeka
	}
	return r
}

// Experiments A and C with Weka's quartiles. A is flagged as by type 6. In C K-9's swapped
// runs are optimizations as they are in the paper.
func TestExperimentsAAndCWithWekasQuartiles(t *testing.T) {
	flagged := map[string]int{}
	rowC := map[string]string{}
	for _, app := range measuredApps(t) {
		history, upgraded := app.history.runs(), app.upgraded.runs()
		for _, by := range duneReadings() {
			for _, r := range check(t, by.withWeka(), upgraded, history, coarse).Runs {
				if r.Verdict == gate.Regression && r.Labels[0] == gate.LabelWorse {
					flagged[by.name]++
				}
			}
			better := 0
			for _, swapped := range history {
				if check(t, by.withWeka(), []run.Run{swapped}, upgraded, coarse).Verdict == gate.Improvement {
					better++
				}
			}
			rowC[app.app] += fmt.Sprintf(" %d of 40 |", better)
			if by.name == "dune" && better < 36 {
				t.Errorf("%s: %d of 40 swapped runs are optimizations, want nearly all, as in the paper", app.app, better)
			}
		}
	}
	rowA := "| A with Weka's quartiles | 10 of 10 |"
	for _, by := range duneReadings() {
		rowA += fmt.Sprintf(" %d of 10 |", flagged[by.name])
	}
	if flagged["dune"] != 10 {
		t.Errorf("%d of 10 degraded runs are flagged, want all", flagged["dune"])
	}
	documented(t, rowA, 0)
	for _, s := range []subject{k9, blaster} {
		row := "| C with Weka's quartiles, " + s.app + " | 1 of 1 |" + rowC[s.app]
		documented(t, row, loosely(2))
	}
}

// D with Weka's quartiles: the precision that the paper reports, 0.53, where type 6 has
// more of it.
func TestExperimentDWithWekasQuartiles(t *testing.T) {
	m := measuredMutation(t)
	runs, history := m.head.runs(), m.history
	precisions, recalls := "| D with Weka's quartiles: precision | 0.53 |", "| D with Weka's quartiles: recall | 0.83 |"
	for _, by := range duneReadings() {
		precision, recall := score(check(t, by.withWeka(), runs, history, bothGrains))
		precisions += cell(precision, recall > 0)
		recalls += fmt.Sprintf(" %.2f |", recall)
		if by.name == "dune, literal" {
			continue
		}
		typeSix, _ := score(check(t, by, runs, history, bothGrains))
		if recall < 0.9 || precision >= typeSix {
			t.Errorf("%s: precision %.2f (type 6: %.2f), recall %.2f; want closer fences, which flag more", by.name, precision, typeSix, recall)
		}
	}
	documented(t, precisions, loosely(0.06))
	documented(t, recalls, loosely(0.06))
}
