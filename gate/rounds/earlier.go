package rounds

import (
	"slices"

	"github.com/apkgate/apkgate/run"
)

// earlier are the iterations of rounds of the same two builds that were measured before.
type earlier struct {
	base, head []run.Iteration
	turn       int
}

// Resume begins a place with rounds of the same two builds that another job, or a nightly one,
// measured: the runs of both builds, part by part. Turns keep the number of repetitions that they
// had there. Parts of which one build's run is missing or incomplete count as far as both go.
func (t *Trial) Resume(at int, bases, heads []run.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[at]
	if p == nil || len(bases) == 0 || len(bases) != len(heads) {
		return
	}
	e := &earlier{turn: max(1, bases[0].Turn)}
	for i := range bases {
		if max(1, bases[i].Turn) != e.turn || max(1, heads[i].Turn) != e.turn {
			continue
		}
		n := min(len(bases[i].Iterations), len(heads[i].Iterations)) / e.turn * e.turn
		e.base, e.head = append(e.base, bases[i].Iterations[:n]...), append(e.head, heads[i].Iterations[:n]...)
	}
	p.before = e
	none := run.Run{Status: run.Complete}
	t.add(p, none, none, nil, nil)
}

// with returns the runs including those measured before.
func (e *earlier) with(base, head run.Run) (run.Run, run.Run) {
	base.Iterations = slices.Concat(e.base, base.Iterations)
	head.Iterations = slices.Concat(e.head, head.Iterations)
	base.Turn, head.Turn = e.turn, e.turn
	return base, head
}

// Before returns the number of rounds of a place that were measured before.
func (t *Trial) Before(at int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.places[at]; p != nil {
		return p.before.rounds()
	}
	return 0
}

// rounds returns their number; 0 for nil.
func (e *earlier) rounds() int {
	if e == nil {
		return 0
	}
	return len(e.base) / e.turn
}
