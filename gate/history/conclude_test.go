package history

import (
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
)

// With the fine grain only events are judged, and a pass is worth what they show.
func TestFineGrainPassesByEvents(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Grain = gate.Fine
	history := gatetest.Steady(10, nil, 8, "E1", "E2")
	now := history[1]
	now.ID = "new"
	v := checkOne(p, now, history...)
	if v.Verdict != gate.Pass || len(v.Comparisons) != 2 || v.Reason != "nothing deviates in 2 comparisons" || len(v.Warnings) != 0 {
		t.Errorf("%s: %s; %d comparisons, warnings %v", v.Verdict, v.Reason, len(v.Comparisons), v.Warnings)
	}
	few := checkOne(p, now, history[:3]...)
	if few.Verdict != gate.Inconclusive {
		t.Errorf("of three runs %s: %s", few.Verdict, few.Reason)
	}
	p.Grain = gate.Coarse
	if v := checkOne(p, now, history...); len(v.Comparisons) != 1 || v.Comparisons[0].Event != "" {
		t.Errorf("the coarse grain compares %d numbers", len(v.Comparisons))
	}
}
