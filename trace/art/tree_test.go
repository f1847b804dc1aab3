package art

import (
	"testing"
	"time"
)

// A tree with more callers and callees than it holds at a time keeps the longest, and their sums.
func TestTreesAreBoundedWhileTheyGrow(t *testing.T) {
	t.Parallel()
	const outer, inner, most = 40, 30, 200 // 1,240 branches
	tr := tree{most: most, idle: func(int) bool { return false }, eventAt: func(time.Duration) int { return 0 }}
	at := time.Duration(0)
	held := 0
	for i := range outer {
		begin := at
		for j := range inner {
			took := time.Duration(1+j%5) * time.Microsecond
			tr.add(Call{Method: outer + j, Depth: 1, Begin: at, Took: took})
			at += took
			held = max(held, tr.n)
		}
		at += 100 * time.Microsecond
		tr.add(Call{Method: i, Begin: begin, Took: at - begin})
	}
	if held > most {
		t.Errorf("%d branches are held, want at most %d", held, most)
	}
	roots, sum, calls := tr.finish(), time.Duration(0), 0
	for _, b := range roots {
		sum += b.took
		calls += b.calls
	}
	// Of each method's 30 calls, six take 1 to 5 µs: 90 µs, with 100 of its own.
	if len(roots) != outer || calls != outer || sum != outer*190*time.Microsecond {
		t.Errorf("%d outermost methods with %d calls take %v, want 40, 40 and 7.6ms", len(roots), calls, sum)
	}
	// With more than six of the outer methods, those of up to 3 µs are left out, with more than ten
	// the rest; what was added since the last time is still there.
	if tr.missed != 5*time.Microsecond || tr.n > most {
		t.Errorf("branches of up to %v are left out, and %d are held", tr.missed, tr.n)
	}
}
