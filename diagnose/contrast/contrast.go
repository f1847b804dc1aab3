// Package contrast has what explanations share that compare a run with earlier ones: which findings
// are explained, which runs those are compared with, and how large a difference between repetitions
// has to be. It knows no kind of cause.
//
// What repeats is the repetition: the frames, tasks and calls of one are similar, whatever the
// build, and a cause may strike once in each. Repetitions of one session are similar too.
package contrast

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Limits on the explanations of one run.
const (
	MaxBase     = 5  // runs that a head is compared with
	MaxFindings = 12 // events that are explained
	MaxEach     = 4  // causes of one finding
)

// Explainer explains the regressions of one run.
type Explainer struct {
	Head run.Run
	// Explains reports whether a cause of this family can explain a metric.
	Explains func(metric string) bool
	// Event returns the event of a finding as in the record.
	Event func(diagnose.Finding) string
	// Causes returns the causes of a finding, whose event has that name in the record: the main one
	// first.
	Causes func(f diagnose.Finding, event string) []diagnose.Cause
}

// Regressions explains those among the findings. A further number of an event gets only the main
// cause, without tables and pictures.
func (e Explainer) Regressions(found []diagnose.Finding) (out []diagnose.Cause) {
	explained := map[string]bool{}
	for _, f := range found {
		if f.Direction != gate.ToRegression || !e.Explains(f.Metric) {
			continue
		}
		event := e.Event(f)
		if len(explained) >= MaxFindings && !explained[event] {
			continue
		}
		causes := slices.Clone(e.Causes(f, event))
		if explained[event] {
			causes = causes[:min(len(causes), 1)]
		}
		for i := range causes {
			c := &causes[i]
			c.Run, c.Scenario, c.Event, c.Metric = e.Head.ID, e.Head.Scenario, f.Event, f.Metric
			if explained[event] {
				c.Tables, c.Picture, c.FurtherPicture = nil, nil, nil
			}
		}
		explained[event] = explained[event] || len(causes) > 0
		out = append(out, causes...)
	}
	return out
}

// Recorded returns the event of a finding as in a record, which combines all occurrences of one
// name: "tap" for "tap#2" (run.EventNames), unless the record knows that name.
func Recorded(event string, known func(event string) bool) string {
	if at := strings.LastIndexByte(event, '#'); at > 0 && !known(event) {
		return event[:at]
	}
	return event
}

// Runs returns the earlier runs that a head is compared with: of the same app, scenario and device,
// and like it in what the family needs. Those of the head's build of Android come first, then the
// newest.
func Runs(head run.Run, candidates []run.Run, like func(run.Run) bool) []run.Run {
	same := func(r run.Run, property string) bool { return r.Context[property] == head.Context[property] }
	out := slices.DeleteFunc(slices.Clone(candidates), func(r run.Run) bool {
		return !like(r) || r.Status == run.Failed || r.ID != "" && r.ID == head.ID || r.App.Package != head.App.Package || r.Scenario != head.Scenario ||
			!same(r, "manufacturer") || !same(r, "model")
	})
	otherBuild := func(r run.Run) int {
		if same(r, "sdk") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b run.Run) int {
		return cmp.Or(cmp.Compare(otherBuild(a), otherBuild(b)), b.Started.Compare(a.Started))
	})
	return out[:min(len(out), MaxBase)]
}

// InTurns reports whether the earlier runs are the base build's, measured alternately with the head.
func InTurns(head run.Run, base []run.Run) bool {
	return len(base) > 0 && (base[0].Explains || base[0].Session != "" && base[0].Session == head.Session)
}

// Compared says what a head is compared with: so many of the earlier runs, or so many repetitions of
// the base build; nil without any.
func Compared(head run.Run, base []run.Run, runs int, repetitions float64) diagnose.Phrase {
	switch {
	case runs == 0:
		return nil
	case !InTurns(head, base):
		return diagnose.Say(", compared with ", diagnose.Count(runs, "earlier run", "earlier runs"))
	}
	out := diagnose.Say(", compared with the base build's")
	if repetitions > 0 {
		out = diagnose.Say(", compared with ", diagnose.Amount{Value: repetitions}, " of the base build")
	}
	if base[0].Explains {
		out = diagnose.Say(out, ", recorded after the verdict")
	}
	return out
}

// TooFew is the doubt about a comparison that does not settle; now counts the head's repetitions.
func TooFew(now diagnose.Phrase, before float64) diagnose.Phrase {
	return diagnose.Say(now, " compared with ", diagnose.Amount{Value: before}, " are too few to rule out chance. Four of each build are enough.")
}

// MS is a time in milliseconds.
func MS(v float64) diagnose.Amount { return diagnose.Amount{Value: v, Unit: "ms"} }
