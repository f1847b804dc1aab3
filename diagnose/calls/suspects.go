package calls

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
)

// suspect is a method that takes more time than before, or one that kept the main thread.
type suspect struct {
	kind string
	name string
	more estimate // ms per repetition
	// share is the part of all additional time, or of the time for which the main thread was kept.
	share, low, high float64
	sure             diagnose.Sure
	// inner is the method whose own code has most of it, and innerMS how much; "" where that is the
	// suspect's own, or there is none.
	inner   string
	innerMS float64
	// calls and callsBefore count the method's per repetition, ms is how long it kept the main thread.
	calls, callsBefore, ms float64
	// additional counts the additional calls per repetition that the time is of.
	additional float64
	foreign    bool // no method of the app is on its stack
	shown      *freeze
}

// region is a part of the tree that is blamed on one method: the calls below a node without those
// below others.
type region struct {
	top  *node
	less []*node
}

// suspects returns the methods that take clearly more time than before, the largest first; nothing
// without runs to compare with.
func (c *comparison) suspects() []suspect {
	if len(c.now) == 0 || len(c.before) == 0 {
		return nil
	}
	byKey := map[string]*suspect{}
	regions := map[string][]region{}
	var order []string
	blame := func(n *node, kind string, r region) {
		name, own := c.blamed(n)
		key := kind + " " + diagnose.Stable(name)
		if byKey[key] == nil {
			byKey[key] = &suspect{kind: kind, name: name, foreign: !own}
			order = append(order, key)
		}
		regions[key] = append(regions[key], r)
	}
	least := max(leastMS, worth*c.root.more)
	if all := mean(times(c.root.now)); all <= mean(times(c.root.before)) {
		least = max(least, worth*all) // as a whole it takes no longer: little explains nothing
	}
	c.visit(c.root, least, blame)
	var out []suspect
	for _, key := range order {
		if s := byKey[key]; c.fill(s, regions[key]) {
			out = append(out, *s)
		}
	}
	c.share(out)
	out = slices.DeleteFunc(out, func(s suspect) bool { return s.share < worth })
	byMost(out, func(s suspect) float64 { return s.more.mean }, func(s suspect) string { return s.name })
	return out
}

// visit blames the additional time below a node: all of it on a method of the app that is new or
// called more often, else what its callees don't have on whoever it is of.
func (c *comparison) visit(n *node, least float64, blame func(*node, string, region)) {
	if n != c.root && c.own(n.name) {
		switch m := c.of(n); {
		case c.isNew(m):
			blame(n, NewKind, region{top: n})
			return
		case c.isOftener(m):
			blame(n, MoreKind, region{top: n})
			return
		}
	}
	rest := region{top: n}
	left := n.more
	for _, child := range n.children {
		if child.more >= least {
			c.visit(child, least, blame)
			rest.less = append(rest.less, child)
			left -= child.more
		}
	}
	if left >= least && n != c.root {
		blame(n, LongerKind, rest)
	}
}

// blamed returns the innermost method of the app at a node or above it; the node's own where there
// is none.
func (c *comparison) blamed(of *node) (name string, own bool) {
	for n := of; n != nil && n != c.root; n = n.parent {
		if c.own(n.name) {
			return n.name, true
		}
	}
	return of.name, false
}

// fill computes a suspect's numbers; false where it does not stand out. Its time in a repetition is
// that of its methods' own code by any caller, each as far as its growth is blamed on the suspect: so
// what only has another caller now does not stand out.
func (c *comparison) fill(s *suspect, all []region) bool {
	own := map[string]float64{} // additional time of methods' own code
	names := map[string]string{}
	for _, r := range all {
		r.each(func(n *node) {
			key := diagnose.Stable(n.name)
			own[key] += n.own
			names[key] = n.name
			s.additional += max(mean(counts(n.now))-mean(counts(n.before)), 0)
		})
	}
	now, before := make([]float64, len(c.now)), make([]float64, len(c.before))
	for key, ms := range own {
		if m := c.methods[key]; ms > 0 {
			addPart(now, m.own, ms/m.growth)
			addPart(before, m.ownBefore, ms/m.growth)
		}
	}
	s.more = c.change(now, before)
	if s.more.mean < leastMS || !s.more.stands() && s.kind != MoreKind || s.more.mean < s.more.err {
		return false // that a method is called more often stands already
	}
	for key, ms := range own {
		if ms >= half*s.more.mean && key != diagnose.Stable(s.name) {
			s.inner, s.innerMS = names[key], min(ms, s.more.mean)
		}
	}
	m := c.methods[diagnose.Stable(s.name)]
	s.calls, s.callsBefore = mean(counts(m.now)), mean(counts(m.before))
	s.sure = diagnose.Clear
	if !c.settles() || c.alone || c.partial() || c.renamed() {
		s.sure = diagnose.Likely
	}
	return true
}

// addPart adds a part of times.
func addPart(to, from []float64, part float64) {
	for i, ms := range from {
		to[i] += part * ms
	}
}

// each calls f with the nodes of a region.
func (r region) each(f func(*node)) {
	var walk func(n *node)
	walk = func(n *node) {
		f(n)
		for _, child := range n.children {
			if !slices.Contains(r.less, child) {
				walk(child)
			}
		}
	}
	walk(r.top)
}

// share computes the suspects' shares of all additional time.
func (c *comparison) share(all []suspect) {
	sum := 0.0
	for _, s := range all {
		sum += s.more.mean
	}
	c.whole = max(sum, mean(times(c.root.now))-mean(times(c.root.before)))
	for i, s := range all {
		rest := max(c.whole-s.more.mean, 0)
		low, high := max(s.more.mean-z95*s.more.err, 0), s.more.mean+z95*s.more.err
		all[i].share = min(s.more.mean/c.whole, 1)
		all[i].low, all[i].high = low/max(low+rest, leastMS), math.Min(high/(high+rest), 1)
	}
}

// partial reports whether much less of a repetition was traced before: what is missing there may
// only not have been traced.
func (c *comparison) partial() bool { return c.before.spanMS() < half*c.now.spanMS() }

// renamed reports whether most of the app's methods before have other names now, as R8 gives them to
// builds whose mapping is unknown.
func (c *comparison) renamed() bool {
	const few = 10
	had, kept := 0, 0
	for name, m := range c.methods {
		if mean(times(m.before)) > 0 && !diagnose.Platform(name) {
			had++
			if mean(times(m.now)) > 0 {
				kept++
			}
		}
	}
	return had >= few && 2*kept < had
}
