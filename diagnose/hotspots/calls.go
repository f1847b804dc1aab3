package hotspots

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// Call is a node of the combined tree of calls of base and head.
type Call struct {
	// Parent is the caller's index in Methods.Calls, -1 for an outermost frame.
	Parent int    `json:"parent"`
	Name   string `json:"name"`
	Kind   string `json:"kind,omitempty"`
	// The energy of the call including its callees; also 0 where it was too small for the tree of a
	// run.
	Amount
}

// branch is a node while trees are merged.
type branch struct {
	name, kind string
	Amount
	children []*branch
	byName   map[string]*branch
}

// child returns the branch of a name, the same for all names that differ only in a compiler's
// numbers.
func (b *branch) child(name, kind string) *branch {
	key := diagnose.Stable(name)
	c, ok := b.byName[key]
	if !ok {
		c = &branch{name: name, kind: kind, byName: map[string]*branch{}}
		b.byName[key] = c
		b.children = append(b.children, c)
	}
	if c.name != name {
		c.name = key
	}
	return c
}

func (b *branch) weight() float64 { return max(b.BaseJ, b.HeadJ) }

// mergeCalls merges the calls of the head and the mean of the base's, siblings by their weight,
// with the smallest left out beyond run.MaxCalls.
func mergeCalls(head *run.Methods, base []sampled) []Call {
	root := &branch{byName: map[string]*branch{}}
	graft(root, head.Calls, func(b *branch, j float64) { b.HeadJ += j })
	for _, s := range base {
		graft(root, s.methods.Calls, func(b *branch, j float64) { b.BaseJ += j / float64(len(base)) })
	}
	out := []Call{}
	cut := root.cutOff(run.MaxCalls)
	var walk func(b *branch, parent int)
	walk = func(b *branch, parent int) {
		slices.SortFunc(b.children, func(x, y *branch) int {
			return cmp.Or(cmp.Compare(y.weight(), x.weight()), cmp.Compare(x.name, y.name))
		})
		for _, child := range b.children {
			if child.weight() < cut || len(out) == run.MaxCalls {
				continue
			}
			out = append(out, Call{parent, child.name, child.kind, child.Amount})
			walk(child, len(out)-1)
		}
	}
	walk(root, -1)
	return out
}

// graft adds a run's calls to a tree.
func graft(root *branch, calls []run.Call, add func(*branch, float64)) {
	at := make([]*branch, len(calls))
	for i, c := range calls {
		parent := root
		if c.Parent >= 0 && c.Parent < i {
			parent = at[c.Parent]
		}
		at[i] = parent.child(c.Name, c.Kind)
		add(at[i], c.EnergyJ)
	}
}

// cutOff returns the weight from which on at most n branches are left.
func (b *branch) cutOff(n int) float64 {
	var weights []float64
	var walk func(*branch)
	walk = func(b *branch) {
		for _, c := range b.children {
			weights = append(weights, c.weight())
			walk(c)
		}
	}
	walk(b)
	if len(weights) <= n {
		return 0
	}
	slices.SortFunc(weights, func(x, y float64) int { return cmp.Compare(y, x) })
	return weights[n-1]
}

// paths finds the callers of a method.
type paths struct {
	calls  []Call
	byName map[string][]int
}

func newPaths(calls []Call) paths {
	p := paths{calls, map[string][]int{}}
	for i, c := range calls {
		p.byName[diagnose.Stable(c.Name)] = append(p.byName[diagnose.Stable(c.Name)], i)
	}
	return p
}

// place returns the call of a method that changed most in the method's direction, -1 where the tree
// has none.
func (p paths) place(method string, rose bool) int {
	best, at := 0.0, -1
	for _, i := range p.byName[diagnose.Stable(method)] {
		change := p.calls[i].ChangeJ()
		if !rose {
			change = -change
		}
		if at < 0 || change > best {
			best, at = change, i
		}
	}
	return at
}

// depth returns how many calls lead to the place of a method, including itself; 0 where the tree
// lacks it.
func (p paths) depth(method string, rose bool) (n int) {
	for at := p.place(method, rose); at >= 0; at = p.calls[at].Parent {
		n++
	}
	return n
}

// callers returns those on the path to the place of a method, nearest first, without its own
// recursion.
func (p paths) callers(method string, rose bool) []string {
	key, at := diagnose.Stable(method), p.place(method, rose)
	var out []string
	for at >= 0 && len(out) < MaxCallers {
		if at = p.calls[at].Parent; at >= 0 && diagnose.Stable(p.calls[at].Name) != key {
			out = append(out, p.calls[at].Name)
		}
	}
	return out
}
