package show

import (
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/settings"
)

// drifts computes for each app which metrics creep for the worse, up to its newest run of each
// scenario and context. Retired runs do not count. The outcome is a regression if one does and that
// is to fail, and a pass otherwise.
func (n *Noise) drifts(runs []run.Run, retired map[string]bool, set settings.Settings) gate.Outcome {
	outcome := gate.Pass
	for i := range n.Apps {
		a := &n.Apps[i]
		a.Drift, a.catalogue = []drift.Line{}, set.Catalogue
		if a.catalogue == nil {
			a.catalogue = metric.Default()
		}
		now, before := newestOf(a.Package, runs, retired, set.Policy.Use)
		a.catalogue, _ = gate.Catalogue(a.catalogue, now...)
		for _, l := range drift.Of(set.Policy, a.catalogue, now, nil, before) {
			if l.Creeps() {
				a.Drift = append(a.Drift, l)
			}
		}
		if len(a.Drift) > 0 && set.FailOn == gate.FailDrift {
			outcome = gate.Regression
		}
	}
	return outcome
}

// newestOf returns an app's newest run of each scenario and context, by the properties that count,
// and the others.
func newestOf(app string, runs []run.Run, retired map[string]bool, use []string) (now, before []run.Run) {
	newest := map[[2]string]int{} // in now
	for _, r := range runs {
		if r.App.Package != app || r.Status != run.Complete || retired[r.ID] {
			continue
		}
		key := [2]string{r.Scenario, devctx.Key(devctx.Telling(r.Context, use))}
		at, known := newest[key]
		switch {
		case !known:
			newest[key] = len(now)
			now = append(now, r)
		case r.Started.After(now[at].Started):
			before = append(before, now[at])
			now[at] = r
		default:
			before = append(before, r)
		}
	}
	return now, before
}
