package jankcause

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// The least that is reported: docs/evaluation/causes.md#what-decides has the reasons.
const (
	certainPart = 3.5  // errors by which one part of a kind of time must have grown: there are more of them
	worth       = 0.1  // of the lost time that a cause must explain
	leastPart   = 0.05 // of the critical path of late frames, where it explains less of all lost time
	leastMS     = 0.05 // per frame that it must cost
	fewFrames   = 3    // late frames that are too few without runs before
	ownShare    = 0.25 // of a kind's time from which on a subject is a cause of its own
	manyUnseen  = 0.25 // share of additional late frames that nobody saw, from which on the others are biased
)

// comparison is an event's frames, and those of the runs before.
type comparison struct {
	event    string
	timeline bool // frames are from Android's frame timeline
	head     event
	base     []event
	// worst are the head's late frames of the event with a path, worst first, and frozen those of
	// the runs before that froze.
	worst, frozen []run.LateFrame
}

// suspect is what made frames late.
type suspect struct {
	blame
	place
	parts            []blame           // what its time is of
	foremost         float64           // the subject's own part of its time
	more             contrast.Estimate // ms per frame
	share, low, high float64           // of all the lost time
	latePart         float64           // of the critical path of late frames
	inLate           float64           // the part of its time in late frames
	sure             diagnose.Sure
	cores            *coreShift
	ends             diagnose.Phrase // where the chain of waiting ends
	views            *redundant
	shown            *freeze // the frame that shows it by itself
	behind           bool    // another one hides its cost
}

// shift is how much a kind of time changed.
type shift struct {
	kind   string
	more   contrast.Estimate
	parts  []blame // the one that grew most first
	growth map[blame]float64
}

// alone reports that there are no runs before.
func (c comparison) alone() bool { return len(c.base) == 0 }

// sides returns the two sides of the comparison, in ms per frame: frames now and before, or late
// ones and normal ones of only the head.
func (c comparison) sides() (now, before tally) {
	if c.alone() {
		return c.head.late, c.head.normal
	}
	var all []tally
	for _, b := range c.base {
		all = append(all, b.seen())
	}
	return c.head.seen(), pooled(all)
}

// usual returns normal frames: those before, or the head's own.
func (c comparison) usual() tally {
	if c.alone() {
		return c.head.normal
	}
	var all []tally
	for _, b := range c.base {
		all = append(all, b.normal)
	}
	return pooled(all)
}

// outcome is what stands out, and how much time there is to explain.
type outcome struct {
	shifts   []shift
	suspects []suspect
	whole    float64 // ms per frame that were lost
}

// explain returns what stands out; nothing where nothing does. Anything that explains more than
// what is sure is included, as possible.
func (c comparison) explain() outcome {
	now, before := c.sides()
	if now.frames == 0 {
		return outcome{}
	}
	out := outcome{shifts: c.changes(now, before)}
	var standing, unsure []shift
	lost, most := 0.0, 0.0
	for _, s := range out.shifts {
		one, stands := s.standing(now, before)
		switch {
		case stands:
			standing = append(standing, one)
			lost += one.more.Mean
			most = max(most, one.more.Mean)
		case s.more.Mean > 0:
			unsure = append(unsure, s)
			if s.more.Mean > s.more.Err {
				lost += s.more.Mean
			}
		}
	}
	out.whole = max(lost, now.longer(before))
	if c.alone() && c.head.late.frames < fewFrames {
		standing, most = nil, 0
	}
	for _, s := range standing {
		if s.more.Mean >= worth*lost {
			out.suspects = append(out.suspects, c.suspectsOf(s, out.whole)...)
		}
	}
	for _, s := range unsure {
		if most > 0 && s.more.Mean > most {
			for _, one := range c.suspectsOf(s, out.whole) {
				one.sure = diagnose.Possible
				out.suspects = append(out.suspects, one)
			}
		}
	}
	out.suspects = slices.DeleteFunc(out.suspects, func(s suspect) bool { return s.latePart < leastPart && s.share < worth })
	out.suspects = c.withFreezes(out)
	out.suspects = append(c.withRedundant(out.suspects), c.behind(out)...)
	return out
}

// longer returns how much longer frames take than others on average, in ms, including time that is
// not blamed: idle, and unknown.
func (t tally) longer(than tally) float64 {
	return t.took.sum/max(t.frames, 1) - than.took.sum/max(than.frames, 1)
}

// standing returns what of a kind of time stands out: all of it, or else the parts that do by
// themselves, which the rest would hide.
func (s shift) standing(now, before tally) (shift, bool) {
	if s.more.Mean >= max(contrast.Certain*s.more.Err, leastMS) {
		return s, true
	}
	out := shift{kind: s.kind, growth: s.growth}
	for _, b := range s.parts {
		if b.subject == "" && now.unlisted+before.unlisted > 0 {
			continue // the rest of one list may be what another lists
		}
		err := now.change(before, []blame{b}).Err
		if s.growth[b] >= max(certainPart*err, leastMS) {
			out.parts = append(out.parts, b)
			out.more = contrast.Estimate{Mean: out.more.Mean + s.growth[b], Err: math.Hypot(out.more.Err, err)}
		}
	}
	return out, out.parts != nil
}

// changes returns how much each kind of time changed. What slower cores made longer is theirs, and
// waits for buffers belong to the work that took longer.
func (c comparison) changes(now, before tally) []shift {
	byKind := map[string]*shift{}
	var out []*shift
	for _, b := range blames(now, before) {
		s := byKind[b.kind]
		if s == nil {
			s = &shift{kind: b.kind, growth: map[blame]float64{}}
			byKind[b.kind] = s
			out = append(out, s)
		}
		s.parts = append(s.parts, b)
		s.growth[b] = growth(now, before, b)
	}
	for _, s := range out {
		s.more = now.change(before, s.parts)
		if isWork(s.kind) { // the kind of unlisted time is unknown
			s.more.Mean = 0
			for _, one := range s.parts {
				s.more.Mean += s.growth[one]
			}
		}
		s.sort()
	}
	out = c.withCores(out, now, before)
	giveBuffers(byKind)
	var list []shift
	for _, s := range out {
		if s.kind != bufferKind {
			s.sort()
			list = append(list, *s)
		}
	}
	return list
}

// sort puts the part that grew most first.
func (s *shift) sort() {
	slices.SortStableFunc(s.parts, func(x, y blame) int { return cmp.Compare(s.growth[y], s.growth[x]) })
}

// giveBuffers adds waits for buffers to the work that kept them: the GPU's, SurfaceFlinger's, or
// the render thread's. Where none of these took longer, nobody is blamed: once frames are behind,
// each waits for the one before until the animation rests, whatever started it.
func giveBuffers(by map[string]*shift) {
	waited := by[bufferKind]
	if waited == nil || waited.more.Mean <= 0 {
		return
	}
	var to *shift
	for _, kind := range []string{GPUKind, CompositionKind, DrawKind} {
		if s := by[kind]; s != nil && s.more.Mean > contrast.Certain*s.more.Err && (to == nil || s.more.Mean > to.more.Mean) {
			to = s
		}
	}
	if to != nil {
		to.more = contrast.Estimate{Mean: to.more.Mean + waited.more.Mean, Err: math.Hypot(to.more.Err, waited.more.Err)}
		to.growth[to.parts[0]] += waited.more.Mean
	}
}

// suspectsOf returns the suspects of one kind: its foremost subject, or of calls, locks and files
// each with its part, and of work each thread.
func (c comparison) suspectsOf(s shift, lost float64) []suspect {
	var out []suspect
	for _, parts := range c.apart(s) {
		more := s.more
		if len(parts) < len(s.parts) {
			sum := 0.0
			for _, b := range parts {
				sum += s.growth[b]
			}
			more = contrast.Estimate{Mean: sum, Err: s.more.Err * sum / s.more.Mean}
		}
		out = append(out, c.suspect(s, parts, more, lost))
	}
	return out
}

// apart returns the parts of a kind that are causes of their own; all of it where there is only
// one, but for work one thread's.
func (c comparison) apart(s shift) [][]blame {
	var groups [][]blame
	switch {
	case causeKindOf(s.kind).apart:
		for _, b := range s.parts {
			groups = append(groups, []blame{b})
		}
	case isWork(s.kind):
		place := map[string]int{}
		for _, b := range s.parts {
			thread := c.placeOf([]blame{b}).thread
			if _, known := place[thread]; !known {
				place[thread] = len(groups)
				groups = append(groups, nil)
			}
			groups[place[thread]] = append(groups[place[thread]], b)
		}
	default:
		return [][]blame{s.parts}
	}
	var out [][]blame
	for _, parts := range groups {
		sum := 0.0
		for _, b := range parts {
			sum += s.growth[b]
		}
		if sum >= ownShare*s.more.Mean {
			out = append(out, parts)
		}
	}
	if len(out) == 0 || len(out) == 1 && !isWork(s.kind) {
		return [][]blame{s.parts}
	}
	return out
}

func (c comparison) suspect(s shift, parts []blame, more contrast.Estimate, lost float64) suspect {
	out := suspect{blame: blame{s.kind, parts[0].subject}, parts: parts, more: more, sure: diagnose.Clear}
	out.place = c.placeOf(parts)
	out.foremost = min(s.growth[parts[0]]/more.Mean, 1)
	out.share, out.low, out.high = more.Share(lost, leastMS)
	if now, before := c.sides(); c.alone() || !now.settles(before) || c.runsOn(s.kind) {
		out.sure = diagnose.Likely
	}
	var late, all float64
	for _, b := range parts {
		late += c.head.late.parts[b].sum
		all += c.head.late.parts[b].sum + c.head.normal.parts[b].sum
	}
	out.inLate = late / max(all, leastMS)
	_, out.latePart = c.head.late.portion(parts)
	if s.kind == LittleKind || s.kind == FrequencyKind {
		out.cores = c.coreShift()
		out.blame.subject = subjectOfCores[s.kind]
	}
	return out
}

// runsOn reports whether a kind's time extends into the following frames, so that it may count for
// more than it cost: drawing and composition after the app's threads, without a frame timeline. So
// does all time where many more frames than before were late and not seen: the remaining ones are
// biased.
func (c comparison) runsOn(kind string) bool {
	if c.timeline || c.alone() {
		return false
	}
	var buffered, frames float64
	for _, b := range c.base {
		buffered, frames = buffered+b.buffered, frames+b.frames
	}
	unseen := c.head.buffered/max(c.head.frames, 1) - buffered/max(frames, 1)
	return kind == GPUKind || kind == CompositionKind || unseen >= manyUnseen
}

// placeOf returns where most of the first blame's time lies in late frames.
func (c comparison) placeOf(parts []blame) place {
	best := c.head.late.places[parts[0]]
	if best.ms == 0 {
		best = c.head.normal.places[parts[0]]
	}
	return best
}

// portion returns the time of blames in a frame: ms, and the share of its critical path.
func (t tally) portion(parts []blame) (ms, share float64) {
	for _, b := range parts {
		ms += t.mean(b)
	}
	if whole := t.took.sum / max(t.frames, 1); whole > 0 {
		share = min(ms/whole, 1)
	}
	return ms, share
}

func compareBlames(a, b blame) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.subject, b.subject))
}
