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
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Family is the family of these kinds.
var Family = diagnose.Family{Name: "tasks", Title: "What the tasks waited for", Label: "Tasks", Line: "Cause of late tasks", Has: "tasks explained"}

// DefaultOverMS is the paper's τ (section 4.2): from which on a task waits or runs too long. A
// record that has late tasks says by which threshold.
const DefaultOverMS = 500

// Limits on the explanations of one run.
const (
	maxBase     = 5  // runs that a head is compared with
	maxFindings = 12 // that are explained
	maxEach     = 4  // causes of one finding
	maxAlone    = 20 // the same where there is neither a finding nor a run before
)

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
	most := maxEach
	if len(found) == 0 && len(base) == 0 {
		found, most = everyEvent(head.Tasks), maxAlone
	}
	c := compared(head, base)
	var out []diagnose.Cause
	explained := map[string]bool{}
	for _, f := range found {
		event := recorded(head.Tasks, f.Event)
		if f.Direction != gate.ToRegression || !explains(head, f.Metric) || len(explained) >= maxFindings && !explained[event] {
			continue
		}
		causes := c.of(f, event)
		diagnose.Order(causes)
		causes = causes[:min(len(causes), most)]
		if explained[event] { // already explained, for another number or time of the same event
			causes = causes[:min(len(causes), 1)]
			for i := range causes {
				causes[i].Tables, causes[i].Picture, causes[i].FurtherPicture = nil, nil, nil
			}
		}
		explained[event] = explained[event] || len(causes) > 0
		out = append(out, causes...)
	}
	if len(out) == 0 { // nothing to blame
		out = better(head, base, found)
	}
	return out
}

// everyEvent returns findings for the events with late tasks.
func everyEvent(t *run.Tasks) []diagnose.Finding {
	var out []diagnose.Finding
	for _, g := range t.Groups {
		late := diagnose.Finding{Event: g.Event, Metric: waited, Direction: gate.ToRegression}
		if g.Late != nil && !slices.Contains(out, late) {
			out = append(out, late)
		}
	}
	return out
}

// builtin are the metrics that apkgate measures itself.
var builtin = metric.Default()

// explains reports whether tasks can explain a metric: frames, tasks, the time until something is
// displayed or an event's last frame, and times that the app or another tool measured. CPU time, for instance, does not
// depend on any queue.
func explains(head run.Run, name string) bool {
	if name == waited || strings.HasPrefix(name, "tasks.") || strings.HasPrefix(name, "startup.") || strings.HasPrefix(name, "frames.") || name == settled {
		return true
	}
	_, known := builtin.Lookup(name)
	return !known && isTime(head, name)
}

// isTime reports whether a metric that the run declares is in units of time.
func isTime(head run.Run, name string) bool {
	at := slices.IndexFunc(head.Declared, func(d run.Declared) bool { return d.Name == name })
	return at >= 0 && msOf[head.Declared[at].Unit] > 0
}

// msOf are milliseconds of units of time.
var msOf = map[string]float64{"ms": 1, "s": 1_000, "us": 0.001, "µs": 0.001, "ns": 0.000_001}

// alike returns the runs before whose tasks the head's can be compared with, newest first: of the
// same app, scenario, device and source.
func alike(head run.Run, candidates []run.Run) []run.Run {
	like := slices.DeleteFunc(slices.Clone(candidates), func(r run.Run) bool {
		return r.Tasks == nil || r.Tasks.Source != head.Tasks.Source || r.Status == run.Failed || r.ID != "" && r.ID == head.ID ||
			r.App.Package != head.App.Package || r.Scenario != head.Scenario ||
			r.Context["manufacturer"] != head.Context["manufacturer"] || r.Context["model"] != head.Context["model"]
	})
	slices.SortStableFunc(like, func(a, b run.Run) int {
		other := func(r run.Run) int {
			if r.Context["sdk"] == head.Context["sdk"] {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(other(a), other(b)), b.Started.Compare(a.Started))
	})
	return like[:min(len(like), maxBase)]
}

// recorded returns the event of a finding as in the record, which combines all occurrences of one
// name: "tap" for "tap#2" (run.EventNames).
func recorded(t *run.Tasks, event string) string {
	at := strings.LastIndexByte(event, '#')
	if at <= 0 || slices.ContainsFunc(t.Groups, func(g run.TaskGroup) bool { return g.Event == event }) {
		return event
	}
	return event[:at]
}
