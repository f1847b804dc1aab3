package calls

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
)

// tables returns the methods whose own code changed most, or takes most where there is nothing to
// compare with.
func (t teller) tables() []diagnose.Table {
	compared := len(t.before) > 0
	table := diagnose.Table{
		Title: "Methods of the main thread" + t.during() + ", by the time of their own", Main: true,
		Note:    say("Per repetition. A method's own time is that of its code and of what it waits for, without the methods that it calls."),
		Columns: []diagnose.Column{{Title: "Method"}, {Title: "Calls", Spare: 2}, {Title: "before", Spare: 3}, {Title: "Own time"}, {Title: "before", Spare: 4}, {Title: "Status", Spare: 1}},
	}
	if !compared {
		table.Columns = []diagnose.Column{{Title: "Method"}, {Title: "Calls", Spare: 1}, {Title: "Own time"}}
	}
	all := t.changed()
	table.Total = 0
	if len(all) > maxRows {
		table.Total, all = len(all), all[:maxRows]
	}
	for _, name := range all {
		m := t.methods[name]
		row := []diagnose.Phrase{say(diagnose.Coded(name)), number(mean(counts(m.now))), say(ms(mean(m.own)))}
		if compared {
			row = []diagnose.Phrase{say(diagnose.Coded(name)), number(mean(counts(m.now))), number(mean(counts(m.before))), say(ms(mean(m.own))), say(ms(mean(m.ownBefore))), say(t.status(name))}
		}
		d := gate.None
		if t.status(name) != "" {
			d = gate.ToRegression
		}
		table.Add(d, row...)
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

func number(n float64) diagnose.Phrase {
	return say(diagnose.Amount{Value: math.Round(n*10) / 10})
}

// changed returns the methods, those whose own code takes most more first.
func (t teller) changed() []string {
	var all []string
	for name, m := range t.methods {
		if mean(m.own) > 0 || mean(m.ownBefore) > 0 {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	byMost(all, func(name string) float64 {
		if len(t.before) == 0 {
			return mean(t.methods[name].own)
		}
		return math.Abs(t.methods[name].growth)
	}, func(name string) string { return name })
	return all
}

// status says what a cause says of a method.
func (t teller) status(name string) string {
	for _, s := range t.suspects {
		if diagnose.Stable(s.name) == name {
			return map[string]string{NewKind: "new", MoreKind: "more often", LongerKind: "longer", HeldKind: "keeps the main thread"}[s.kind]
		}
	}
	return ""
}

// picture draws the calls of the main thread, with what they took before; those of the repetition
// that froze where there is nothing to compare with.
func (t teller) picture(s suspect) *diagnose.Picture {
	f := &diagnose.Flame{Unit: "ms", Of: "time", Beside: len(t.before) > 0}
	amounts := func(n *node) (before, now float64) { return mean(times(n.before)), mean(times(n.now)) }
	title := "What the main thread does" + t.during() + ", by call"
	if at := t.columnOf(s); at >= 0 && !f.Beside {
		title = "What the main thread did" + t.during() + " when it was kept, by call"
		amounts = func(n *node) (before, now float64) { return 0, n.now[at].ms }
	}
	kept := t.drawn(func(n *node) float64 { before, now := amounts(n); return max(before, now) })
	places := map[*node]int{t.root: -1}
	for _, n := range t.all {
		if kept[n] {
			before, now := amounts(n)
			places[n] = len(f.Calls)
			f.Calls = append(f.Calls, diagnose.Call{Parent: places[n.parent], Name: n.name, Base: before, Head: now})
		}
	}
	if len(f.Calls) == 0 {
		return nil
	}
	return &diagnose.Picture{Kind: diagnose.FlamePicture, Title: title, Label: title, Flame: f}
}

// columnOf returns the place of the repetition of a suspect's freeze among those now, -1 for none.
func (t teller) columnOf(s suspect) int {
	if s.shown == nil {
		return -1
	}
	return slices.IndexFunc(t.now, func(c column) bool { return c.repetitions[s.shown.chain.Repetition] })
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
