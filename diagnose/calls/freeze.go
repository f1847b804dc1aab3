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
	// repetitions of all of the run's show the same.
	repetitions, of int
}

// guilty is the method that is blamed.
func (f freeze) guilty() string { return f.path[f.at] }

// freezes returns the freezes of a run in an event, "" for any: of each guilty method the longest,
// the longest of all first.
func freezes(r run.Run, event string, own func(string) bool) (out []freeze) {
	seen := map[string]map[int]bool{}
	for _, chain := range r.MethodTraces.Chains {
		if !diagnose.IsMain(chain.Thread, r.App.Package) || !of(event, chain.Event) || len(chain.MS) == 0 || chain.MS[0] < frozenMS {
			continue
		}
		f := freezeOf(r, chain, own)
		key := diagnose.Stable(f.guilty())
		at := slices.IndexFunc(out, func(o freeze) bool { return diagnose.Stable(o.guilty()) == key })
		switch {
		case at < 0:
			seen[key] = map[int]bool{}
			out = append(out, f)
		case f.chain.MS[0] > out[at].chain.MS[0]:
			out[at] = f
		}
		seen[key][chain.Repetition] = true
	}
	for i, f := range out {
		out[i].repetitions, out[i].of = len(seen[diagnose.Stable(f.guilty())]), len(r.Iterations)
	}
	byMost(out, func(f freeze) float64 { return f.chain.MS[0] }, freeze.guilty)
	return out
}

// freezeOf finds who is to blame for a piece of work: the innermost method of the app that has half
// of it. The calls of one method by one caller count together, as far as the tree has them.
func freezeOf(r run.Run, chain run.CallChain, own func(string) bool) freeze {
	f := freeze{chain: chain}
	counted := f.descend(r)
	if len(f.path) == 0 {
		for i, ms := range chain.MS {
			if ms >= half*chain.MS[0] {
				f.path, f.ms = append(f.path, chain.Methods[i]), append(f.ms, ms)
			}
		}
	}
	f.at = len(f.path) - 1
	for i, name := range f.path {
		if own(name) {
			f.at = i
		}
	}
	if f.at < len(counted) {
		f.calls = counted[f.at]
	}
	return f
}

// descend follows the tree of the piece's repetition from its outermost call to the longest ones,
// and returns how many calls each entry is.
func (f *freeze) descend(r run.Run) (counted []float64) {
	slot := (f.chain.Repetition - 1) % run.MaxApart
	parent := -1
	for {
		best, most := -1, 0.0
		for i, c := range r.MethodTraces.Tree {
			outer := parent >= 0 || c.Thread == f.chain.Thread && c.Event == f.chain.Event && c.Name == f.chain.Methods[0]
			if c.Parent == parent && outer && slot < len(c.RepetitionsMS) && c.RepetitionsMS[slot] > most {
				best, most = i, c.RepetitionsMS[slot]
			}
		}
		if best < 0 || most < half*f.chain.MS[0] {
			return counted
		}
		c := r.MethodTraces.Tree[best]
		n := 0.0
		if slot < len(c.Repetitions) {
			n = float64(c.Repetitions[slot])
		}
		f.path, f.ms, counted = append(f.path, c.Name), append(f.ms, min(most, f.chain.MS[0])), append(counted, n)
		parent = best
	}
}

// withFreezes marks suspects that a freeze shows, and adds what only freezes show: what kept the
// main thread before as well is none.
func (t *teller) withFreezes() {
	var known []string
	for _, b := range t.base {
		for _, f := range freezes(b, t.event, t.own) {
			known = append(known, diagnose.Stable(f.guilty()))
		}
	}
	for _, f := range freezes(t.head, t.event, t.own) {
		if slices.Contains(known, diagnose.Stable(f.guilty())) {
			continue
		}
		at := slices.IndexFunc(t.suspects, func(s suspect) bool { return slices.Contains(f.path, s.name) && t.own(s.name) })
		if at < 0 {
			at = len(t.suspects)
			t.suspects = append(t.suspects, t.held(f))
		}
		if s := &t.suspects[at]; s.shown == nil {
			s.sure, s.shown = diagnose.Seen, &f
		}
	}
}

// held returns the suspect of a freeze.
func (t *teller) held(f freeze) suspect {
	s := suspect{kind: HeldKind, name: f.guilty(), calls: f.calls, ms: f.ms[f.at], foreign: !t.own(f.guilty())}
	s.share = s.ms / f.chain.MS[0]
	if last := len(f.path) - 1; last > f.at {
		s.inner, s.innerMS = f.path[last], f.ms[last]
	}
	return s
}
