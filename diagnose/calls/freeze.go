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
	var counted []float64
	f.path, f.ms, counted = Piece(r.MethodTraces, chain, half)
	f.at = len(f.path) - 1
	for i, name := range f.path {
		if own(name) {
			f.at = i
		}
	}
	f.calls = counted[f.at]
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
	slot := (chain.Repetition - 1) % run.MaxApart
	at := -1
	within := func(i int) float64 { // the time of an entry of the tree in the piece's repetition
		if slot >= len(m.Tree[i].RepetitionsMS) {
			return 0
		}
		return m.Tree[i].RepetitionsMS[slot]
	}
	for i, ms := range chain.MS {
		if ms <= part*chain.MS[0] {
			break
		}
		names, took, counted = append(names, chain.Methods[i]), append(took, ms), append(counted, 1)
		at = slices.IndexFunc(m.Tree, func(c run.TracedCall) bool {
			outer := at >= 0 || i == 0 && c.Thread == chain.Thread && c.Event == chain.Event
			return outer && c.Parent == at && c.Name == chain.Methods[i]
		})
	}
	if at < 0 || within(at) > mainly*took[len(took)-1] {
		return names, took, counted
	}
	for {
		best, most := -1, 0.0
		for i, c := range m.Tree {
			if c.Parent == at && within(i) > most {
				best, most = i, within(i)
			}
		}
		if best < 0 || most <= part*chain.MS[0] {
			return names, took, counted
		}
		n := 0.0
		if c := m.Tree[best]; slot < len(c.Repetitions) {
			n = float64(c.Repetitions[slot])
		}
		names, took, counted = append(names, m.Tree[best].Name), append(took, min(most, took[len(took)-1])), append(counted, n)
		at = best
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
