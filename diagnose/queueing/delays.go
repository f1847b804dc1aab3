package queueing

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// delay is which delay of which tasks is drawn: how long they waited; for tasks that take longer, how
// long they ran (DiagDroid, Figures 11 and 12).
type delay struct {
	run.TaskGroup
	of, does string
	spread   func(run.TaskGroup) run.Spread
}

func (t teller) delay() delay {
	if t.kind == LongKind {
		return delay{t.head.Groups[t.chief()], "running time", "runs", ran}
	}
	return delay{t.own(), "queuing time", "waits", queued}
}

// picture draws the delays of two builds.
func (d delay) picture(overMS float64, base, head run.Spread, direction gate.Direction) *diagnose.Picture {
	return diagnose.PictureOfDelays("How long "+named(d.Name)+" "+d.does, d.of, overMS, diagnose.Delay{Name: named(d.Name), Base: base, Head: head, Direction: direction})
}

// delays draws the delay before and now. It is nil without tasks before.
func (t teller) delays() *diagnose.Picture {
	d := t.delay()
	before := t.spreadBefore(d.TaskGroup, d.spread)
	if before.Count == 0 {
		return nil
	}
	return d.picture(t.overMS, before, d.spread(d.TaskGroup), gate.ToRegression)
}

// spreadBefore returns a distribution over the runs before: of their quantiles, as if each run had
// as many tasks.
func (c comparison) spreadBefore(g run.TaskGroup, of func(run.TaskGroup) run.Spread) run.Spread {
	var all []float64
	n := 0
	for _, s := range spreads(c.before(g, side.find), of) {
		all, n = append(all, s.QuantilesMS...), n+s.Count
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
		if len(base) == 0 || f.Direction != gate.ToImprovement || !explains(head, f.Metric) || known[f.Event] || len(known) == contrast.MaxFindings {
			continue
		}
		back := compared(base[0], []run.Run{head})
		suspects := back.suspects(f, recorded(base[0].Tasks, f.Event))
		if len(suspects) > 0 {
			most := slices.MaxFunc(suspects, func(a, b suspect) int { return cmp.Compare(a.more.Mean, b.more.Mean) })
			cause := teller{back, most}.improvement()
			cause.Run, cause.Scenario, cause.Event, cause.Metric = head.ID, head.Scenario, f.Event, f.Metric
			out, known[f.Event] = append(out, cause), true
		}
	}
	return out
}

// improvement returns the suspect of a run before as what got better since. The comparison is that
// of the run before with the head as its base.
func (t teller) improvement() diagnose.Cause {
	d := t.delay()
	was, now, value := d.spread(d.TaskGroup), t.spreadBefore(d.TaskGroup, d.spread), -t.more.Mean
	verb, in := " waits up to ", say(" in ", t.unit())
	if t.kind == LongKind {
		verb, in = " runs for up to ", nil
	}
	return diagnose.Cause{
		Kind: t.kind, Direction: gate.ToImprovement, Subject: diagnose.Subject{Name: t.subject().Name},
		Explains: diagnose.Extent{Value: &value, Unit: "ms", Sure: t.sure},
		Title:    say("no longer late tasks: ", t.title()),
		Sentence: say(taskOf(d.TaskGroup), verb, ms(longest(now)), " (before: ", ms(longest(was)), in, ")"),
		Basis:    say("based on ", diagnose.Count(now.Count, "task", "tasks"), ", compared with ", count(was.Count), " of an earlier run"),
		Picture:  d.picture(t.overMS, was, now, gate.ToImprovement),
	}
}
