package queueing

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// suspect is a group whose tasks wait or run for too long, and why.
type suspect struct {
	kind  string
	group int // that waits, or runs
	more  estimate
	evidence
	blockers []blocker
	called   string // the library's method that schedules what it waits for
	whole    float64
	share    *float64
	sure     diagnose.Sure
	frames   int             // late frames that waited for it
	holds    diagnose.Phrase // what it waited for itself meanwhile
}

// of returns the causes of a finding, whose event has that name in the record.
func (c comparison) of(f diagnose.Finding, event string) []diagnose.Cause {
	suspects := c.suspects(f, event)
	var out []diagnose.Cause
	for _, s := range suspects {
		cause := teller{c, s}.cause()
		cause.Run, cause.Scenario, cause.Event, cause.Metric = c.run.ID, c.run.Scenario, f.Event, f.Metric
		out = append(out, cause)
	}
	return out
}

// suspects returns what made the event's tasks late, one for each defect of each unit.
func (c comparison) suspects(f diagnose.Finding, event string) []suspect {
	more, known := c.growth(f)
	linked, onlyLinked := c.linked(f.Metric, event)
	var all []suspect
	for at, g := range c.head.Groups {
		if event != "" && g.Event != event && linked[at] == 0 || onlyLinked && linked[at] == 0 {
			continue
		}
		if s, ok := c.queued(at); ok && f.Metric != "tasks.ran_ms" {
			s.frames, s.holds = linked[at], c.heldBy(at, event)
			all = append(all, s)
		}
	}
	all = c.apart(all)
	all = append(all, c.long(event, linked, onlyLinked, all, f.Metric)...)
	for i := range all {
		all[i].attribute(more, known)
	}
	return all
}

// queued returns a group whose tasks wait for too long, and why; false where they don't, or where
// nothing of their queue has changed.
func (c comparison) queued(at int) (suspect, bool) {
	g := c.head.Groups[at]
	if g.Late == nil || g.Late.Tasks == 0 {
		return suspect{}, false
	}
	s := suspect{group: at, blockers: c.head.blockers(g)}
	s.evidence = c.evidenceOf(at, s.blockers)
	now := c.head.each([]int{at}, queuedMax)
	if c.alone() {
		s.more = estimate{mean: mean(now), head: mean(now)}
		if !mostly(now, c.overMS) {
			return s, false
		}
	} else {
		s.more = change(now, c.values(c.same(g, false), func(s side, at []int) []float64 { return s.each(at, queuedMax) }), s.paced)
		if !s.more.stands() || !s.any() || s.rearranged && s.more.mean < s.more.base {
			return s, false
		}
	}
	s.kind, s.called = c.kindOf(s)
	s.sure = c.surely(s)
	return s, s.kind != ""
}

// mostly reports whether more than half of the repetitions have a time over the threshold.
func mostly(times []float64, overMS float64) bool {
	n := 0
	for _, v := range times {
		if v >= overMS {
			n++
		}
	}
	return 2*n > len(times)
}

// surely returns how sure a suspect is. That one kind of task takes longer than in earlier runs may
// be a slower network or storage, which no other task used; both builds in turns have them alike.
func (c comparison) surely(s suspect) diagnose.Sure {
	switch {
	case s.kind == LongKind && !c.inTurns():
		return diagnose.Possible
	case c.alone() || !s.more.settled:
		return diagnose.Likely
	}
	return diagnose.Clear
}

// inTurns reports whether the runs before are the base build's of the same session.
func (c comparison) inTurns() bool {
	return len(c.earlier) > 0 && (c.earlier[0].Explains || c.earlier[0].Session != "" && c.earlier[0].Session == c.run.Session)
}

// apart keeps one suspect for each unit and defect: the one whose wait grew most.
func (c comparison) apart(all []suspect) []suspect {
	slices.SortStableFunc(all, func(a, b suspect) int { return cmp.Compare(b.more.mean, a.more.mean) })
	type key struct {
		kind, subject string
	}
	known := map[key]bool{}
	return slices.DeleteFunc(all, func(s suspect) bool {
		k := key{s.kind, c.subject(s)}
		twice := known[k]
		known[k] = true
		return twice
	})
}

// long returns the tasks of an event that run for longer than before, and for too long, except
// those that others of the suspects wait for.
func (c comparison) long(event string, linked map[int]int, onlyLinked bool, known []suspect, metric string) []suspect {
	if metric == waited || metric == "tasks.waiting" {
		return nil
	}
	var out []suspect
	for at, g := range c.head.Groups {
		told := slices.ContainsFunc(known, func(s suspect) bool {
			return s.group == at || slices.ContainsFunc(s.blockers, func(b blocker) bool { return b.group == at })
		})
		if told || event != "" && g.Event != event || onlyLinked && linked[at] == 0 || longest(g.Ran) < c.overMS {
			continue
		}
		if e, ok := c.longerBy(g); ok && e.stands() && mostly(c.head.each([]int{at}, ranMax), c.overMS) {
			s := suspect{kind: LongKind, group: at, more: e, frames: linked[at], holds: c.heldBy(at, event)}
			s.sure = c.surely(s)
			out = append(out, s)
		}
	}
	return c.apart(out)
}

// growth returns by how many ms the metric of a finding grew, false where it is no time or unknown.
func (c comparison) growth(f diagnose.Finding) (float64, bool) {
	scale := 1.0
	switch m, known := builtin.Lookup(f.Metric); {
	case known && m.Unit == "ms":
	case isTime(c.run, f.Metric):
		scale = msOf[c.run.Declared[slices.IndexFunc(c.run.Declared, func(d run.Declared) bool { return d.Name == f.Metric })].Unit]
	default:
		return 0, false
	}
	if frames(f.Metric) {
		return 0, false
	}
	now, ok := meanOf(f, c.run)
	before, known := meanOf(f, c.earlier...)
	return (now - before) * scale, ok && known && now > before
}

// meanOf returns the mean over repetitions of a metric of an event.
func meanOf(f diagnose.Finding, runs ...run.Run) (float64, bool) {
	sum, n := 0.0, 0
	for _, r := range runs {
		for _, it := range r.Iterations {
			v, ok := it.Metrics[f.Metric]
			if f.Event != "" {
				v, ok = 0, false
				if at := slices.Index(run.EventNames(it), f.Event); at >= 0 {
					v, ok = it.Events[at].Metrics[f.Metric]
				}
			}
			if ok {
				sum, n = sum+v, n+1
			}
		}
	}
	return sum / float64(max(n, 1)), n > 0
}

// beyond is by which factor a wait may be longer than what an event got slower by, before it can't
// be on the event's path.
const beyond = 1.5

// attribute sets which share of the finding's change a suspect explains.
func (s *suspect) attribute(grew float64, known bool) {
	if !known {
		return
	}
	s.whole = grew
	if s.sure == diagnose.Possible {
		return
	}
	if s.more.mean > beyond*grew {
		if s.sure == diagnose.Clear {
			s.sure = diagnose.Likely
		}
		return
	}
	s.share = new(min(s.more.mean/grew, 1))
}
