package runstore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
)

// Nearest sorts all references of an app's scenario, the result of a query without a limit, in the
// order of another query without commits.
func Nearest(all []run.Summary, q Query) []run.Summary {
	found := make([]candidate, len(all))
	for i := range all {
		found[i] = candidate{similarity: devctx.Shared(q.Context, all[i].Context, q.Use), indexed: &indexed{summary: all[i]}}
	}
	return ordered(found)
}

// Index answers queries from runs that are added one at a time, such as those of ReadJSONL, all of
// which count as accepted. It summarizes each once and keeps only the summary, a few bytes more
// than its numbers.
type Index struct {
	centre   run.Centre
	digestOf map[string]string // by id
	subjects map[subject][]indexed
	layouts  run.Layouts
	contexts map[string]map[string]string // each once, by its text
}

type subject struct{ pkg, scenario string }

// indexed is a run as queries need it.
type indexed struct {
	summary run.Summary
	commit  string
}

// NewIndex returns an index that summarizes iterations by that centre; "" means run.Median.
func NewIndex(centre run.Centre) *Index {
	if centre == "" {
		centre = run.Median
	}
	return &Index{centre: centre, digestOf: map[string]string{}, subjects: map[subject][]indexed{}, contexts: map[string]map[string]string{}}
}

// Add adds a run. It returns false for a run that is already there, and ErrConflict where there is
// another one with the same id. A run that is incomplete, or that only explains a verdict, is
// recorded, but is no reference.
func (ix *Index) Add(r run.Run) (added bool, err error) {
	digest, err := r.Digest()
	if err != nil {
		return false, err
	}
	if r.ID == "" {
		r.ID = digest[:16]
	}
	switch other, known := ix.digestOf[r.ID]; {
	case known && other != digest:
		return false, fmt.Errorf("run %q: %w", r.ID, ErrConflict)
	case known:
		return false, nil
	}
	ix.digestOf[r.ID] = digest
	if r.Status != run.Complete || r.Explains {
		return true, nil
	}
	s := Summarize(r, ix.centre)
	s.Cells, s.Context = ix.layouts.Share(s.Cells), ix.shared(s.Context)
	of := subject{r.App.Package, r.Scenario}
	ix.subjects[of] = append(ix.subjects[of], indexed{s, r.Source.Commit})
	return true, nil
}

// shared returns one map for all equal contexts.
func (ix *Index) shared(context map[string]string) map[string]string {
	key := fmt.Sprintf("%q", context) // maps are printed sorted
	known, ok := ix.contexts[key]
	if !ok {
		known, ix.contexts[key] = context, context
	}
	return known
}

// candidate is a run that may be in the answer.
type candidate struct {
	similarity int
	rank       int // of its commit
	*indexed
}

// References answers the query, whose centre must be the index's. It is safe for concurrent use
// while no run is added.
func (ix *Index) References(q Query) ([]run.Summary, error) {
	q, err := q.Normal()
	if err != nil {
		return nil, err
	}
	if q.Centre != ix.centre {
		return nil, fmt.Errorf("centre is %q, and the runs are summed up by %q", q.Centre, ix.centre)
	}
	runs, ranks := ix.subjects[subject{q.Package, q.Scenario}], q.Ranks()
	found := make([]candidate, 0, len(runs))
	for i := range runs {
		if !devctx.Comparable(q.Context, runs[i].summary.Context) {
			continue
		}
		rank, ok := ranks[runs[i].commit]
		if !ok {
			rank = len(q.Commits)
		}
		found = append(found, candidate{devctx.Shared(q.Context, runs[i].summary.Context, q.Use), rank, &runs[i]})
	}
	out := ordered(found)
	return out[:min(len(out), q.Limit)], nil
}

// ordered returns the runs in the order of a query's answer.
func ordered(found []candidate) []run.Summary {
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(b.similarity, a.similarity),
			cmp.Compare(a.rank, b.rank),
			b.summary.Started.Compare(a.summary.Started),
			strings.Compare(b.summary.ID, a.summary.ID),
		)
	})
	out := make([]run.Summary, len(found))
	for i := range out {
		out[i] = found[i].summary
	}
	return out
}
