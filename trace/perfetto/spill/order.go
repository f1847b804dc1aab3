package spill

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
)

// InOrder iterates over a list's rows with their indices by a key, equal ones in the order of their
// indices. A row is valid until the next one.
//
// Rows in memory are sorted there. If some are in the file, parts of the list that fit into memory
// are sorted one by one into another file, and merged from there.
func InOrder[T any](l *List[T], key func(*T) int64) iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		if l.Base == 0 {
			for _, place := range inMemory(l.Rows, key) {
				if !yield(int(place), &l.Rows[place]) {
					return
				}
			}
			return
		}
		var sorted List[keyed[T]]
		defer func() { _ = sorted.Close() }()
		merge(parts(l, &sorted, key), func(k *keyed[T]) bool { return yield(int(k.Place), &k.Row) })
		if l.file.err == nil {
			l.file.err = sorted.file.err
		}
	}
}

// inMemory returns the sorted indices of rows that are all in memory.
func inMemory[T any](rows []T, key func(*T) int64) []int32 {
	places := make([]int32, len(rows))
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(key(&rows[a]), key(&rows[b])) })
	return places
}

// keyed is a row with its sort key.
type keyed[T any] struct {
	Key   int64
	Place int32
	Row   T
}

func (k *keyed[T]) compare(o *keyed[T]) int {
	return cmp.Or(cmp.Compare(k.Key, o.Key), cmp.Compare(k.Place, o.Place))
}

// part is a sorted part of a list.
type part[T any] struct {
	next, end int // places in the list
	cursor    *Cursor[keyed[T]]
	row       *keyed[T] // the next
}

// step advances to a part's next row; false if there is none.
func (p *part[T]) step() bool {
	if p.next == p.end {
		return false
	}
	p.row = p.cursor.At(int32(p.next))
	p.next++
	return p.row != nil
}

// parts sorts parts of a list into another one.
func parts[T any](l *List[T], into *List[keyed[T]], key func(*T) int64) []*part[T] {
	most := max(l.keep/4, 1) // since the rows being sorted are in memory together with the latest ones
	into.Spill(most)
	rows := make([]keyed[T], 0, most)
	var out []*part[T]
	sort := func() {
		slices.SortFunc(rows, func(a, b keyed[T]) int { return a.compare(&b) })
		from := into.Len()
		for _, row := range rows {
			into.Add(row)
		}
		const together = 128
		out = append(out, &part[T]{next: from, end: into.Len(), cursor: into.Cursor(together)})
		rows = rows[:0]
	}
	for place, row := range l.All() {
		rows = append(rows, keyed[T]{key(row), int32(place), *row})
		if len(rows) == most {
			sort()
		}
	}
	sort()
	return out
}

// merge yields the rows of all parts in order, until give returns false.
func merge[T any](parts []*part[T], give func(*keyed[T]) bool) {
	var first heads[T]
	for _, p := range parts {
		if p.step() {
			first = append(first, p)
		}
	}
	heap.Init(&first)
	for len(first) > 0 && give(first[0].row) {
		if first[0].step() {
			heap.Fix(&first, 0)
		} else {
			heap.Pop(&first)
		}
	}
}

// heads are parts by their next rows, a heap.
type heads[T any] []*part[T]

func (h heads[T]) Len() int           { return len(h) }
func (h heads[T]) Less(i, j int) bool { return h[i].row.compare(h[j].row) < 0 }
func (h heads[T]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a part.
func (h *heads[T]) Push(x any) { *h = append(*h, x.(*part[T])) }

// Pop removes the last part.
func (h *heads[T]) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
