// Package memory keeps a history in memory: for a history read from a file, and as the plain store
// that the others are compared with in tests.
//
// Nothing is durable beyond the process. The code is written to be obviously right, not fast.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Store is a history in memory.
type Store struct {
	mu      sync.RWMutex
	entries []*entry
	now     func() time.Time
}

type entry struct {
	runstore.Entry
	marks []runstore.Mark
}

var _ runstore.Store = (*Store)(nil)

// New returns an empty history. Runs and marks are dated by now; nil means
// time.Now.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now}
}

// Of is a history of entries, as another store exports them: with the marks that count and
// what was said of them.
func Of(now func() time.Time, entries ...runstore.Entry) (*Store, error) {
	s := New(now)
	runs := make([]run.Run, len(entries))
	from := make(map[string]runstore.Entry, len(entries))
	for i, e := range entries {
		named, err := e.Run.Named()
		if err != nil {
			return nil, fmt.Errorf("add run %q: %w", e.Run.ID, err)
		}
		runs[i], from[named.ID] = named, e
	}
	if _, err := s.Add(context.Background(), runs...); err != nil {
		return nil, err
	}
	for _, e := range s.entries {
		is := from[e.Run.ID]
		if e.Run.Judged = is.Run.Judged; is.Mark.State != runstore.Unmarked {
			e.Mark, e.marks = is.Mark, []runstore.Mark{is.Mark}
		}
	}
	return s, nil
}

// Add implements runstore.Store.
func (s *Store) Add(ctx context.Context, runs ...run.Run) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var added []string
	grown := slices.Clone(s.entries)
	there := make(map[string]*entry, len(grown))
	for _, e := range grown {
		there[e.Run.ID] = e
	}
	for _, r := range runs {
		e, err := s.newEntry(r)
		if err != nil {
			return nil, fmt.Errorf("add run %q: %w", r.ID, err)
		}
		switch known := there[e.Run.ID]; {
		case known == nil:
			there[e.Run.ID], grown = e, append(grown, e)
			added = append(added, e.Run.ID)
		case known.Digest != e.Digest:
			return nil, fmt.Errorf("add run %q: %w", e.Run.ID, runstore.ErrConflict)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.entries = grown
	return added, nil
}

func (s *Store) newEntry(r run.Run) (*entry, error) {
	if r.Explains {
		return nil, runstore.ErrExplains
	}
	r, err := r.Recorded().Named()
	if err != nil {
		return nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	data, err := run.Encode(r)
	if err != nil {
		return nil, err
	}
	if r, err = run.Decode(data); err != nil { // a copy that the caller can't change
		return nil, err
	}
	return &entry{Entry: runstore.Entry{
		Run: r, Digest: digest, Iterations: len(r.Iterations), AddedAt: s.now().UTC(),
	}}, nil
}

// Mark implements runstore.Store.
func (s *Store) Mark(_ context.Context, ids []string, m runstore.Mark) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := m.Check(); err != nil {
		return err
	}
	marked := make([]*entry, len(ids))
	for i, id := range ids {
		e, err := s.find(id)
		if err != nil {
			return fmt.Errorf("mark run %q: %w", id, err)
		}
		if m.State != runstore.Rejected && e.Run.Status != run.Complete {
			return fmt.Errorf("mark run %q, which is %s, as %s: %w", e.Run.ID, e.Run.Status, m.State, runstore.ErrNotComplete)
		}
		marked[i] = e
	}
	var last time.Time
	for _, e := range marked {
		if e.Mark.At.After(last) {
			last = e.Mark.At
		}
	}
	m = m.Dated(s.now(), last)
	for _, e := range marked {
		own := m
		if own.State == runstore.Rebaselined && own.Since.IsZero() {
			own.Since = earliest(marked, e.Run)
		}
		own.Since = own.Since.UTC()
		e.marks = append(e.marks, own)
		e.Mark = newest(e.marks)
	}
	return nil
}

// Judge implements runstore.Store.
func (s *Store) Judge(_ context.Context, said map[string]run.Judged) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := runstore.CheckSaid(said); err != nil {
		return err
	}
	judged, found := map[*entry]run.Judged{}, 0
	for _, e := range s.entries {
		if j, ok := said[e.Run.ID]; ok {
			found++
			if j, isNew := runstore.Said(s.now(), e.Run.Judged, j); isNew {
				judged[e] = j
			}
		}
	}
	if found < len(said) {
		return fmt.Errorf("judge %d runs: %w: %d are there", len(said), runstore.ErrNotFound, found)
	}
	for e, j := range judged {
		e.Run.Judged = &j
	}
	return nil
}

// earliest returns the earliest start among the entries of r's app and scenario.
func earliest(entries []*entry, r run.Run) time.Time {
	first := r.Started
	for _, e := range entries {
		if e.Run.App.Package == r.App.Package && e.Run.Scenario == r.Scenario && e.Run.Started.Before(first) {
			first = e.Run.Started
		}
	}
	return first
}

func newest(marks []runstore.Mark) runstore.Mark {
	best := marks[0]
	for _, m := range marks[1:] {
		if !m.At.Before(best.At) {
			best = m
		}
	}
	return best
}

// Get implements runstore.Store.
func (s *Store) Get(_ context.Context, id string) (runstore.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, err := s.find(id)
	if err != nil {
		return runstore.Entry{}, fmt.Errorf("get run %q: %w", id, err)
	}
	return s.levels().of(e), nil
}

// levels are the starts of the levels of apps' scenarios.
type levels map[[2]string]time.Time

func (s *Store) levels() levels {
	out := levels{}
	for _, e := range s.entries {
		key := [2]string{e.Run.App.Package, e.Run.Scenario}
		if e.Mark.State == runstore.Rebaselined && e.Mark.Since.After(out[key]) {
			out[key] = e.Mark.Since
		}
	}
	return out
}

// of returns a copy of the entry with Retired set.
func (l levels) of(e *entry) runstore.Entry {
	out := e.Entry
	out.Retired = out.Run.Started.Before(l[[2]string{out.Run.App.Package, out.Run.Scenario}])
	return out
}

// find returns the entry of that id, or the only entry whose id or digest begins so.
func (s *Store) find(id string) (*entry, error) {
	var found []*entry
	for _, e := range s.entries {
		if e.Run.ID == id {
			return e, nil
		}
		if len(id) >= runstore.MinPrefix && (strings.HasPrefix(e.Run.ID, id) || strings.HasPrefix(e.Digest, id)) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return nil, runstore.ErrNotFound
	case 1:
		return found[0], nil
	}
	return nil, runstore.ErrAmbiguous
}

// List implements runstore.Store.
func (s *Store) List(_ context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		for _, e := range s.chosen(f, true) {
			e.Run = e.Run.Listed()
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Export implements runstore.Store.
func (s *Store) Export(_ context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		for _, e := range s.chosen(f, false) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// chosen returns copies of the entries that match the filter, in order of their start and id.
func (s *Store) chosen(f runstore.Filter, newestFirst bool) []runstore.Entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []runstore.Entry
	levels := s.levels()
	for _, e := range s.entries {
		if e := levels.of(e); f.Match(e) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b runstore.Entry) int {
		return cmp.Or(a.Run.Started.Compare(b.Run.Started), strings.Compare(a.Run.ID, b.Run.ID))
	})
	if newestFirst {
		slices.Reverse(out)
	}
	if f.Limit > 0 && len(out) > f.Limit {
		out = out[:f.Limit]
	}
	return out
}

// References implements runstore.Store.
func (s *Store) References(_ context.Context, q runstore.Query) ([]run.Summary, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	accepted := runstore.NewIndex(q.Centre)
	levels := s.levels()
	for _, e := range s.entries {
		if !e.Mark.State.Reference() || levels.of(e).Retired {
			continue
		}
		if _, err := accepted.Add(e.Run); err != nil {
			return nil, err
		}
	}
	return accepted.References(q)
}

// ANRs implements runstore.Store.
func (s *Store) ANRs(_ context.Context, q runstore.ANRQuery) ([]runstore.ANRRun, error) {
	q, err := q.Normal()
	if err != nil {
		return nil, err
	}
	return runstore.ANRsFromRecords(func(yield func(runstore.Entry, error) bool) {
		for _, e := range s.chosen(runstore.Filter{Package: q.Package}, true) {
			if !yield(e, nil) {
				return
			}
		}
	}, q, nil)
}

// Prune implements runstore.Store.
func (s *Store) Prune(_ context.Context, r runstore.Retention, each func(runstore.Entry) error) (int, error) {
	if err := r.Check(); err != nil {
		return 0, err
	}
	gone := map[string]bool{}
	kept := map[string]int{}
	for _, e := range s.chosen(runstore.Filter{Package: r.Package, Scenario: r.Scenario}, true) {
		key := fmt.Sprintf("%q %q %v %q", e.Run.App.Package, e.Run.Scenario, e.Mark.State.Reference(), contextKey(e.Run.Context))
		kept[key]++
		if e.Mark.State == runstore.Rebaselined || kept[key] <= r.Keep {
			continue
		}
		gone[e.Run.ID] = true
		e.Run = e.Run.Listed()
		if each == nil {
			continue
		}
		if err := each(e); err != nil {
			return 0, err
		}
	}
	if r.DryRun {
		return len(gone), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = slices.DeleteFunc(s.entries, func(e *entry) bool { return gone[e.Run.ID] })
	return len(gone), nil
}

func contextKey(context map[string]string) []string {
	var key []string
	for _, name := range slices.Sorted(maps.Keys(context)) {
		key = append(key, name, context[name])
	}
	return key
}

// Verify implements runstore.Store.
func (s *Store) Verify(context.Context) ([]runstore.Damage, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var damage []runstore.Damage
	for _, e := range s.entries {
		digest, err := e.Run.Digest()
		if err == nil && digest != e.Digest {
			err = errors.New("the content is not what its digest says")
		}
		if err != nil {
			damage = append(damage, runstore.Damage{ID: e.Run.ID, Problem: err.Error()})
		}
	}
	return damage, nil
}

// Close implements runstore.Store.
func (s *Store) Close() error { return nil }
