// Package calls explains what the main thread did where an event got slower, by traces of every call
// of a method: which method is new there, is called more often, or takes longer than before, and
// which one kept the main thread at a time.
//
// It owns what is compared with what, which of many callers and callees is named, its words, and the
// known problems of a team: causes of the family "calls". Package trace/art reads traces; the gate
// decides whether an event got worse. It only uses records (run.MethodTraces), so that the
// explanation of a verdict never changes.
//
// A millisecond counts once, at the method whose own code took it, wherever that was called from. It
// is blamed on the outermost method of the app that is new or called more often, else on the
// innermost one that takes longer: a method of the platform leads to the app's that called it. Time
// in which a thread waited for something to do is in no tree, and so never blamed. What repeats is
// the repetition, and nothing is named that chance, or a warmer phone, could have caused.
//
// Source: "Hubble: Performance Debugging with In-Production, Just-In-Time Method Tracing on Android"
// (OSDI 2022), sections 3, 4.2.2 and 7.
package calls

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Family is the family of these kinds.
var Family = diagnose.Family{Name: "calls", Title: "What the main thread did", Label: "Calls", Line: "Method that takes longer", Has: "calls explained"}

// Limits on the explanations of one run.
const (
	maxBase     = 5  // runs that a head is compared with
	maxFindings = 12 // that are explained
	maxEach     = 4  // causes of one finding
)

// Explain explains the findings of a run on frames, starts and what did not respond by comparing
// with similar runs before, the main cause of each finding first. It returns nothing where nothing
// stands out.
func Explain(head run.Run, base []run.Run, found []diagnose.Finding) []diagnose.Cause {
	if head.MethodTraces == nil {
		return nil
	}
	base = beside(head, base)
	var out []diagnose.Cause
	explained := map[string]bool{}
	for _, f := range found {
		event := eventOf(head.MethodTraces, f)
		if f.Direction != gate.ToRegression || !explains(f.Metric) || len(explained) >= maxFindings && !explained[event] {
			continue
		}
		causes := causesOf(head, base, event)
		if explained[event] { // already explained, for another number of the same event
			for i := range causes {
				causes[i].Tables, causes[i].Picture = nil, nil
			}
			causes = causes[:min(1, len(causes))]
		}
		explained[event] = true
		for i := range causes {
			causes[i].Run, causes[i].Scenario, causes[i].Event, causes[i].Metric = head.ID, head.Scenario, f.Event, f.Metric
		}
		out = append(out, causes...)
	}
	return out
}

// explains reports whether a metric depends on how long the main thread takes.
func explains(metric string) bool {
	return strings.HasPrefix(metric, "frames.") || strings.HasPrefix(metric, "startup.") || strings.HasPrefix(metric, "anr.")
}

// startEvent is the event before any other, as in Bucket.Name.
const startEvent = "start"

// eventOf returns the event of a finding as in the record, which combines all occurrences of one
// name: "tap" for "tap#2" (run.EventNames). A start is an event of its own, where it was traced.
func eventOf(m *run.MethodTraces, f diagnose.Finding) string {
	traced := func(event string) bool {
		return slices.ContainsFunc(m.Windows, func(w run.TraceWindow) bool { return w.Event == event })
	}
	switch {
	case f.Event == "" && strings.HasPrefix(f.Metric, "startup.") && traced(startEvent):
		return startEvent
	case f.Event == "" && len(m.Windows) > 0 && !slices.ContainsFunc(m.Windows, func(w run.TraceWindow) bool { return w.Event != m.Windows[0].Event }):
		return m.Windows[0].Event // the only one that was traced
	}
	at := strings.LastIndexByte(f.Event, '#')
	if at <= 0 || traced(f.Event) {
		return f.Event
	}
	return f.Event[:at]
}

// causesOf returns the causes of one event.
func causesOf(head run.Run, base []run.Run, event string) []diagnose.Cause {
	c := newComparison(head, base, event)
	t := teller{head: head, base: base, comparison: c, suspects: c.suspects()}
	t.withFreezes()
	var out []diagnose.Cause
	for _, s := range t.suspects {
		out = append(out, t.cause(s))
	}
	diagnose.Order(out)
	if out = out[:min(len(out), maxEach)]; len(out) > 0 {
		out[0].Tables = t.tables()
	}
	return out
}

// beside returns the runs before that the head's calls can be compared with: of the same app,
// scenario, device and Android, traced in the same way, newest first.
func beside(head run.Run, candidates []run.Run) []run.Run {
	like := slices.DeleteFunc(slices.Clone(candidates), func(r run.Run) bool { return !alike(head, r) })
	slices.SortStableFunc(like, func(a, b run.Run) int { return b.Started.Compare(a.Started) })
	return like[:min(len(like), maxBase)]
}

func alike(head, r run.Run) bool {
	for _, property := range []string{"manufacturer", "model", "sdk"} {
		if r.Context[property] != head.Context[property] {
			return false
		}
	}
	return r.MethodTraces != nil && r.MethodTraces.Source == head.MethodTraces.Source && r.MethodTraces.Clock == head.MethodTraces.Clock &&
		r.Status != run.Failed && (r.ID == "" || r.ID != head.ID) && r.App.Package == head.App.Package && r.Scenario == head.Scenario
}

// ownOf returns whether a method is the app's own: by its package, or where the trace has no such
// method, that it is none of the platform or of its libraries.
func ownOf(pkg string, all []*node) func(string) bool {
	prefix := diagnose.OwnNames(pkg)
	byName := func(method string) bool { return prefix != "" && strings.HasPrefix(method, prefix) }
	if slices.ContainsFunc(all, func(n *node) bool { return byName(n.name) }) {
		return byName
	}
	return func(method string) bool { return !diagnose.Platform(method) && !strings.HasPrefix(method, "androidx.") }
}

// byMost orders by an amount, the largest first, and by name where it is the same.
func byMost[T any](list []T, amount func(T) float64, name func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Or(cmp.Compare(amount(b), amount(a)), strings.Compare(name(a), name(b)))
	})
}
