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
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// Family is the family of these kinds.
var Family = diagnose.Family{Name: "calls", Title: "What the main thread did", Label: "Calls", Line: "Method that takes longer", Has: "calls explained"}

// Explain explains the findings of a run on frames, starts and what did not respond by comparing
// with similar runs before, the main cause of each finding first. It returns nothing where nothing
// stands out.
func Explain(head run.Run, base []run.Run, found []diagnose.Finding) []diagnose.Cause {
	m := head.MethodTraces
	if m == nil {
		return nil
	}
	base = contrast.Runs(head, base, func(r run.Run) bool {
		return r.MethodTraces != nil && r.MethodTraces.Source == m.Source && r.MethodTraces.Clock == m.Clock && r.Context["sdk"] == head.Context["sdk"]
	})
	names, events := stableNames{}, map[string][]diagnose.Cause{}
	return contrast.Explainer{
		Head: head, Explains: explains,
		Event: func(f diagnose.Finding) string { return eventOf(m, f) },
		Causes: func(_ diagnose.Finding, event string) []diagnose.Cause {
			if _, known := events[event]; !known {
				events[event] = causesOf(newComparison(head, base, event, names))
			}
			return events[event]
		},
	}.Regressions(found)
}

// causesOf returns the causes of an event.
func causesOf(c *comparison) (out []diagnose.Cause) {
	t := teller{comparison: c, suspects: c.withFreezes(c.suspects())}
	for _, s := range t.suspects {
		out = append(out, t.cause(s))
	}
	diagnose.Order(out)
	if out = out[:min(len(out), contrast.MaxEach)]; len(out) > 0 {
		out[0].Tables = t.tables()
	}
	return out
}

// explains reports whether a metric depends on how long the main thread takes.
func explains(metric string) bool {
	return strings.HasPrefix(metric, "frames.") || strings.HasPrefix(metric, "startup.") || strings.HasPrefix(metric, "anr.")
}

// startEvent is the event before any other, as in Bucket.Name.
const startEvent = "start"

// eventOf returns the event of a finding as in the record. A start is an event of its own, where it
// was traced.
func eventOf(m *run.MethodTraces, f diagnose.Finding) string {
	traced := func(event string) bool {
		return slices.ContainsFunc(m.Windows, func(w run.TraceWindow) bool { return w.Event == event })
	}
	switch {
	case f.Event != "":
		return contrast.Recorded(f.Event, traced)
	case strings.HasPrefix(f.Metric, "startup.") && traced(startEvent):
		return startEvent
	case len(m.Windows) > 0 && !slices.ContainsFunc(m.Windows, func(w run.TraceWindow) bool { return w.Event != m.Windows[0].Event }):
		return m.Windows[0].Event // the only one that was traced
	}
	return ""
}

// of reports whether something is of an event, "" for any.
func of(event, its string) bool { return event == "" || its == event }

// stableNames are the names of methods without what compilers number, by their names.
type stableNames map[string]string

func (n stableNames) of(name string) string {
	key, known := n[name]
	if !known {
		key = diagnose.Stable(name)
		n[name] = key
	}
	return key
}

// byMost orders by an amount, the largest first, and by name where it is the same.
func byMost[T any](list []T, amount func(T) float64, name func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Or(cmp.Compare(amount(b), amount(a)), strings.Compare(name(a), name(b)))
	})
}
