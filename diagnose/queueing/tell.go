package queueing

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// teller describes a suspect in words.
type teller struct {
	comparison
	suspect
}

var (
	say = diagnose.Say
	ms  = contrast.MS
)

func ratio(v float64) diagnose.Amount { return diagnose.Amount{Value: v, Unit: "ratio"} }
func count(n int) diagnose.Amount     { return diagnose.Amount{Value: float64(n)} }

// named returns a name, or words where there is none.
func named(name string) string { return cmp.Or(name, "a task without a name") }

// cause returns the suspect with its evidence.
func (t teller) cause() diagnose.Cause {
	value := t.more.Mean
	out := diagnose.Cause{
		Kind: t.kind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: t.subject().Name},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Share: t.share, Sure: t.sure},
		Title:    say("late tasks: ", t.title()), Sentence: t.sentence(), Basis: t.basis(),
		Tables: t.tables(), Picture: t.picture(), FurtherPicture: t.delays(), Doubts: t.doubts(),
	}
	if t.more.varied && !t.alone() {
		low, high := t.more.Interval()
		out.Explains.Low, out.Explains.High, out.Explains.Level = &low, &high, contrast.Level
	}
	return out
}

func (t teller) causeKind() causeKind {
	return kinds[slices.IndexFunc(kinds, func(k causeKind) bool { return k.name == t.kind })]
}

// subject is what is to blame: the unit that has too few workers or too much to do, the library, or
// the tasks that should not wait, not run, or not take so long.
func (t teller) subject() diagnose.Part { return t.causeKind().subject(t) }

// title names the suspect in a few words.
func (t teller) title() diagnose.Phrase {
	k := t.causeKind()
	return say(k.before, t.subject(), k.after)
}

// own is the group that waits, or that runs for longer.
func (t teller) own() run.TaskGroup { return t.head.Groups[t.group] }

func taskOf(g run.TaskGroup) diagnose.Part {
	return diagnose.Part{Name: named(g.Name), As: diagnose.Short, Most: 60}
}

func (t teller) task() diagnose.Part { return taskOf(t.own()) }

func (t teller) unit() diagnose.Part { return unitPart(t.head.unit(t.own()).Name) }

func unitPart(name string) diagnose.Part { return diagnose.Part{Name: named(name), Most: 60} }

func (t teller) library() diagnose.Part {
	return diagnose.Part{Name: packageOf(t.called), As: diagnose.Code, Most: 60}
}

// chief is the group that matters most among those that are waited for, the group itself where
// nothing is waited for.
func (t teller) chief() int {
	if at := t.slowed(); at >= 0 {
		return at
	}
	return t.group
}

func (t teller) behind() diagnose.Part { return taskOf(t.head.Groups[t.chief()]) }

// sentence returns the cause in one sentence, with the paper's numbers (Figures 5 to 9): the
// longest wait, the capacity, the queue's length, and how long a task in it runs.
func (t teller) sentence() diagnose.Phrase {
	if t.kind == LongKind {
		return t.runsLonger()
	}
	out := say(t.task(), t.scheduledAt(t.own()), " waits up to ", ms(longest(t.own().Queued)), t.wasUpTo(t.more.was), " ", t.inUnit())
	switch t.kind {
	case ObsoleteKind:
		out = say(out, ": ", t.unneeded())
	case LibraryKind:
		out = say(out, ": it waits behind calls of ", diagnose.Part{Name: t.called, As: diagnose.Code, Most: 80})
	}
	out = say(out, "; ", t.queue())
	if at, waits := t.aheadWaits(); waits != nil {
		if len(t.blockers) == 1 && t.blockers[0].group == at && at != t.group {
			out = say(out, ", which ", waits)
		} else {
			out = say(out, "; ", taskOf(t.head.Groups[at]), " ", waits)
		}
	}
	return say(out, t.repeated(longestWait))
}

// runsLonger returns the sentence on tasks that take longer than before, and on what waits for
// them.
func (t teller) runsLonger() diagnose.Phrase {
	at, possible := t.chief(), ""
	g := t.head.Groups[at]
	if t.sure == diagnose.Possible {
		possible = "possible: "
	}
	out := say(possible, taskOf(g), t.scheduledAt(g), " runs for up to ", ms(longest(g.Ran)))
	if e, ok := t.longerBy(g); ok {
		out = say(out, t.wasUpTo(e.was))
	}
	if waits := runWaits(g); waits != nil {
		out = say(out, ", which ", waits)
	}
	if at == t.group {
		return say(out, t.repeated(longestRun))
	}
	return say(out, ", and ", t.task(), " waits for it up to ", ms(longest(t.own().Queued)), " ", t.inUnit(), t.repeated(longestWait))
}

// scheduledAt names the app's line that schedules a group's tasks, nothing where it is unknown.
func (t teller) scheduledAt(g run.TaskGroup) diagnose.Phrase {
	line := ownLine(t.head.context(g), t.run.App.Package)
	if line == "" {
		return nil
	}
	return say(" (scheduled at ", diagnose.Part{Name: brief(line), Most: 80}, ")")
}

// wasUpTo says how long it was in the runs before, nothing without any.
func (t teller) wasUpTo(before float64) diagnose.Phrase {
	if t.alone() {
		return nil
	}
	return say(" (before: ", ms(before), ")")
}

// inUnit says where tasks wait, and how many run there at the same time.
func (t teller) inUnit() diagnose.Phrase {
	in := say("in ", t.unit())
	switch {
	case t.looper(t.suspect):
		in = say(in, ", which handles one message at a time")
	case t.capacity == 1:
		in = say(in, ", which runs one task at a time")
	case t.capacity > 1:
		in = say(in, ", whose ", count(t.capacity), " workers are all busy")
	}
	switch {
	case t.moved && t.capacityBefore > 0:
		return say(in, " (before: in ", unitPart(t.from), ", ", count(t.capacityBefore), " at a time)")
	case t.moved:
		return say(in, " (before: in ", unitPart(t.from), ")")
	case t.fewer:
		return say(in, " (before: ", count(t.capacityBefore), ")")
	}
	return in
}

// unneeded says which tasks ahead nobody needs any more.
func (t teller) unneeded() diagnose.Phrase {
	for _, b := range t.blockers {
		if g := t.head.Groups[b.group]; g.Obsolete > 0 {
			return say(count(g.Obsolete), " of ", count(max(g.Done, g.Obsolete)), " runs of ", taskOf(g), " end after their screen has gone")
		}
	}
	if t.own().Superseded == 0 {
		return say(ratio(t.dropped), " more of the tasks are started than before")
	}
	return say(count(t.own().Superseded), " of ", count(t.own().Scheduled), " are scheduled again before they start")
}

// queue says what stands in the queue when late tasks are scheduled.
func (t teller) queue() diagnose.Phrase {
	late, tasks := t.own().Late, " tasks of "
	if late.QueueMean == 1 {
		tasks = " task of "
	}
	out := say("waits of ", ms(late.OverMS), " or more are behind ", diagnose.Amount{Value: late.QueueMean}, tasks, ms(late.AheadRanMS), " each, on average")
	var names []diagnose.Phrase
	for _, b := range t.blockers[:min(len(t.blockers), 3)] {
		if b.group == t.group {
			names = append(names, say("its own kind"))
		} else {
			names = append(names, say(taskOf(t.head.Groups[b.group]), t.scheduledAt(t.head.Groups[b.group])))
		}
	}
	if len(names) == 0 {
		return out
	}
	if more := len(t.blockers) - len(names); more > 0 {
		names = append(names, diagnose.Count(more, "more kind", "more kinds"))
	}
	last := len(names) - 1
	if last == 0 {
		return say(out, ": ", names[0])
	}
	return say(out, ": ", diagnose.Joined(names[:last], ", "), " and ", names[last])
}

// repeated says which share of the slowdown it is, in how many repetitions a time is over the
// threshold, how many late frames waited for it, and what it waited for meanwhile.
func (t teller) repeated(of values) (out diagnose.Phrase) {
	if t.share != nil {
		out = say(out, "; ", ratio(*t.share), " of the slowdown")
	}
	if times := of(t.head, []int{t.group}); len(times) > 1 {
		out = say(out, "; seen in ", count(t.over(times)), " of ", count(len(times)), " repetitions")
	}
	if t.frames > 0 {
		out = say(out, "; ", diagnose.Count(t.frames, "late frame waits for it", "late frames wait for it"), t.holds)
	}
	return out
}

// basis returns the basis of the numbers.
func (t teller) basis() diagnose.Phrase {
	return say("based on ", diagnose.Count(t.own().Scheduled, "task", "tasks"), " in ", diagnose.Count(t.head.repetitions, "repetition", "repetitions"),
		contrast.Compared(t.run, t.earlier, len(t.base), float64(t.repetitions())))
}
