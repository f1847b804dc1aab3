package calls

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Limits on what stands with a cause.
const (
	maxLinks = 5
	maxRows  = 12 // methods
	maxDrawn = 300
)

// tables returns the methods whose own code changed most, or takes most where there is nothing to
// compare with.
func (t teller) tables() []diagnose.Table {
	compared := len(t.before()) > 0
	table := diagnose.Table{
		Title: "Methods of the main thread" + t.during() + ", by the time of their own", Main: true,
		Note:    say("Per repetition. A method's own time is that of its code and of what it waits for, without the methods that it calls."),
		Columns: []diagnose.Column{{Title: "Method"}, {Title: "Calls", Spare: 2}, {Title: "before", Spare: 3}, {Title: "Own time"}, {Title: "before", Spare: 4}, {Title: "Status", Spare: 1}},
	}
	if !compared {
		table.Columns = []diagnose.Column{{Title: "Method"}, {Title: "Calls", Spare: 1}, {Title: "Own time"}}
	}
	all := t.changed()
	if len(all) > maxRows {
		table.Total, all = len(all), all[:maxRows]
	}
	for _, m := range all {
		calls, callsBefore := t.means(m.calls)
		own, ownBefore := t.means(m.own)
		status, d := t.status(m), gate.None
		if status != "" {
			d = gate.ToRegression
		}
		if compared {
			table.Add(d, say(diagnose.Coded(m.key)), say(tenths(calls)), say(tenths(callsBefore)), say(ms(own)), say(ms(ownBefore)), say(status))
		} else {
			table.Add(d, say(diagnose.Coded(m.key)), say(tenths(calls)), say(ms(own)))
		}
	}
	return []diagnose.Table{table}
}

// during names the event, "" for the whole run.
func (t teller) during() string {
	switch t.event {
	case "":
		return ""
	case startEvent:
		return " during the start"
	}
	return " after " + t.event
}

// changed returns the methods, those whose own code takes most more first.
func (t teller) changed() []*method {
	all := slices.DeleteFunc(slices.Collect(maps.Values(t.methods)), func(m *method) bool {
		now, before := t.means(m.own)
		return now <= 0 && before <= 0
	})
	byMost(all, func(m *method) float64 {
		if now, _ := t.means(m.own); len(t.before()) == 0 {
			return now
		}
		return math.Abs(m.growth)
	}, func(m *method) string { return m.key })
	return all
}

// status says what a cause says of a method.
func (t teller) status(m *method) string {
	for _, s := range t.suspects {
		if t.names.of(s.name) == m.key {
			return kindOf(s.kind).status
		}
	}
	return ""
}

// picture draws the calls of the main thread, with what they took before; those of the repetition
// that froze where there is nothing to compare with.
func (t teller) picture(s suspect) *diagnose.Picture {
	f := &diagnose.Flame{Unit: "ms", Of: "time", Beside: len(t.before()) > 0}
	amounts := func(n *node) (now, before float64) { return t.means(n.ms) }
	title := "What the main thread does" + t.during() + ", by call"
	if at := t.columnOf(s); at >= 0 && !f.Beside {
		title = "What the main thread did" + t.during() + " when it was kept, by call"
		amounts = func(n *node) (now, before float64) { return n.ms[at], 0 }
	}
	kept := t.drawn(func(n *node) float64 { now, before := amounts(n); return max(now, before) })
	places := map[*node]int{t.root: -1}
	for _, n := range t.all {
		if kept[n] {
			now, before := amounts(n)
			places[n] = len(f.Calls)
			f.Calls = append(f.Calls, diagnose.Call{Parent: places[n.parent], Name: n.name, Base: before, Head: now})
		}
	}
	if len(f.Calls) == 0 {
		return nil
	}
	return &diagnose.Picture{Kind: diagnose.FlamePicture, Title: title, Label: title, Flame: f}
}

// columnOf returns the column of a suspect's freeze, -1 for none.
func (t teller) columnOf(s suspect) int {
	if s.shown == nil {
		return -1
	}
	return slices.IndexFunc(t.now(), func(c column) bool { return c.repetitions[s.shown.chain.Repetition] })
}

// drawn returns the largest nodes, each with its callers.
func (t teller) drawn(amount func(*node) float64) map[*node]bool {
	all := slices.Clone(t.all)
	slices.SortStableFunc(all, func(a, b *node) int { return cmp.Compare(amount(b), amount(a)) })
	out := map[*node]bool{t.root: true}
	for _, n := range all {
		if len(out) <= maxDrawn && amount(n) > 0 && out[n.parent] {
			out[n] = true
		}
	}
	return out
}

// links refers to the traces of an event: that of a repetition first, which may be 0, then those in
// which something went wrong.
func links(m *run.MethodTraces, event string, repetition int) (out []diagnose.Link) {
	rank := func(w run.TraceWindow) int {
		switch {
		case w.Repetition == repetition:
			return 0
		case w.Why != "":
			return 1
		}
		return 2
	}
	all := slices.DeleteFunc(slices.Clone(m.Windows), func(w run.TraceWindow) bool { return w.Evidence == "" || !of(event, w.Event) })
	slices.SortStableFunc(all, func(a, b run.TraceWindow) int { return cmp.Compare(rank(a), rank(b)) })
	for _, w := range all[:min(len(all), maxLinks)] {
		out = append(out, diagnose.Link{Digest: w.Evidence, FromMS: w.FromMS, ToMS: w.ToMS})
	}
	return out
}
