package past

import (
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history/contexts"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// How much contexts are assumed to differ before a history has shown it, in per cent, measured on
// real phones: see docs/design/contexts.md.
const (
	systemApart  = 15 // between versions of Android on one phone
	deviceApart  = 57 // from phone to phone
	sessionApart = 10 // from session to session
)

// predicted returns the evidence where the own context was never measured: the level that similar
// contexts predict, with its real uncertainty. Nothing is predicted for rare events and for metrics
// that may be below zero.
func (v Values) predictedEvidence(policy gate.Policy, c run.Cell, m metric.Metric, at gate.CellPolicy) Evidence {
	e := v.elsewhere(at.OutlierFactor)
	if m.Mean || m.Signed || m.Exact {
		return e
	}
	others := v.elsewhereBySession(policy, c, m)
	groups := make([][]float64, len(others)+1)
	for g, sessions := range others {
		if len(sessions) > 0 {
			now, _ := v.present(sessions, m, at.MinChange)
			groups[g] = centresOf(now)
		}
	}
	unit := Unit(m, v.Scale, v.Back(e.Expected))
	predicted, known := v.past.withNow().Predict(len(others), groups, contexts.Prior{System: systemApart * unit, Device: deviceApart * unit, Session: sessionApart * unit})
	if !known {
		return e
	}
	e.Predicted, e.Expected = &predicted, predicted.Centre
	return e
}
