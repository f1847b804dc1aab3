// Package queueing explains what the app's asynchronous tasks waited for, or took longer for, where
// an event got worse although its own code did not: a picture that came late since its task stood
// in a queue behind another (DiagDroid, FSE 2016).
//
// It owns what is compared with what, the rules by which a queue's defect is recognized (kinds.go),
// and its words: causes of the family "tasks". It only uses records' sections of tasks, so that the
// explanation of a verdict never changes. What a record's source does not tell (run.Tasks.Tells),
// no rule and no sentence uses.
//
// It departs from the paper's rule (section 4.2), by which a group of tasks is anomalous if its
// longest wait or run is over a threshold. Where there are runs from before, a queue that was as
// long in them is no cause, and neither is one that is longer since everything takes longer: the
// queue itself must have changed, or one of the tasks in it. What repeats is the repetition: a wait
// that follows one tap in each repetition counts, and one that chance brings in one of five does
// not.
package queueing

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Family is the family of these kinds.
var Family = diagnose.Family{Name: "tasks", Title: "What the tasks waited for", Label: "Tasks", Line: "Cause of late tasks", Has: "tasks explained"}

// DefaultOverMS is the paper's τ (section 4.2): from which on a task waits or runs too long. A
// record that has late tasks says by which threshold.
const DefaultOverMS = 500

// maxAlone limits the causes of an event where there is neither a finding nor a run before.
const maxAlone = 20

// waited is the explained metric where nothing was flagged; settled is an event's own time.
const (
	waited  = "tasks.queued_ms"
	settled = "events.settled_ms"
)

// Explain explains the findings of a run on times of events, on frames that waited for a task, and
// on tasks.* metrics, by comparing with similar runs before; the main cause of each finding comes
// first. Where none of them is a regression that tasks explain, it returns what made tasks later
// before. With neither findings nor runs before, such as for a trace alone, it returns the tasks
// that waited for too long. It returns nothing where nothing stands out.
func Explain(head run.Run, base []run.Run, found []diagnose.Finding) []diagnose.Cause {
	if head.Tasks == nil {
		return nil
	}
	base = alike(head, base)
	most := contrast.MaxEach
	if len(found) == 0 && len(base) == 0 {
		found, most = everyEvent(head.Tasks), maxAlone
	}
	c := compared(head, base)
	out := contrast.Explainer{
		Head: head, Explains: func(metric string) bool { return explains(head, metric) },
		Event: func(f diagnose.Finding) string { return recorded(head.Tasks, f.Event) },
		Causes: func(f diagnose.Finding, event string) (out []diagnose.Cause) {
			for _, s := range c.suspects(f, event) {
				out = append(out, teller{c, s}.cause())
			}
			diagnose.Order(out)
			return out[:min(len(out), most)]
		},
	}.Regressions(found)
	if len(out) == 0 { // nothing to blame
		out = better(head, base, found)
	}
	return out
}

// everyEvent returns findings for the events with late tasks.
func everyEvent(t *run.Tasks) (out []diagnose.Finding) {
	for _, g := range t.Groups {
		late := diagnose.Finding{Event: g.Event, Metric: waited, Direction: gate.ToRegression}
		if g.Late != nil && !slices.Contains(out, late) {
			out = append(out, late)
		}
	}
	return out
}

// explains reports whether tasks can explain a metric: frames, tasks, the time until something is
// displayed or an event's last frame, and times that the app or another tool measured. CPU time, for
// instance, does not depend on any queue.
func explains(head run.Run, name string) bool {
	family, _, _ := strings.Cut(name, ".")
	_, known := builtin.Lookup(name)
	return slices.Contains([]string{"tasks", "startup", "frames"}, family) || name == settled || !known && msOf[unitOf(head, name)] > 0
}

// builtin are the metrics that apkgate measures itself.
var builtin = metric.Default()

// msOf are milliseconds of units of time.
var msOf = map[string]float64{"ms": 1, "s": 1_000, "us": 0.001, "µs": 0.001, "ns": 0.000_001}

// unitOf returns the unit of a metric that is built in, or that the run declares.
func unitOf(head run.Run, name string) string {
	if m, known := builtin.Lookup(name); known {
		return m.Unit
	}
	if at := slices.IndexFunc(head.Declared, func(d run.Declared) bool { return d.Name == name }); at >= 0 {
		return head.Declared[at].Unit
	}
	return ""
}

// alike returns the runs before whose tasks the head's can be compared with: of the same source.
func alike(head run.Run, candidates []run.Run) []run.Run {
	return contrast.Runs(head, candidates, func(r run.Run) bool { return r.Tasks != nil && r.Tasks.Source == head.Tasks.Source })
}

// recorded returns the event of a finding as in the record.
func recorded(t *run.Tasks, event string) string {
	return contrast.Recorded(event, func(event string) bool {
		return slices.ContainsFunc(t.Groups, func(g run.TaskGroup) bool { return g.Event == event })
	})
}
