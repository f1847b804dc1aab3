package spill_test

import (
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/spill"
)

type row struct {
	At   int64
	Name uint16
	Open bool
}

// TestListSpills has more rows than are kept in memory, some of which are changed long after
// they were spilled.
func TestListSpills(t *testing.T) {
	t.Parallel()
	const many, keep = 5_001, 100
	var l spill.List[row]
	l.Spill(keep)
	for i := range many {
		if place := l.Add(row{At: int64(i), Name: uint16(i % 7), Open: true}); int(place) != i {
			t.Fatalf("row %d is at %d", i, place)
		}
		if i%1000 == 0 && i > 0 {
			l.Edit(int32(i-1000), func(r *row) { r.Open = false })
			l.Edit(int32(i-1000), func(r *row) { r.Name++ })
		}
		if len(l.Rows) > keep {
			t.Fatalf("%d rows are in memory", len(l.Rows))
		}
	}
	for again := range 2 {
		n := 0
		for place, r := range l.All() {
			want := row{At: int64(place), Name: uint16(place % 7), Open: true}
			if place%1000 == 0 && place < 5000 {
				want.Open = false
				want.Name++
			}
			if place != n || *r != want {
				t.Fatalf("time %d, place %d (%d): %+v, want %+v", again, place, n, *r, want)
			}
			n++
		}
		if n != many || l.Len() != many || l.Err() != nil {
			t.Fatalf("%d rows, %v", n, l.Err())
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
