package queueing

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// Limits on the evidence of a cause.
const (
	maxContexts = 4  // groups whose stacks are listed
	maxLines    = 10 // of one stack
)

// groups are those that a table lists: the one that waits, then those ahead of it.
func (t teller) groups() []int {
	out := []int{t.group}
	for _, b := range t.blockers {
		if b.group != t.group {
			out = append(out, b.group)
		}
	}
	return out
}

// tables returns the queue by groups of similar tasks, and where each is scheduled.
func (t teller) tables() []diagnose.Table {
	queue := diagnose.Table{Main: true, Title: "Tasks in the queue of " + named(t.head.unit(t.own()).Name), Columns: []diagnose.Column{
		{Title: "Similar tasks"}, {Title: "Tasks", Spare: 2}, {Title: "Longest wait"}, {Title: "Before", Spare: 1}, {Title: "Runs on average"}, {Title: "Before", Spare: 1}, {Title: "Longest run", Spare: 3}, {Title: "In the queue"},
	}, Note: say("Waits are from when a task is due to its start. c1, c2 and so on number the groups of similar tasks.")}
	for n, at := range t.groups() {
		queue.Add(gate.None, t.row(n, at)...)
	}
	if t.alone() {
		queue.Columns = withoutBefore(queue.Columns)
		for i, r := range queue.Rows {
			queue.Rows[i].Cells = withoutBefore(r.Cells)
		}
	}
	out := []diagnose.Table{queue}
	if stacks := t.stacks(); len(stacks.Rows) > 0 {
		out = append(out, stacks)
	}
	return out
}

// row returns a group's cells.
func (t teller) row(n, at int) []diagnose.Phrase {
	g := t.head.Groups[at]
	earlier := t.before(g, side.find)
	ranBefore, runsBefore := meanRan(earlier)
	waits := spreads(earlier, queued)
	waitsBefore := 0
	for _, s := range waits {
		waitsBefore += s.Count
	}
	return []diagnose.Phrase{
		say(label(n), " ", diagnose.Coded(named(g.Name))), say(count(g.Scheduled)),
		amountOf(g.Queued.Count, longest(g.Queued)), amountOf(waitsBefore, longest(waits...)),
		amountOf(g.Ran.Count, g.Ran.MeanMS), amountOf(runsBefore, ranBefore), amountOf(g.Ran.Count, longest(g.Ran)), t.status(at),
	}
}

// withoutBefore leaves out what is about the runs before.
func withoutBefore[T any](cells []T) []T { return slices.Concat(cells[:3], cells[4:5], cells[6:]) }

// label names the n-th group as the paper does: c1 is the one that waits.
func label(n int) string { return fmt.Sprintf("c%d", n+1) }

// amountOf returns a time, nothing where nothing was measured.
func amountOf(count int, v float64) diagnose.Phrase {
	if count == 0 {
		return nil
	}
	return say(ms(v))
}

// status says what a group does in the queue.
func (t teller) status(at int) diagnose.Phrase {
	i := slices.IndexFunc(t.blockers, func(b blocker) bool { return b.group == at })
	switch {
	case i < 0:
		return say("waits")
	case at == t.group:
		return say("waits, ahead")
	case slices.Contains(t.newcomers, at):
		return say("ahead, new here")
	case slices.Contains(t.added, at):
		return say("ahead, more")
	case slices.Contains(t.longer, at):
		return say("ahead, longer")
	}
	return say("ahead")
}

// stacks lists where groups are scheduled, by the lines of their stacks.
func (t teller) stacks() diagnose.Table {
	out := diagnose.Table{Title: "Where they are scheduled", Columns: []diagnose.Column{{Title: "Line, the innermost first"}, {Title: "Of"}}}
	for n, at := range t.groups()[:min(len(t.groups()), maxContexts)] {
		context := t.head.context(t.head.Groups[at])
		if len(context) == 0 {
			continue
		}
		for i, line := range context[:min(len(context), maxLines)] {
			of := label(n)
			if line == ownLine(context, t.run.App.Package) && i == slices.Index(context, line) {
				of += ", own"
			}
			out.Add(gate.None, say(diagnose.Coded(line)), say(of))
		}
	}
	return out
}

// picture draws the longest wait of the group above that of the runs before: the task, and what ran
// in its unit meanwhile. Without such a task it is nil.
func (t teller) picture() *diagnose.Picture {
	if len(t.own().Longest) == 0 {
		return nil
	}
	waits := []diagnose.DrawnFrame{t.head.drawn(diagnose.Waited, t.own())}
	before := -1.0
	for _, b := range t.base {
		for _, k := range b.find(t.head, t.own()) {
			if g := b.Groups[k]; len(g.Longest) > 0 && g.Longest[0].QueuedMS >= before {
				before = g.Longest[0].QueuedMS
				waits = append(waits[:1], b.drawn(diagnose.WaitedBefore, g))
			}
		}
	}
	return diagnose.PictureOfQueue("What "+named(t.own().Name)+" waited for", waits)
}

// drawn returns a group's longest wait as a picture draws it: from the event, the wait, what ran in
// the unit meanwhile, the task's own run, and what either waited for. Times begin when it was due.
func (s side) drawn(role diagnose.Role, g run.TaskGroup) diagnose.DrawnFrame {
	one := g.Longest[0]
	due, unit := one.AtMS+one.DelayMS, named(s.unit(g).Name)
	steps := []diagnose.Step{{Thread: named(g.Name), Kind: diagnose.Queued, ToMS: one.QueuedMS}}
	if g.Event != "" && one.EventMS > 0 && one.EventMS < due && due-one.EventMS <= longestLead {
		steps = append(steps, diagnose.Step{Thread: "after " + g.Event, Kind: diagnose.Scheduling, FromMS: one.EventMS - due})
	}
	var parts []diagnose.Step
	for _, a := range one.Ahead {
		name, thread := "a task of a group that is left out", cmp.Or(a.Thread, unit)
		if a.Group >= 0 {
			name = named(s.Groups[a.Group].Name)
		}
		steps = append(steps, diagnose.Step{Thread: thread, Kind: run.WaitRunning, What: name, FromMS: a.FromMS - due, ToMS: a.ToMS - due})
		if len(parts) < maxDetail {
			parts = append(parts, detail(a.Path, thread, due)...)
		}
	}
	thread := cmp.Or(one.Thread, unit)
	steps = append(steps, diagnose.Step{Thread: thread, Kind: run.WaitRunning, What: named(g.Name), FromMS: one.QueuedMS, ToMS: one.QueuedMS + one.RanMS})
	parts = append(parts, detail(one.Path, thread, due)...)
	return diagnose.DrawnFrame{Role: role, Repetition: one.Repetition, TookMS: one.QueuedMS + one.RanMS, Steps: append(steps, parts...)}
}

// maxDetail is from how many steps on within tasks no more are drawn.
const maxDetail = 80

// longestLead is how long before a task is due its event may be, in ms, to be in its picture: from
// farther on the rest would be too small to read.
const longestLead = 2_000.0
