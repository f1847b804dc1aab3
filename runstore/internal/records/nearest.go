package records

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// Ranked is a context of the history and its similarity to the new run's.
type Ranked struct {
	Context    int64
	Similarity int
}

// Clusters groups contexts that are equally similar, the most similar first; within a group they
// are sorted by number.
func Clusters(contexts []Ranked) (out [][]int64) {
	slices.SortFunc(contexts, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Context, b.Context))
	})
	for i, c := range contexts {
		if i == 0 || c.Similarity != contexts[i-1].Similarity {
			out = append(out, nil)
		}
		last := len(out) - 1
		out[last] = append(out[last], c.Context)
	}
	return out
}

// Near is a reference of one of the commits that a query names.
type Near struct {
	Number, Context int64
	Rank            int    // of its commit, the nearest is 0
	Started         string // as a stamp
	ID              string
	Session, Commit string // if the store reads them at the same time
}

// NearRuns are the references of the commits that a query names.
type NearRuns struct {
	byContext map[int64][]Near
	ids       map[string]bool
}

// Add adds a reference.
func (n *NearRuns) Add(r Near) {
	if n.ids == nil {
		n.byContext, n.ids = map[int64][]Near{}, map[string]bool{}
	}
	n.ids[r.ID] = true
	n.byContext[r.Context] = append(n.byContext[r.Context], r)
}

// Has reports whether the run with the id is one of them.
func (n *NearRuns) Has(id string) bool { return n.ids[id] }

// In returns at most limit of those in the contexts: the nearest commit first, within a commit the
// newest run first.
func (n *NearRuns) In(contexts []int64, limit int) []Near {
	var list []Near
	for _, c := range contexts {
		list = append(list, n.byContext[c]...)
	}
	slices.SortFunc(list, func(a, b Near) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.Started, a.Started), cmp.Compare(b.ID, a.ID))
	})
	return list[:min(len(list), limit)]
}

// Lane is one context's references, newest first: those read ahead, and the position after them.
type Lane struct {
	Context int64
	After   Cursor // the last one that was read
	Read    []run.Summary
	Done    bool // there are none after those
}

// Merge appends to out the references of the contexts, newest first over all of them, until there
// are limit. read reads the next piece of empty lanes.
func Merge(out []run.Summary, limit int, contexts []int64, read func(...*Lane) error) ([]run.Summary, error) {
	lanes := make(lanes, len(contexts))
	for i, c := range contexts {
		lanes[i] = &Lane{Context: c, After: Cursor{Started: AfterAll}}
	}
	if err := refill(lanes, read); err != nil {
		return nil, err
	}
	ahead := 0
	lanes = slices.DeleteFunc(lanes, func(l *Lane) bool { ahead += len(l.Read); return len(l.Read) == 0 })
	out = slices.Grow(out, max(min(ahead, limit-len(out)), 0))
	heap.Init(&lanes)
	for len(lanes) > 0 && len(out) < limit {
		l := lanes[0]
		out = append(out, l.Read[0])
		l.Read = l.Read[1:]
		if len(l.Read) == 0 && len(out) < limit {
			if err := refill(lanes[:1], read); err != nil {
				return nil, err
			}
			if len(l.Read) == 0 {
				heap.Pop(&lanes)
				continue
			}
		}
		if len(l.Read) > 0 {
			heap.Fix(&lanes, 0)
		}
	}
	return out, nil
}

// refill reads the next pieces of the lanes until each has something or is done.
func refill(list lanes, read func(...*Lane) error) error {
	for {
		var empty []*Lane
		for _, l := range list {
			if len(l.Read) == 0 && !l.Done {
				empty = append(empty, l)
			}
		}
		if len(empty) == 0 {
			return nil
		}
		if err := read(empty...); err != nil {
			return err
		}
	}
}

// lanes is a heap of lanes, the one with the newest run on top.
type lanes []*Lane

func (m lanes) Len() int      { return len(m) }
func (m lanes) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *lanes) Push(x any)   { *m = append(*m, x.(*Lane)) }

func (m lanes) Less(i, j int) bool {
	a, b := m[i].Read[0], m[j].Read[0]
	return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) < 0
}

func (m *lanes) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
