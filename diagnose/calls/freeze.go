package calls

import (
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
)

// frozenMS is for how long the main thread is kept from which on the app is frozen: Android's limit
// of a frozen frame.
const frozenMS = 700.0

// freeze is a piece of work of the main thread that took so long that it shows its cause by itself.
type freeze struct {
	chain run.CallChain
	// path are the calls from the outermost to the one that has most of it, ms their time.
	path  []string
	ms    []float64
	calls float64 // of the blamed method in the repetition, 0 where unknown
	at    int     // place in path of the method that is blamed
	key   string  // its name, without what compilers number
	// repetitions of all of the run's show the same.
	repetitions, of int
}

// guilty is the method that is blamed.
func (f freeze) guilty() string { return f.path[f.at] }

// freezes returns the freezes of a run in an event, "" for any: of each guilty method the longest,
// the longest of all first.
func (c *comparison) freezes(r run.Run) (out []freeze) {
	at := map[string]int{}
	var seen []map[int]bool
	tree := treeOf(r.MethodTraces)
	for _, chain := range r.MethodTraces.Chains {
		if !diagnose.IsMain(chain.Thread, r.App.Package) || !of(c.event, chain.Event) || len(chain.MS) == 0 || chain.MS[0] < frozenMS {
			continue
		}
		f := c.freezeOf(tree, chain)
		f.of = len(r.Iterations)
		i, known := at[f.key]
		if !known {
			i = len(out)
			at[f.key] = i
			out, seen = append(out, f), append(seen, map[int]bool{})
		} else if f.chain.MS[0] > out[i].chain.MS[0] {
			out[i] = f
		}
		seen[i][chain.Repetition] = true
	}
	for i := range out {
		out[i].repetitions = len(seen[i])
	}
	byMost(out, func(f freeze) float64 { return f.chain.MS[0] }, freeze.guilty)
	return out
}

// freezeOf finds who is to blame for a piece of work: the innermost method of the app that has half
// of it. The calls of one method by one caller count together, as far as the tree has them.
func (c *comparison) freezeOf(t tree, chain run.CallChain) freeze {
	f := freeze{chain: chain}
	var counted []float64
	f.path, f.ms, counted = t.piece(chain, half)
	f.at = len(f.path) - 1
	for i, name := range f.path {
		if c.own(name) {
			f.at = i
		}
	}
	f.calls, f.key = counted[f.at], c.names.of(f.guilty())
	return f
}

// mainly is how much of a repetition's calls those of one piece of work may fall short of, for their
// callees to be those of the piece.
const mainly = 1.25

// Piece follows a piece of work to the calls that have more than a part of it: their names, the outermost
// first, their time in ms, and how many there are. Below the single calls of its chain it goes on in
// the record's tree with many short ones of one method, where the tree's calls are mainly the
// piece's.
func Piece(m *run.MethodTraces, chain run.CallChain, part float64) (names []string, took, counted []float64) {
	return treeOf(m).piece(chain, part)
}

// tree is the calls of a record, with the places of those that each calls; the outermost ones are
// those of -1.
type tree struct {
	calls  []run.TracedCall
	within map[int][]int
}

func treeOf(m *run.MethodTraces) tree {
	t := tree{m.Tree, map[int][]int{}}
	for i, c := range m.Tree {
		t.within[c.Parent] = append(t.within[c.Parent], i)
	}
	return t
}

// ms is the time of a call in a repetition.
func (t tree) ms(call, slot int) float64 {
	if all := t.calls[call].RepetitionsMS; slot < len(all) {
		return all[slot]
	}
	return 0
}

func (t tree) piece(chain run.CallChain, part float64) (names []string, took, counted []float64) {
	slot, at := (chain.Repetition-1)%run.MaxApart, -1
	least := part * chain.MS[0]
	add := func(name string, ms, calls float64) {
		names, took, counted = append(names, name), append(took, ms), append(counted, calls)
	}
	for i, ms := range chain.MS {
		if ms <= least {
			break
		}
		add(chain.Methods[i], ms, 1)
		if at < 0 && i > 0 {
			continue // the tree does not have its caller
		}
		place := slices.IndexFunc(t.within[at], func(k int) bool {
			c := t.calls[k]
			return c.Name == chain.Methods[i] && (i > 0 || c.Thread == chain.Thread && c.Event == chain.Event)
		})
		if place < 0 {
			at = -1
		} else {
			at = t.within[at][place]
		}
	}
	if at < 0 || t.ms(at, slot) > mainly*took[len(took)-1] {
		return names, took, counted
	}
	for {
		best, most := -1, least
		for _, i := range t.within[at] {
			if ms := t.ms(i, slot); ms > most {
				best, most = i, ms
			}
		}
		if best < 0 {
			return names, took, counted
		}
		n := 0.0
		if all := t.calls[best].Repetitions; slot < len(all) {
			n = float64(all[slot])
		}
		add(t.calls[best].Name, min(most, took[len(took)-1]), n)
		at = best
	}
}

// withFreezes marks suspects that a freeze shows, and adds what only freezes show: what kept the
// main thread before as well is none.
func (c *comparison) withFreezes(out []suspect) []suspect {
	known := map[string]bool{}
	for _, b := range c.base {
		for _, f := range c.freezes(b) {
			known[f.key] = true
		}
	}
	for _, f := range c.freezes(c.head) {
		if known[f.key] {
			continue
		}
		at := slices.IndexFunc(out, func(s suspect) bool { return slices.Contains(f.path, s.name) && c.own(s.name) })
		if at < 0 {
			at = len(out)
			out = append(out, c.held(f))
		}
		if s := &out[at]; s.shown == nil {
			s.sure, s.shown = diagnose.Seen, &f
		}
	}
	return out
}

// held returns the suspect of a freeze.
func (c *comparison) held(f freeze) suspect {
	s := suspect{kind: HeldKind, name: f.guilty(), calls: f.calls, ms: f.ms[f.at], foreign: !c.own(f.guilty())}
	s.share = s.ms / f.chain.MS[0]
	if last := len(f.path) - 1; last > f.at {
		s.inner, s.innerMS = f.path[last], f.ms[last]
	}
	return s
}
