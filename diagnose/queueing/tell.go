package queueing

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// teller describes a suspect in words.
type teller struct {
	comparison
	suspect
}

var say = diagnose.Say

func ms(v float64) diagnose.Amount { return diagnose.Amount{Value: v, Unit: "ms"} }

// cause returns the suspect with its evidence.
func (t teller) cause() diagnose.Cause {
	value := t.more.mean
	out := diagnose.Cause{
		Kind: t.kind, Direction: gate.ToRegression, Subject: diagnose.Subject{Name: t.subject(t.suspect)},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Share: t.share, Sure: t.sure},
		Title:    say("late tasks: ", t.title()), Sentence: t.sentence(), Basis: t.basis(),
		Tables: t.tables(), Picture: t.picture(), FurtherPicture: t.delays(), Doubts: t.doubts(),
	}
	if t.more.varied && !t.alone() {
		low, high := max(t.more.mean-z95*t.more.err, 0), t.more.mean+z95*t.more.err
		out.Explains.Low, out.Explains.High, out.Explains.Level = &low, &high, level
	}
	return out
}

// own is the group that waits, or that runs for longer.
func (t teller) own() run.TaskGroup { return t.head.Groups[t.group] }

func task(g run.TaskGroup) diagnose.Phrase {
	return say(diagnose.Part{Name: named(g.Name), As: diagnose.Short, Most: 60})
}

func (t teller) unitName() diagnose.Part {
	return diagnose.Part{Name: named(t.head.unit(t.own()).Name), Most: 60}
}

// title names the suspect in a few words.
func (t teller) title() diagnose.Phrase {
	switch t.kind {
	case LibraryKind:
		return say(diagnose.Part{Name: packageOf(t.called), As: diagnose.Code, Most: 60}, " runs its calls one by one")
	case ObsoleteKind:
		return say(t.behind(), " is not cancelled")
	case HandlerKind:
		return say("too much is posted to ", t.unitName())
	case PoolKind:
		return say("too few workers in ", t.unitName())
	case SequentialKind:
		return say(task(t.own()), " waits in a queue of one")
	case LongKind:
		return say(t.behind(), " takes longer")
	}
	return say("a long queue in ", t.unitName())
}

// behind names the group that matters most among those that are waited for, the group's own tasks
// where nothing is waited for.
func (t teller) behind() diagnose.Phrase {
	if at := t.slowed(); at >= 0 {
		return task(t.head.Groups[at])
	}
	return task(t.own())
}

// sentence returns the cause in one sentence, with the paper's numbers (Figures 5 to 9): the
// longest wait, the capacity, the queue's length, and how long a task in it runs.
func (t teller) sentence() diagnose.Phrase {
	if t.kind == LongKind {
		return t.runsLonger()
	}
	out := say(task(t.own()), t.scheduledAt(t.own()), " waits up to ", ms(longest(t.own().Queued)), t.wasUpTo(t.more.was), " ", t.inUnit())
	if t.kind == ObsoleteKind {
		out = say(out, ": ", t.unneeded())
	}
	if t.kind == LibraryKind {
		out = say(out, ": it stands behind calls of ", diagnose.Part{Name: t.called, As: diagnose.Code, Most: 80})
	}
	out = say(out, "; ", t.queue())
	if at, waits := t.aheadWaits(); waits != nil {
		if len(t.blockers) == 1 && t.blockers[0].group == at && at != t.group {
			out = say(out, ", which ", waits)
		} else {
			out = say(out, "; ", task(t.head.Groups[at]), " ", waits)
		}
	}
	return say(out, t.slowdown(), t.repeated(queuedMax), t.atFrames())
}

// slowdown says which share of what the event got slower by it is.
func (t teller) slowdown() diagnose.Phrase {
	if t.share == nil {
		return nil
	}
	return say("; ", diagnose.Amount{Value: *t.share, Unit: "ratio"}, " of the slowdown")
}

// scheduledAt names the app's line that schedules a group's tasks, nothing where it is unknown.
func (t teller) scheduledAt(g run.TaskGroup) diagnose.Phrase {
	line := ownLine(t.head.context(g), t.run.App.Package)
	if line == "" {
		return nil
	}
	return say(" (scheduled at ", diagnose.Part{Name: brief(line), Most: 80}, ")")
}

// runsLonger returns the sentence on tasks that take longer than before, and on what waits for
// them.
func (t teller) runsLonger() diagnose.Phrase {
	at := t.group
	if n := t.slowed(); n >= 0 {
		at = n
	}
	g := t.head.Groups[at]
	possible := ""
	if t.sure == diagnose.Possible {
		possible = "possible: "
	}
	out := say(possible, task(g), t.scheduledAt(g), " runs for up to ", ms(longest(g.Ran)))
	if e, ok := t.longerBy(g); ok {
		out = say(out, t.wasUpTo(e.was))
	}
	if waits := t.head.runWaits(g); waits != nil {
		out = say(out, ", which ", waits)
	}
	if at == t.group {
		return say(out, t.slowdown(), t.repeated(ranMax), t.atFrames())
	}
	return say(out, ", and ", task(t.own()), " waits for it up to ", ms(longest(t.own().Queued)), " ", t.inUnit(), t.slowdown(), t.repeated(queuedMax), t.atFrames())
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
	in := say("in ", t.unitName())
	switch {
	case t.looper(t.suspect):
		return say(in, ", which handles one message at a time", t.insteadOf())
	case t.capacity == 1:
		return say(in, ", which runs one task at a time", t.insteadOf())
	case t.capacity > 1:
		return say(in, ", whose ", diagnose.Amount{Value: float64(t.capacity)}, " workers are all busy", t.insteadOf())
	}
	return say(in, t.insteadOf())
}

// insteadOf says where such a task ran before, and how many at the same time, where that has
// changed.
func (t teller) insteadOf() diagnose.Phrase {
	switch {
	case t.moved && t.capacityBefore > 0:
		return say(" (before: in ", diagnose.Part{Name: named(t.from), Most: 60}, ", ", diagnose.Amount{Value: float64(t.capacityBefore)}, " at a time)")
	case t.moved:
		return say(" (before: in ", diagnose.Part{Name: named(t.from), Most: 60}, ")")
	case t.fewer:
		return say(" (before: ", diagnose.Amount{Value: float64(t.capacityBefore)}, ")")
	}
	return nil
}

// unneeded says which tasks ahead nobody needs any more.
func (t teller) unneeded() diagnose.Phrase {
	for _, b := range t.blockers {
		if g := t.head.Groups[b.group]; g.Obsolete > 0 {
			return say(diagnose.Amount{Value: float64(g.Obsolete)}, " of ", diagnose.Amount{Value: float64(max(g.Done, g.Obsolete))}, " runs of ", task(g), " end after their screen has gone")
		}
	}
	return say(diagnose.Amount{Value: float64(t.own().Superseded)}, " of ", diagnose.Amount{Value: float64(t.own().Scheduled)}, " are scheduled again before they start")
}

// queue says what stands in the queue when late tasks are scheduled.
func (t teller) queue() diagnose.Phrase {
	late := t.own().Late
	out := say("waits of ", ms(late.OverMS), " or more are behind ", diagnose.Amount{Value: late.QueueMean}, is(late.QueueMean, " task of ", " tasks of "), ms(late.AheadRanMS), " each, on average")
	var names []diagnose.Phrase
	for _, b := range t.blockers[:min(len(t.blockers), 3)] {
		if b.group == t.group {
			names = append(names, say("its own kind"))
			continue
		}
		names = append(names, say(task(t.head.Groups[b.group]), t.scheduledAt(t.head.Groups[b.group])))
	}
	switch n := len(t.blockers) - len(names); {
	case len(names) == 0:
		return out
	case n > 0:
		return say(out, ": ", diagnose.Joined(names, ", "), " and ", diagnose.Count(n, "more kind", "more kinds"))
	case len(names) > 1:
		last := len(names) - 1
		return say(out, ": ", diagnose.Joined(names[:last], ", "), " and ", names[last])
	}
	return say(out, ": ", names[0])
}

func is(n float64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// repeated says in how many repetitions a time is over the threshold.
func (t teller) repeated(of func(run.TaskGroup) []float64) diagnose.Phrase {
	times := t.head.each([]int{t.group}, of)
	if len(times) < 2 {
		return nil
	}
	n := 0
	for _, v := range times {
		if v >= t.overMS {
			n++
		}
	}
	return say("; seen in ", diagnose.Amount{Value: float64(n)}, " of ", diagnose.Amount{Value: float64(len(times))}, " repetitions")
}

// atFrames says how many late frames waited for it, and what it waited for meanwhile.
func (t teller) atFrames() diagnose.Phrase {
	if t.frames == 0 {
		return nil
	}
	return say("; ", diagnose.Count(t.frames, "late frame waits for it", "late frames wait for it"), t.holds)
}

// basis returns the basis of the numbers.
func (t teller) basis() diagnose.Phrase {
	out := say("based on ", diagnose.Count(t.own().Scheduled, "task", "tasks"), " in ", diagnose.Count(t.head.repetitions, "repetition", "repetitions"))
	if t.alone() {
		return out
	}
	if !t.inTurns() {
		return say(out, ", compared with ", diagnose.Count(len(t.base), "earlier run", "earlier runs"))
	}
	n := 0
	for _, b := range t.base {
		n += b.repetitions
	}
	out = say(out, ", compared with ", diagnose.Amount{Value: float64(n)}, " of the base build")
	if t.earlier[0].Explains {
		out = say(out, ", recorded after the verdict")
	}
	return out
}
