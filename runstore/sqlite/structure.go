package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/pages"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/sqlite/salvage"
)

// structure caches whether the trees of a file are intact, which is checked once while it is open.
type structure struct {
	mu     sync.Mutex
	looked bool
	trees  error // SQLite's findings; wraps runstore.ErrDamaged, nil for none
	rows   error // where rows contradict each other, likewise
	// index answers from the records of a damaged file, by centre; lost are the runs that it lacks.
	index map[run.Centre]*runstore.Index
	lost  []runstore.Damage
}

// smallFile is the size in bytes up to which a file's structure is checked before each answer that
// depends on it, which takes a fraction of a second. Beyond it, everything that an answer reads is
// checked, but not what its trees may have lost.
const smallFile = 64 << 20

// whole returns the damage of the file's structure, as an error that wraps runstore.ErrDamaged.
// Only a small file is checked, unless all is set.
func (s *Store) whole(ctx context.Context, all bool) error {
	s.structure.mu.Lock()
	defer s.structure.mu.Unlock()
	err := s.look(ctx, all)
	return cmp.Or(err, s.structure.trees, s.structure.rows)
}

// listable is whole without what a list does not depend on.
func (s *Store) listable(ctx context.Context) error {
	s.structure.mu.Lock()
	defer s.structure.mu.Unlock()
	err := s.look(ctx, false)
	return cmp.Or(err, s.structure.trees)
}

// look checks the structure, once.
func (s *Store) look(ctx context.Context, all bool) error {
	if s.structure.looked {
		return nil
	}
	var trees, rows []runstore.Damage
	skipped := false
	err := s.read(ctx, func(tx *prepared.Tx) error {
		src, bytes, err := pages.Of(ctx, tx)
		if err != nil {
			return noteDamage(&trees, "", err)
		}
		if skipped = !all && int64(src.Size())*int64(bytes) > smallFile; skipped {
			return nil
		}
		for _, check := range []struct {
			do   func(context.Context, *prepared.Tx) ([]runstore.Damage, error)
			into *[]runstore.Damage
		}{{checkFileStructure, &trees}, {checkReferences, &rows}, {checkContexts, &rows}} {
			d, err := check.do(ctx, tx)
			*check.into = append(*check.into, d...)
			if err := noteDamage(check.into, "", err); err != nil {
				return err
			}
		}
		return nil
	})
	if err = noteDamage(&trees, "", err); err != nil || skipped {
		return err
	}
	s.structure.looked = true
	s.structure.trees, s.structure.rows = structureError(trees), structureError(rows)
	return nil
}

// structureError returns the first damage, and how many there are; nil for none.
func structureError(found []runstore.Damage) error {
	if len(found) == 0 {
		return nil
	}
	err := fmt.Errorf("the file's structure: %s", found[0])
	if more := len(found) - 1; more > 0 {
		err = fmt.Errorf("%w, and %d more", err, more)
	}
	return records.Damaged(err)
}

// Check checks the structure of a small file. Damage is an error that wraps runstore.ErrDamaged.
func (s *Store) Check(ctx context.Context) error { return s.whole(ctx, false) }

// checkReferences checks that each run has the state of its newest mark, and that exactly the
// accepted runs have their summaries among the references.
func checkReferences(ctx context.Context, tx *prepared.Tx) ([]runstore.Damage, error) {
	return listDamage(ctx, tx, `SELECT r.id, 'its summary is not where it should be' FROM runs r WHERE NOT EXISTS (
			SELECT 1 FROM summaries s WHERE s.subject = r.subject AND s.reference = (r.state IN ('accepted', 'rebaselined'))
			AND s.context = r.context AND s.started = r.started AND s.id = r.id)
		UNION ALL SELECT r.id, 'its newest mark is not what it counts as' FROM runs r WHERE r.state || '/' || r.since <> coalesce(
			(SELECT m.state || '/' || m.since FROM marks m WHERE m.run = r.number ORDER BY m.at DESC, m.number DESC LIMIT 1), '/')
		UNION ALL SELECT '', 'there are ' || s || ' summaries of ' || r || ' runs'
		FROM (SELECT (SELECT count(*) FROM summaries) AS s, (SELECT count(*) FROM runs NOT INDEXED) AS r) WHERE s <> r`)
}

// isDamage reports whether the error is damage, so that sound runs have to be searched page by
// page.
func isDamage(err error) bool { return errors.Is(explain(err), runstore.ErrDamaged) }

// salvaged runs do on the contents of the pages, in one state of the file.
func (s *Store) salvaged(ctx context.Context, do func(*salvage.Runs) error) error {
	return s.read(ctx, func(tx *prepared.Tx) error {
		src, usable, err := pages.Of(ctx, tx)
		if err != nil {
			return err
		}
		found := salvage.Of(src, usable)
		if err := ctx.Err(); err != nil {
			return err
		}
		return do(found)
	})
}

// salvagedEntries returns the sound runs of a damaged file. The reason why comes first, unless it
// is nil.
func (s *Store) salvagedEntries(ctx context.Context, f runstore.Filter, newestFirst bool, why error) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		if why != nil && !yield(runstore.Entry{}, &runstore.DamagedRun{Err: why}) {
			return
		}
		stopped := errors.New("the reader has enough")
		err := s.salvaged(ctx, func(found *salvage.Runs) error {
			for e, err := range found.Entries(f, newestFirst) {
				if !yield(e, err) {
					return stopped
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(runstore.Entry{}, s.wrap("salvage", err))
		}
	}
}

// salvagedReferences answers from the records of a damaged file, as References does from summaries.
// They are read once, until something is written.
func (s *Store) salvagedReferences(ctx context.Context, q runstore.Query, why error) ([]run.Summary, error) {
	s.structure.mu.Lock()
	defer s.structure.mu.Unlock()
	index := s.structure.index[q.Centre]
	if index == nil {
		var err error
		if index, s.structure.lost, err = s.salvagedIndex(ctx, q.Centre); err != nil {
			return nil, s.wrap("find references in", err)
		}
		s.structure.index[q.Centre] = index
	}
	found, err := index.References(q)
	if err != nil {
		return nil, err
	}
	return found, &runstore.Incomplete{Damage: append([]runstore.Damage{{Problem: why.Error()}}, s.structure.lost...)}
}

func (s *Store) salvagedIndex(ctx context.Context, centre run.Centre) (index *runstore.Index, lost []runstore.Damage, err error) {
	if s.structure.index == nil {
		s.structure.index = map[run.Centre]*runstore.Index{}
	}
	index = runstore.NewIndex(centre)
	accepted := runstore.Filter{Level: true, States: []runstore.State{runstore.Accepted, runstore.Rebaselined}}
	err = s.salvaged(ctx, func(found *salvage.Runs) error {
		for e, err := range found.Entries(accepted, false) {
			var damaged *runstore.DamagedRun
			if errors.As(err, &damaged) {
				lost = append(lost, runstore.Damage{ID: damaged.ID, Problem: damaged.Err.Error()})
				continue
			}
			if err == nil {
				_, err = index.Add(e.Run)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return index, lost, err
}

// forget makes the next answer check again.
func (s *Store) forget() {
	s.structure.mu.Lock()
	defer s.structure.mu.Unlock()
	s.structure.index = nil
}
