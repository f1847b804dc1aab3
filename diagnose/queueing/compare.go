package queueing

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// comparison is the tasks of a run and those of the runs before.
type comparison struct {
	run     run.Run
	earlier []run.Run
	head    side
	base    []side
	overMS  float64
	paces   []pace
}

func compared(head run.Run, base []run.Run) comparison {
	c := comparison{run: head, earlier: base, head: sideOf(head)}
	for _, b := range base {
		c.base = append(c.base, sideOf(b))
	}
	c.overMS = c.head.overMS()
	c.paces = c.pacesOf()
	return c
}

// alone reports that there are no runs before.
func (c comparison) alone() bool { return len(c.base) == 0 }

// same returns the groups of each run before that are the same tasks as one of the head's, in the
// same event or in any.
func (c comparison) same(g run.TaskGroup, anyEvent bool) [][]int {
	out := make([][]int, len(c.base))
	for i, b := range c.base {
		if out[i] = b.find(c.head, g); anyEvent {
			out[i] = b.findAny(c.head, g)
		}
	}
	return out
}

// values returns a number of each repetition of the groups of each run before.
func (c comparison) values(groups [][]int, of func(side, []int) []float64) [][]float64 {
	var out [][]float64
	for i, b := range c.base {
		out = append(out, of(b, groups[i]))
	}
	return out
}

// pace is by which factor the tasks of a name take longer than before.
type pace struct {
	name   string
	factor float64
}

// The least from which a pace is taken.
const (
	pacedTasks = 3   // of each build
	pacedMS    = 2.0 // that one takes
)

// framePace names the pace of frames.
const framePace = "\x00frames"

// pacesOf returns how much longer the tasks of each name take than before, and frames.
func (c comparison) pacesOf() []pace {
	var out []pace
	for _, g := range c.head.Groups {
		if slices.ContainsFunc(out, func(p pace) bool { return p.name == g.Name }) {
			continue
		}
		own := c.head.findAny(c.head, g)
		now, n := c.head.meanRan(own)
		before, m, most := 0.0, 0, 0.0
		for i, groups := range c.same(g, true) {
			ms, k := c.base[i].meanRan(groups)
			before, m, most = before+ms*float64(k), m+k, max(most, c.base[i].longestRun(groups))
		}
		before /= float64(max(m, 1))
		if n >= pacedTasks && m >= pacedTasks && before >= pacedMS {
			// The lesser of both: tasks that were cut short before take longer in the mean alone.
			out = append(out, pace{g.Name, min(now/before, c.head.longestRun(own)/most)})
		}
	}
	if now, before := medianFrame(c.run), medianFrame(c.earlier...); now > 0 && before > 0 {
		out = append(out, pace{framePace, now / before})
	}
	return out
}

// medianFrame returns the mean over repetitions of the median frame, 0 where unknown.
func medianFrame(runs ...run.Run) float64 {
	sum, n := 0.0, 0
	for _, r := range runs {
		for _, it := range r.Iterations {
			if v := it.Metrics["frames.duration_ms.p50"]; v > 0 {
				sum, n = sum+v, n+1
			}
		}
	}
	return sum / float64(max(n, 1))
}

// pace returns by which factor half of everything but the tasks of a name takes longer, at least
// 1; and false where there is nothing else to tell.
func (c comparison) pace(but string) (float64, bool) {
	var all []float64
	for _, p := range c.paces {
		if p.name != but {
			all = append(all, p.factor)
		}
	}
	if len(all) == 0 {
		return 1, false
	}
	slices.Sort(all)
	return max(1, all[(len(all)-1)/2]), true
}

// alikeGrowth is the part of a task's growth, on the log scale, from which on another has grown as
// much.
const alikeGrowth = 0.6

// common reports whether other tasks take as much longer as those of a name: at least two, or half
// of them. A busy network makes all tasks longer that use it, and no other.
func (c comparison) common(name string, factor float64) bool {
	as, others := 0, 0
	for _, p := range c.paces {
		if p.name == name {
			continue
		}
		others++
		if math.Log(p.factor) >= alikeGrowth*math.Log(factor) {
			as++
		}
	}
	return as >= 2 || as > 0 && 2*as >= others
}

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

// evidence is what changed in a queue.
type evidence struct {
	capacity, capacityBefore int  // of the unit, and of the one before; 0 where unknown
	moved                    bool // into a unit of another name than from
	from                     string
	fewer                    bool  // tasks run at the same time than before
	newcomers                []int // groups ahead that were not in the unit before
	added                    []int // groups ahead with more tasks than before
	longer                   []int // groups ahead that take longer than before
	uncancelled              bool  // fewer tasks are cancelled, more are started, or fewer are cut short than before
	rearranged               bool  // the wait is longer, and the tasks are as many and take as long as before
	gone                     bool  // more tasks run on after their screen had gone
	paced                    float64
}

// any reports whether the queue itself changed, and not only how long everything takes.
func (e evidence) any() bool {
	return e.structural() || len(e.longer) > 0
}

// structural reports whether more changed than how long a task takes.
func (e evidence) structural() bool {
	return e.moved || e.fewer || len(e.newcomers)+len(e.added) > 0 || e.uncancelled || e.rearranged
}

// evidenceOf returns what changed in the queue in which a group of the head waits.
func (c comparison) evidenceOf(at int, ahead []blocker) evidence {
	g := c.head.Groups[at]
	out := evidence{capacity: capacity(c.head.unit(g)), paced: 1}
	if c.alone() {
		return out
	}
	out.paced, _ = c.pace(g.Name)
	out.move(c, g)
	for _, b := range ahead {
		blocks := c.head.Groups[b.group]
		switch {
		case c.isUnknown(blocks):
		case !c.wasIn(blocks, c.head.unit(g)):
			out.newcomers = append(out.newcomers, b.group)
		case c.isMore(b.group):
			out.added = append(out.added, b.group)
		case c.isLonger(b.group):
			out.longer = append(out.longer, b.group)
		}
	}
	groups := []int{at}
	for _, b := range ahead {
		groups = append(groups, b.group)
	}
	now, before := c.part(groups, started)
	out.uncancelled = c.head.tells(run.TellsCancellation) && c.fell(groups, cancelled) || now-before >= tenth || slices.ContainsFunc(groups, c.wasCut)
	out.gone = c.rose(groups, obsolete)
	out.rearranged = !out.any() && len(ahead) > 0 && !slices.ContainsFunc(ahead, func(b blocker) bool { return c.slower(b.group) >= asLong })
	return out
}

// asLong is the factor up to which tasks take as long as before. Tasks that were cut short before
// take longer on average now, by the factor cut; the shortest of them was shorter than a half of the
// longest then, and is closer to it now by even.
const (
	asLong = 1.1
	cut    = 1.25
	half   = 0.5
	even   = 0.3
)

// slower returns by which factor the tasks of a group take longer than before on average.
func (c comparison) slower(group int) float64 {
	g := c.head.Groups[group]
	now, _ := c.head.meanRan([]int{group})
	before, n := 0.0, 0
	for i, groups := range c.same(g, false) {
		ms, k := c.base[i].meanRan(groups)
		before, n = before+ms*float64(k), n+k
	}
	if n == 0 || before == 0 {
		return math.Inf(1)
	}
	return now / (before / float64(n))
}

// wasCut reports whether tasks of a group were cut short before.
func (c comparison) wasCut(group int) bool {
	g := c.head.Groups[group]
	sum, n := 0.0, 0.0
	for i, groups := range c.same(g, false) {
		for _, k := range groups {
			sum, n = sum+evenness(c.base[i].Groups[k].Ran), n+1
		}
	}
	factor, _ := c.pace(g.Name)
	return n > 0 && sum/n < half && evenness(g.Ran) >= sum/n+even && c.slower(group) >= cut*factor
}

// evenness returns how long the shortest of some times is, as a share of the longest.
func evenness(s run.Spread) float64 {
	if len(s.QuantilesMS) == 0 || longest(s) == 0 {
		return 1
	}
	return s.QuantilesMS[0] / longest(s)
}

// move sets whether the tasks of a group ran in another unit before, or in one that ran more of
// them at the same time.
func (e *evidence) move(c comparison, g run.TaskGroup) {
	here := unitName(c.head.unit(g))
	runs, elsewhere := 0, 0
	for i, groups := range c.same(g, true) {
		b := c.base[i]
		if len(groups) == 0 {
			continue
		}
		runs++
		there := b.unit(b.Groups[groups[0]])
		if unitName(there) != here {
			elsewhere++
			e.from = there.Name
		}
		if n := capacity(there); n > 0 && (e.capacityBefore == 0 || n < e.capacityBefore) {
			e.capacityBefore = n
		}
	}
	e.moved = runs > 0 && elsewhere == runs
	e.fewer = e.capacity > 0 && e.capacityBefore > e.capacity
}

// wasIn reports whether the tasks of a group ran in a unit of that name in any run before.
func (c comparison) wasIn(g run.TaskGroup, u run.TaskUnit) bool {
	for i, groups := range c.same(g, true) {
		b := c.base[i]
		for _, k := range groups {
			if unitName(b.unit(b.Groups[k])) == unitName(u) {
				return true
			}
		}
	}
	return false
}

// isUnknown reports whether the tasks of a group may have been left out of a run before.
func (c comparison) isUnknown(g run.TaskGroup) bool {
	for i, groups := range c.same(g, false) {
		if len(groups) == 0 && c.base[i].LeftOut > 0 {
			return true
		}
	}
	return false
}

// isMore reports whether a repetition has more tasks of a group than before.
func (c comparison) isMore(group int) bool {
	g := c.head.Groups[group]
	now := change(c.head.count(c.head.find(c.head, g)), c.values(c.same(g, false), side.count), 1)
	return now.stands() && now.mean >= 1
}

// isLonger reports whether the tasks of a group take longer than before, and longer than what all
// others take longer by.
func (c comparison) isLonger(group int) bool {
	g := c.head.Groups[group]
	e, ok := c.longerBy(g)
	return ok && e.stands()
}

// longerBy returns by how much the longest task of a group in each repetition takes longer than
// before, beyond what everything takes longer by; false where it does not, or where others do too.
func (c comparison) longerBy(g run.TaskGroup) (estimate, bool) {
	same := c.same(g, false)
	if !slices.ContainsFunc(same, func(groups []int) bool { return len(groups) > 0 }) {
		return estimate{}, false
	}
	factor, _ := c.pace(g.Name)
	e := change(c.head.each(c.head.find(c.head, g), ranMax), c.values(same, func(s side, at []int) []float64 { return s.each(at, ranMax) }), factor)
	if e.base <= 0 {
		return e, false
	}
	return e, !c.common(g.Name, e.head/e.was)
}

// tenth is the least share of tasks by which those that are cancelled, or obsolete, change.
const tenth = 0.1

// part returns the share of the scheduled tasks that count, now and before.
func (c comparison) part(groups []int, of func(run.TaskGroup) int) (now, before float64) {
	n, k, m, l := 0.0, 0.0, 0.0, 0.0
	for _, at := range groups {
		n, k = n+c.head.sum([]int{at}, of), k+c.head.sum([]int{at}, scheduled)
		for i, same := range c.same(c.head.Groups[at], false) {
			m, l = m+c.base[i].sum(same, of), l+c.base[i].sum(same, scheduled)
		}
	}
	return partOf(n, k), partOf(m, l)
}

func partOf(n, of float64) float64 {
	if of == 0 {
		return 0
	}
	return n / of
}

func (c comparison) fell(groups []int, of func(run.TaskGroup) int) bool {
	now, before := c.part(groups, of)
	return before-now >= tenth && now <= before/2
}

func (c comparison) rose(groups []int, of func(run.TaskGroup) int) bool {
	now, before := c.part(groups, of)
	return now-before >= tenth && before <= now/2
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
