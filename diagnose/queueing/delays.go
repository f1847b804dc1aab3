package queueing

import (
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// What a picture of delays is of.
const (
	queuing = "queuing time"
	running = "running time"
)

// delays draws how long the tasks waited, before and now; for tasks that take longer, how long they
// ran (DiagDroid, Figures 11 and 12). It is nil without tasks before.
func (t teller) delays() *diagnose.Picture {
	at, of, spread := t.drawnDelay()
	g := t.head.Groups[at]
	before := t.spreadBefore(g, spread)
	if before.Count == 0 {
		return nil
	}
	return diagnose.PictureOfDelays(delaysTitle(g, of), of, t.overMS,
		diagnose.Delay{Name: named(g.Name), Base: before, Head: spread(g), Direction: gate.ToRegression})
}

// drawnDelay returns the group whose delay is drawn, and which delay it is.
func (t teller) drawnDelay() (group int, of string, spread func(run.TaskGroup) run.Spread) {
	if t.kind != LongKind {
		return t.group, queuing, queued
	}
	if n := t.slowed(); n >= 0 {
		return n, running, ran
	}
	return t.group, running, ran
}

func queued(g run.TaskGroup) run.Spread { return g.Queued }
func ran(g run.TaskGroup) run.Spread    { return g.Ran }

func delaysTitle(g run.TaskGroup, of string) string {
	if of == running {
		return "How long " + named(g.Name) + " runs"
	}
	return "How long " + named(g.Name) + " waits"
}

// spreadBefore returns a distribution over the runs before: of their quantiles, as if each run had
// as many tasks.
func (c comparison) spreadBefore(g run.TaskGroup, of func(run.TaskGroup) run.Spread) run.Spread {
	var all []float64
	n := 0
	for i, groups := range c.same(g, false) {
		for _, k := range groups {
			s := of(c.base[i].Groups[k])
			all, n = append(all, s.QuantilesMS...), n+s.Count
		}
	}
	out := run.SpreadOf(all, min(len(all), run.MaxQuantiles))
	out.Count = n
	return out
}

// better returns what made the tasks of events later in the runs before, and no longer does: the
// causes that the newest of these runs would have beside the head, one for each event.
func better(head run.Run, base []run.Run, found []diagnose.Finding) (out []diagnose.Cause) {
	known := map[string]bool{}
	for _, f := range found {
		if len(base) == 0 || f.Direction != gate.ToImprovement || !explains(head, f.Metric) || known[f.Event] || len(known) == maxFindings {
			continue
		}
		back := compared(base[0], []run.Run{head})
		suspects := back.suspects(f, recorded(base[0].Tasks, f.Event))
		slices.SortStableFunc(suspects, func(a, b suspect) int { return compare(b.more.mean, a.more.mean) })
		if len(suspects) > 0 {
			cause := teller{back, suspects[0]}.improvement()
			cause.Run, cause.Scenario, cause.Event, cause.Metric = head.ID, head.Scenario, f.Event, f.Metric
			out, known[f.Event] = append(out, cause), true
		}
	}
	return out
}

// improvement returns the suspect of a run before as what got better since. The comparison is that
// of the run before with the head as its base.
func (t teller) improvement() diagnose.Cause {
	at, of, spread := t.drawnDelay()
	g := t.head.Groups[at]
	now := t.spreadBefore(g, spread)
	value := -t.more.mean
	verb, in := " waits up to ", say(" in ", t.unitName())
	if of == running {
		verb, in = " runs for up to ", nil
	}
	return diagnose.Cause{
		Kind: t.kind, Direction: gate.ToImprovement, Subject: diagnose.Subject{Name: t.subject(t.suspect)},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Sure: t.sure},
		Title:    say("no longer late tasks: ", t.title()),
		Sentence: say(task(g), verb, ms(longest(now)), " (before: ", ms(longest(spread(g))), in, ")"),
		Basis:    say("based on ", diagnose.Count(now.Count, "task", "tasks"), ", compared with ", diagnose.Amount{Value: float64(spread(g).Count)}, " of an earlier run"),
		Picture: diagnose.PictureOfDelays(delaysTitle(g, of), of, t.overMS,
			diagnose.Delay{Name: named(g.Name), Base: spread(g), Head: now, Direction: gate.ToImprovement}),
	}
}
