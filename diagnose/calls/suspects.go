package calls

import (
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/contrast"
)

// suspect is a method that takes more time than before, or one that kept the main thread.
type suspect struct {
	kind string
	name string
	more contrast.Estimate // ms per repetition
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
	regions    []region
}

// region is a part of the tree that is blamed on one method: the calls below a node without those
// below others.
type region struct {
	top  *node
	less []*node
}

// suspects returns the methods that take clearly more time than before, the largest first; nothing
// without runs to compare with.
func (c *comparison) suspects() (out []suspect) {
	if !c.compares() {
		return nil
	}
	least := max(leastMS, worth*c.root.more)
	if now, before := c.means(c.root.ms); now <= before {
		least = max(least, worth*now) // as a whole it takes no longer: little explains nothing
	}
	var all []*suspect
	byKey := map[string]*suspect{}
	c.visit(c.root, least, func(kind string, r region) {
		name, own := c.blamed(r.top)
		key := kind + " " + c.names.of(name)
		if byKey[key] == nil {
			byKey[key] = &suspect{kind: kind, name: name, foreign: !own}
			all = append(all, byKey[key])
		}
		byKey[key].regions = append(byKey[key].regions, r)
	})
	sum := 0.0
	for _, s := range all {
		if c.fill(s) {
			out = append(out, *s)
			sum += s.more.Mean
		}
	}
	c.whole = max(sum, c.grown(c.root.ms))
	for i := range out {
		s := &out[i]
		s.share, s.low, s.high = s.more.Share(c.whole, leastMS)
	}
	out = slices.DeleteFunc(out, func(s suspect) bool { return s.share < worth })
	byMost(out, func(s suspect) float64 { return s.more.Mean }, func(s suspect) string { return s.name })
	return out
}

// visit blames the additional time below a node: all of it on a method of the app that is new or
// called more often, else what its callees don't have on whoever it is of.
func (c *comparison) visit(n *node, least float64, blame func(kind string, r region)) {
	if n != c.root && c.own(n.name) {
		switch {
		case c.isNew(n.method):
			blame(NewKind, region{top: n})
			return
		case c.isOftener(n.method):
			blame(MoreKind, region{top: n})
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
		blame(LongerKind, rest)
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
func (c *comparison) fill(s *suspect) bool {
	var parts []*node // of each method one
	blamed := map[*method]float64{}
	for _, r := range s.regions {
		r.each(func(n *node) {
			if _, known := blamed[n.method]; !known {
				parts = append(parts, n)
			}
			blamed[n.method] += n.grown
			s.additional += max(c.grown(n.calls), 0)
		})
	}
	times := make([]float64, len(c.columns))
	for _, n := range parts {
		if ms := blamed[n.method]; ms > 0 {
			add(times, n.method.own, ms/n.method.growth)
		}
	}
	s.more = c.change(times)
	if s.more.Mean < leastMS || !s.more.Stands() && s.kind != MoreKind || s.more.Mean < s.more.Err {
		return false // that a method is called more often stands already
	}
	m := c.methods[c.names.of(s.name)]
	for _, n := range parts {
		if ms := blamed[n.method]; ms >= half*s.more.Mean && n.method != m {
			s.inner, s.innerMS = n.name, min(ms, s.more.Mean)
		}
	}
	s.calls, s.callsBefore = c.means(m.calls)
	s.sure = diagnose.Clear
	if !c.settles() || c.alone || c.partial() || c.renamed() {
		s.sure = diagnose.Likely
	}
	return true
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
