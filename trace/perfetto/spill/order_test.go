package spill_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/spill"
)

// TestInOrder has rows each of which is up to 300 places from where it belongs, five with the
// same time; sorted in memory they are the same.
func TestInOrder(t *testing.T) {
	t.Parallel()
	const many = 5_003
	random := rand.New(rand.NewSource(1))
	for _, keep := range []int{0, 1, 64, 1_000, many + 1} {
		var l spill.List[row]
		l.Spill(keep)
		times := make([]int64, many)
		for i := range times {
			times[i] = int64(i/5*5 + 5*random.Intn(60))
			l.Add(row{At: times[i], Name: uint16(i)})
		}
		want := make([]int, many)
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int { return int(times[a] - times[b]) })
		for again := range 2 {
			n := 0
			for place, r := range spill.InOrder(&l, func(r *row) int64 { return r.At }) {
				if place != want[n] || r.At != times[place] || r.Name != uint16(place) {
					t.Fatalf("%d are kept, time %d: row %d is %d, %+v, want %d", keep, again, n, place, r, want[n])
				}
				n++
			}
			if n != many || l.Err() != nil {
				t.Fatalf("%d are kept: %d rows, %v", keep, n, l.Err())
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestInOrderStopsEarly stops before the end.
func TestInOrderStopsEarly(t *testing.T) {
	t.Parallel()
	var l spill.List[row]
	l.Spill(10)
	for i := range 100 {
		l.Add(row{At: int64(-i)})
	}
	for place, r := range spill.InOrder(&l, func(r *row) int64 { return r.At }) {
		if place != 99 || r.At != -99 {
			t.Errorf("%d, %+v", place, r)
		}
		break
	}
	if err := l.Err(); err != nil {
		t.Error(err)
	}
	_ = l.Close()
}

// TestCursorGoesAnywhere reads rows forwards, backwards and at random.
func TestCursorGoesAnywhere(t *testing.T) {
	t.Parallel()
	const many = 1_000
	var l spill.List[row]
	l.Spill(50)
	for i := range many {
		l.Add(row{At: int64(i)})
	}
	l.Edit(3, func(r *row) { r.Open = true })
	c := l.Cursor(16)
	at := func(place int) {
		if r := c.At(int32(place)); r == nil || *r != (row{At: int64(place), Open: place == 3}) {
			t.Fatalf("%d: %+v", place, r)
		}
	}
	for i := range many {
		at(i)
	}
	for i := range many {
		at(many - 1 - i)
	}
	random := rand.New(rand.NewSource(1))
	for range many {
		at(random.Intn(many))
	}
	_ = l.Close()
}

// TestTextsSpill has texts of up to 100,000 bytes and some empty ones, read in another order.
func TestTextsSpill(t *testing.T) {
	t.Parallel()
	const many = 2_000
	var texts spill.Texts
	texts.Spill(10_000)
	var places []spill.Text
	want := make([]string, many)
	for i := range want {
		want[i] = fmt.Sprint(i, strings.Repeat("ä", i%7*i%500))
		switch i % 500 {
		case 3:
			want[i] = ""
		case 4:
			want[i] = strings.Repeat("x", 100_000-i)
		}
		places = append(places, texts.Add(want[i]))
	}
	check := func(i int) {
		if got := texts.Of(places[i]); got != want[i] {
			t.Fatalf("text %d has %d bytes, want %d", i, len(got), len(want[i]))
		}
	}
	for i := range want {
		check(i)
		check(max(i-20, 0))
	}
	for _, i := range rand.New(rand.NewSource(1)).Perm(many) {
		check(i)
	}
	if total := len(strings.Join(want, "")); texts.Len() != total || texts.Err() != nil {
		t.Errorf("%d bytes, want %d; %v", texts.Len(), total, texts.Err())
	}
	if err := texts.Close(); err != nil {
		t.Error(err)
	}
}
