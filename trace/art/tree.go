package art

import (
	"cmp"
	"slices"
	"time"
)

// maxBranches bounds the branches of a thread's tree while it is made: beyond, the shortest are left
// out.
const maxBranches = 100_000

// branch is the calls of a method by one caller, within pieces of work of one event.
type branch struct {
	key   // the event is that of the outermost call
	calls int
	took  time.Duration // with all that they call
	inner []*branch     // sorted by key
}

// key identifies the calls that are added up.
type key struct{ method, event int }

func compareKeys(b *branch, k key) int {
	return cmp.Or(cmp.Compare(b.method, k.method), cmp.Compare(b.event, k.event))
}

// tree adds up the calls of one thread within its pieces of work, by their callers. The inner call
// has to come first, as Calls has them.
type tree struct {
	idle func(method int) bool
	// eventAt returns the place of the event that a time belongs to.
	eventAt func(time.Duration) int
	most    int // branches that are held, about
	levels  []growing
	roots   []*branch // of pieces
	n       int
	// least is how long branches took at least that are not left out; missed the longest that was.
	least, missed time.Duration
}

// growing is the branches of a depth since the call that made them began.
type growing struct {
	branches []*branch
	idle     bool // one of the calls was idle
}

// add takes a call.
func (t *tree) add(c Call) {
	for len(t.levels) < c.Depth+2 {
		t.levels = append(t.levels, growing{})
	}
	inner := t.levels[c.Depth+1]
	t.levels[c.Depth+1] = growing{}
	up := &t.levels[c.Depth]
	if inner.idle || t.idle(c.Method) {
		up.idle = true
		t.roots = t.merge(t.roots, inner.branches)
	} else {
		b := &branch{key: key{c.Method, t.eventAt(c.Begin)}, calls: 1, took: c.Took}
		for _, one := range inner.branches {
			one.event = 0 // what begins in an event belongs to it
		}
		b.inner = t.merge(nil, inner.branches)
		t.n++
		up.branches = t.merge(up.branches, []*branch{b})
	}
	if t.n > t.most {
		t.prune()
	}
}

// merge adds branches to a list.
func (t *tree) merge(to, from []*branch) []*branch {
	if to == nil && len(from) < 2 {
		return from
	}
	for _, b := range from {
		at, has := slices.BinarySearchFunc(to, b.key, compareKeys)
		if !has {
			to = slices.Insert(to, at, b)
			continue
		}
		t.n--
		to[at].calls += b.calls
		to[at].took += b.took
		to[at].inner = t.merge(to[at].inner, b.inner)
	}
	return to
}

// prune leaves out the shortest branches, until half of them are left: first those that are as short
// as those that were left out before.
func (t *tree) prune() {
	for again := false; t.n > t.most/2; again = true {
		if again {
			t.least = max(2*t.least, time.Microsecond)
		}
		t.n = 0
		t.roots = t.pruned(t.roots)
		for i := range t.levels {
			t.levels[i].branches = t.pruned(t.levels[i].branches)
		}
	}
}

func (t *tree) pruned(all []*branch) []*branch {
	kept := all[:0]
	for _, b := range all {
		if b.took < t.least {
			t.missed = max(t.missed, b.took)
			continue
		}
		t.n++
		b.inner = t.pruned(b.inner)
		kept = append(kept, b)
	}
	clear(all[len(kept):])
	return kept
}

// finish ends the pieces that are left, and returns all.
func (t *tree) finish() []*branch {
	if len(t.levels) > 0 {
		t.roots = t.merge(t.roots, t.levels[0].branches)
	}
	t.levels = nil
	return t.roots
}
