package hotspots

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
)

const (
	// mostOf is the share of a change that the explaining methods make up, where clear ones do.
	mostOf = 0.8
	// halfOf is the share below which the explaining methods don't explain enough.
	halfOf = 0.5
	// worthwhile is the share of all samples' energy that a change must reach to be named.
	worthwhile = 0.01
)

// explain marks the fewest methods whose own code makes up most of the change of all samples, and
// finds the callers of what changed; own is the prefix of names of the app's own code. Where the
// device as a whole changed in the other direction, or the methods as a whole not at all, none
// explains anything.
func (c *Change) explain(own string) {
	m := c.Methods
	if !m.HasBase() {
		return
	}
	net := m.Energy.ChangeJ()
	least := worthwhile * max(m.Energy.BaseJ, m.Energy.HeadJ)
	moved := math.Abs(net) >= least
	for i := range m.List {
		if f := &m.List[i]; f.Local.Clear && moved {
			f.Share = share(f.Local.ChangeJ(), net)
		}
	}
	against := c.Total.BaseJ > 0 && c.Total.HeadJ > 0 && c.Total.ChangeJ()*net < 0
	paths := newPaths(m.Calls)
	if moved && !against {
		if explained := m.markFew(net, least); explained < halfOf*math.Abs(net) {
			m.markInnermost(net, own, paths)
		}
	}
	for i := range m.List {
		if f := &m.List[i]; f.Local.Clear || f.Encloses {
			f.Callers = paths.callers(f.Name, f.Total.ChangeJ() > 0)
			f.From = nearest(f.Callers, own)
		}
	}
	slices.SortStableFunc(m.List, func(a, b Method) int { return cmp.Compare(standing(a), standing(b)) })
}

// share returns a method's share of the change of all samples; 0 where it is meaningless, since the
// method changed in the other direction or others cancel it out.
func share(change, net float64) float64 {
	if part := change / net; part > 0 && part <= 1 {
		return part
	}
	return 0
}

// markFew marks methods that changed in the direction of all samples, the largest change first,
// until they make up most of it. It returns the joules that they explain.
func (m *Methods) markFew(net, least float64) (explained float64) {
	n := 0
	for i := range m.List { // the largest clear changes come first
		f := &m.List[i]
		change := f.Local.ChangeJ()
		if !f.Local.Clear || n == MaxExplaining || explained >= mostOf*math.Abs(net) || math.Abs(change) < least {
			break
		}
		if change*net > 0 {
			f.Explains = true
			explained += math.Abs(change)
			n++
		}
	}
	return explained
}

// markInnermost marks, of the methods with at least half of the whole change, the deepest in the
// tree of calls: one of the app's own if there is any. The size of the change does not decide: a
// caller changes less than its callee where something else that it calls changed in the other
// direction.
func (m *Methods) markInnermost(net float64, own string, in paths) {
	best := -1
	var innermost *Method
	for i := range m.List {
		f := &m.List[i]
		change := f.Total.ChangeJ()
		if !f.Total.Clear || change*net <= 0 || math.Abs(change) < halfOf*math.Abs(net) {
			continue
		}
		depth := in.depth(f.Name, change > 0)
		if own != "" && strings.HasPrefix(f.Name, own) {
			depth += run.MaxCalls + 1 // before all others
		}
		less := innermost != nil && depth == best && math.Abs(change) < math.Abs(innermost.Total.ChangeJ())
		if depth > best || less {
			best, innermost = depth, f
		}
	}
	if innermost != nil {
		innermost.Encloses = true
	}
}

// standing orders a list: what explains the change, what encloses it, the rest.
func standing(m Method) int {
	switch {
	case m.Explains:
		return 0
	case m.Encloses:
		return 1
	}
	return 2
}

// nearest returns the first of the app's own methods, or the first at all; "" for none.
func nearest(callers []string, own string) string {
	for _, name := range callers {
		if own != "" && strings.HasPrefix(name, own) {
			return name
		}
	}
	if len(callers) == 0 {
		return ""
	}
	return callers[0]
}
