package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
)

// What stands out. Each can be moved without changing what is found in the labelled
// set; docs/evaluation.md shows by how much.
const (
	certain     = 3.0  // standard errors that a kind of time must have grown by to be named
	certainPart = 3.5  // the same of one of its parts, of which there are more
	worth       = 0.1  // of the lost time that a cause must explain
	leastPart   = 0.05 // of the critical path of late frames, where it explains less of all lost time
	leastMS     = 0.05 // per frame that it must cost
	fewFrames   = 3    // late ones that are too few to tell anything without runs before
	ownShare    = 0.25 // of a kind's time from which on a subject is a cause of its own
	z95         = 1.96
	level       = 0.95
)

// comparison is an event's frames, and those of the runs before.
type comparison struct {
	event string
	head  event
	base  []event
}

// suspect is what made frames late.
type suspect struct {
	blame
	place
	more             estimate // ms per frame
	share, low, high float64  // of all the time that was lost
	lateMS           float64  // in a late frame
	latePart, usual  float64  // of the critical path of late frames, of those before
	sure             diagnose.Sure
	cores            *coreShift
	ends             diagnose.Phrase // where the chain of waiting ends
	views            *redundant
}

// shift is by how much a kind of time changed.
type shift struct {
	kind   string
	more   estimate
	parts  []blame // the one that grew most first
	growth map[blame]float64
}

// alone reports that no run before is known.
func (c comparison) alone() bool { return len(c.base) == 0 }

// sides are what is held against each other, ms per frame of each: what frames took now
// and before, or late ones and normal ones of the head alone.
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

// usual are normal frames: those before, or the head's own.
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

// suspects are what stands out; nil where nothing does.
func (c comparison) suspects() []suspect {
	if c.head.late.frames == 0 || c.alone() && c.head.late.frames < fewFrames {
		return nil
	}
	now, before := c.sides()
	var standing []shift
	lost := 0.0
	for _, s := range c.shifts(now, before) {
		out, stands := s.standing(now, before)
		if stands {
			standing = append(standing, out)
			lost += out.more.mean
		} else if s.more.mean > s.more.err {
			lost += s.more.mean
		}
	}
	var out []suspect
	whole := max(lost, now.longer(before))
	for _, s := range standing {
		if s.more.mean >= worth*lost {
			out = append(out, c.suspectsOf(s, whole)...)
		}
	}
	return c.withRedundant(slices.DeleteFunc(out, func(s suspect) bool { return s.latePart < leastPart && s.share < worth }))
}

// longer is by how much frames take longer than others in the mean, in ms, with what is
// nobody's: having nothing to do, and what the trace does not tell.
func (t tally) longer(than tally) float64 {
	return t.took.sum/max(t.frames, 1) - than.took.sum/max(than.frames, 1)
}

// standing is what of a kind of time stands out: all of it, or else those parts that do by
// themselves, which the rest of it would hide.
func (s shift) standing(now, before tally) (shift, bool) {
	if s.more.mean >= max(certain*s.more.err, leastMS) {
		return s, true
	}
	out := shift{kind: s.kind, growth: s.growth}
	for _, b := range s.parts {
		if b.subject == "" && now.unlisted+before.unlisted > 0 {
			continue // the rest of one list may be what another lists
		}
		err := math.Hypot(now.of([]blame{b}).err, before.of([]blame{b}).err)
		if s.growth[b] >= max(certainPart*err, leastMS) {
			out.parts = append(out.parts, b)
			out.more = estimate{out.more.mean + s.growth[b], math.Hypot(out.more.err, err)}
		}
	}
	return out, out.parts != nil
}

// shifts are by how much each kind of time changed. What slower cores made longer is
// theirs, and buffers that were not given back are whose work took longer.
func (c comparison) shifts(now, before tally) []shift {
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
		a, b := now.of(s.parts), before.of(s.parts)
		s.more = estimate{a.mean - b.mean, math.Hypot(a.err, b.err)}
		if isWork(s.kind) { // of what is not listed it is not known which kind it is
			s.more.mean = 0
			for _, one := range s.parts {
				s.more.mean += s.growth[one]
			}
		}
		slices.SortStableFunc(s.parts, func(x, y blame) int { return cmp.Compare(s.growth[y], s.growth[x]) })
	}
	out = c.withCores(out, now, before)
	giveBuffers(byKind)
	var list []shift
	for _, s := range out {
		if s.kind != bufferKind {
			list = append(list, *s)
		}
	}
	return list
}

// giveBuffers adds what was waited for buffers to whose work kept them: the GPU's,
// SurfaceFlinger's, or the render thread's. Where none of these took longer it is nobody's:
// once frames are behind, each waits for the one before until the animation rests,
// whatever it was that began it.
func giveBuffers(by map[string]*shift) {
	waited := by[bufferKind]
	if waited == nil || waited.more.mean <= 0 {
		return
	}
	var to *shift
	for _, kind := range []string{GPUKind, CompositionKind, DrawKind} {
		if s := by[kind]; s != nil && s.more.mean > certain*s.more.err && (to == nil || s.more.mean > to.more.mean) {
			to = s
		}
	}
	if to != nil {
		to.more = estimate{to.more.mean + waited.more.mean, math.Hypot(to.more.err, waited.more.err)}
		to.growth[to.parts[0]] += waited.more.mean
	}
}

// suspectsOf are the suspects of one kind: its foremost subject, or of calls, locks and
// files each that has its part.
func (c comparison) suspectsOf(s shift, lost float64) []suspect {
	subjects := [][]blame{s.parts}
	switch s.kind {
	case BinderKind, LockKind, IOKind:
		subjects = apart(s)
	}
	var out []suspect
	for _, parts := range subjects {
		more := s.more
		if len(subjects) > 1 {
			of := s.growth[parts[0]] / s.more.mean
			more = estimate{s.more.mean * of, s.more.err * of}
		}
		out = append(out, c.suspect(s, parts, more, lost))
	}
	return out
}

// apart are the parts of a kind that are causes of their own; all of it where only one
// is.
func apart(s shift) [][]blame {
	var out [][]blame
	for _, b := range s.parts {
		if s.growth[b] >= ownShare*s.more.mean {
			out = append(out, []blame{b})
		}
	}
	if len(out) < 2 {
		return [][]blame{s.parts}
	}
	return out
}

func (c comparison) suspect(s shift, parts []blame, more estimate, lost float64) suspect {
	out := suspect{blame: blame{s.kind, parts[0].subject}, more: more, sure: diagnose.Clear}
	out.place = c.placeOf(parts)
	out.share = min(more.mean/lost, 1)
	rest := max(lost-more.mean, 0)
	low, high := max(more.mean-z95*more.err, 0), more.mean+z95*more.err
	out.low, out.high = low/max(low+rest, leastMS), high/(high+rest)
	if c.alone() {
		out.sure = diagnose.Likely
	}
	out.lateMS, out.latePart = c.head.late.portion(parts)
	_, out.usual = c.usual().portion(parts)
	if s.kind == LittleKind || s.kind == FrequencyKind {
		out.cores = c.coreShift()
		out.blame.subject = subjectOfCores[s.kind]
	}
	return out
}

// placeOf is where most of the blames' time lies in late frames.
func (c comparison) placeOf(parts []blame) place {
	best := c.head.late.places[parts[0]]
	if best.ms == 0 {
		best = c.head.normal.places[parts[0]]
	}
	return best
}

// portion is what blames take of a frame: ms, and the share of its critical path.
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
