package queueing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
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

// suspects returns what made the event's tasks late, one for each defect of each unit; then the tasks
// that run for longer than before, and for too long, unless others wait for them.
func (c comparison) suspects(f diagnose.Finding, event string) []suspect {
	linked := c.linked(f.Metric, event)
	decides := func(at int) bool { return !ofFrames(f.Metric) || linked[at] > 0 }
	var waiting, running []suspect
	for at, g := range c.head.Groups {
		if f.Metric == "tasks.ran_ms" || !decides(at) || event != "" && g.Event != event && linked[at] == 0 {
			continue
		}
		if s, ok := c.queued(at); ok {
			waiting = append(waiting, s)
		}
	}
	waiting = c.apart(waiting)
	for at, g := range c.head.Groups {
		reported := slices.ContainsFunc(waiting, func(s suspect) bool {
			return s.group == at || slices.ContainsFunc(s.blockers, func(b blocker) bool { return b.group == at })
		})
		if f.Metric == waited || f.Metric == "tasks.waiting" || reported || !decides(at) || event != "" && g.Event != event || longest(g.Ran) < c.overMS {
			continue
		}
		if e, ok := c.longerBy(g); ok && e.Stands() && c.mostly(longestRun(c.head, []int{at})) {
			running = append(running, suspect{kind: LongKind, group: at, more: e})
		}
	}
	all := append(waiting, c.apart(running)...)
	grew, known := c.growth(f)
	for i := range all {
		s := &all[i]
		s.frames, s.holds, s.sure = linked[s.group], c.heldBy(s.group, event), c.surely(*s)
		if known {
			s.attribute(grew)
		}
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
	if c.alone() {
		now := longestWait(c.head, []int{at})
		if !c.mostly(now) {
			return s, false
		}
		s.more.head = contrast.Mean(now)
		s.more.Mean = s.more.head
	} else {
		s.more = c.change(g, []int{at}, longestWait, s.paced)
		if !s.more.Stands() || !s.any() || s.rearranged && s.more.Mean < s.more.base {
			return s, false
		}
	}
	s.kind, s.called = c.kindOf(s)
	return s, true
}

// over counts the times that are over the threshold.
func (c comparison) over(times []float64) (n int) {
	for _, v := range times {
		if v >= c.overMS {
			n++
		}
	}
	return n
}

// mostly reports whether more than half of the repetitions have a time over the threshold.
func (c comparison) mostly(times []float64) bool { return 2*c.over(times) > len(times) }

// surely returns how sure a suspect is. That one kind of task takes longer than in earlier runs may
// be a slower network or storage, which no other task used; both builds alternately have them alike.
func (c comparison) surely(s suspect) diagnose.Sure {
	switch {
	case s.kind == LongKind && !contrast.InTurns(c.run, c.earlier):
		return diagnose.Possible
	case c.alone() || !s.more.settled || !c.rulesOut(s):
		return diagnose.Likely
	}
	return diagnose.Clear
}

// rulesOut reports whether the source tells what would show another defect than that of a suspect:
// how many tasks its unit runs at the same time; the app's lines in the stacks of what stands in it,
// without which it may be a library's; and which tasks were cancelled, where some are obsolete or were
// scheduled again.
func (c comparison) rulesOut(s suspect) bool {
	switch s.kind {
	case LibraryKind, LongKind:
		return true
	case ObsoleteKind:
		return c.head.tells(run.TellsCancellation)
	case QueueKind:
		return false
	}
	return !slices.ContainsFunc(s.blockers, func(b blocker) bool {
		g := c.head.Groups[b.group]
		return ownLine(c.head.context(g), c.run.App.Package) == "" || g.Superseded > 0 && !c.head.tells(run.TellsCancellation)
	})
}

// apart keeps one suspect for each unit and defect: the one whose wait grew most.
func (c comparison) apart(all []suspect) []suspect {
	slices.SortStableFunc(all, func(a, b suspect) int { return cmp.Compare(b.more.Mean, a.more.Mean) })
	known := map[[2]string]bool{}
	return slices.DeleteFunc(all, func(s suspect) bool {
		key := [2]string{s.kind, teller{c, s}.subject().Name}
		twice := known[key]
		known[key] = true
		return twice
	})
}

func ofFrames(metric string) bool { return strings.HasPrefix(metric, "frames.") }

// growth returns by how many ms the metric of a finding grew, false where it is no time or unknown.
func (c comparison) growth(f diagnose.Finding) (float64, bool) {
	scale := msOf[unitOf(c.run, f.Metric)]
	if scale == 0 || ofFrames(f.Metric) {
		return 0, false
	}
	now, before := valuesOf(f, c.run), valuesOf(f, c.earlier...)
	grew := contrast.Mean(now) - contrast.Mean(before)
	return grew * scale, len(now) > 0 && len(before) > 0 && grew > 0
}

// valuesOf returns a metric of an event in each repetition that has it.
func valuesOf(f diagnose.Finding, runs ...run.Run) (out []float64) {
	for _, r := range runs {
		for _, it := range r.Iterations {
			metrics := it.Metrics
			if f.Event != "" {
				metrics = nil
				if at := slices.Index(run.EventNames(it), f.Event); at >= 0 {
					metrics = it.Events[at].Metrics
				}
			}
			if v, ok := metrics[f.Metric]; ok {
				out = append(out, v)
			}
		}
	}
	return out
}

// beyond is by which factor a wait may be longer than what an event got slower by, before it can't
// be on the event's path.
const beyond = 1.5

// attribute sets which share of the finding's change a suspect explains.
func (s *suspect) attribute(grew float64) {
	s.whole = grew
	switch {
	case s.sure == diagnose.Possible:
	case s.more.Mean <= beyond*grew:
		s.share = new(min(s.more.Mean/grew, 1))
	case s.sure == diagnose.Clear:
		s.sure = diagnose.Likely
	}
}
