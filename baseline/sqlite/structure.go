package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/baseline/sqlite/pages"
	"github.com/apkgate/apkgate/baseline/sqlite/prepared"
	"github.com/apkgate/apkgate/baseline/sqlite/salvage"
	"github.com/apkgate/apkgate/run"
)

// structure remembers whether the trees of a file are whole, which is looked at
// once for as long as it is open.
type structure struct {
	mu     sync.Mutex
	looked bool
	trees  error // what SQLite finds; wraps baseline.ErrDamaged, nil for none
	rows   error // where rows don't agree with each other, likewise
	// index answers from the records of a damaged file, by centre; lost are the
	// runs that it has to do without.
	index map[run.Centre]*baseline.Index
	lost  []baseline.Damage
}

// smallFile is up to how many bytes a file's structure is looked at before each
// answer that depends on it: that takes a fraction of a second. Beyond it, what an
// answer reads is checked, but not what its trees may have lost.
const smallFile = 64 << 20

// whole returns what is wrong with the structure of the file, as an error that
// wraps baseline.ErrDamaged. Only a small file is looked at, unless all are.
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

// look looks at the structure, once.
func (s *Store) look(ctx context.Context, all bool) error {
	if s.structure.looked {
		return nil
	}
	var trees, rows []baseline.Damage
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
			do   func(context.Context, *prepared.Tx) ([]baseline.Damage, error)
			into *[]baseline.Damage
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

// structureError is the first damage, and how many there are; nil for none.
func structureError(found []baseline.Damage) error {
	if len(found) == 0 {
		return nil
	}
	err := fmt.Errorf("the file's structure: %s", found[0])
	if more := len(found) - 1; more > 0 {
		err = fmt.Errorf("%w, and %d more", err, more)
	}
	return records.Damaged(err)
}

// Check looks at the structure of a small file. What is wrong with it is an error
// that wraps baseline.ErrDamaged.
func (s *Store) Check(ctx context.Context) error { return s.whole(ctx, false) }

// checkReferences checks that each run counts as what its newest mark says, and that
// the runs that count as accepted are those whose summaries lie among the references.
func checkReferences(ctx context.Context, tx *prepared.Tx) ([]baseline.Damage, error) {
	return listDamage(ctx, tx, `SELECT r.id, 'its summary is not where it should be' FROM runs r WHERE NOT EXISTS (
			SELECT 1 FROM summaries s WHERE s.subject = r.subject AND s.reference = (r.state IN ('accepted', 'rebaselined'))
			AND s.context = r.context AND s.started = r.started AND s.id = r.id)
		UNION ALL SELECT r.id, 'its newest mark is not what it counts as' FROM runs r WHERE r.state || '/' || r.since <> coalesce(
			(SELECT m.state || '/' || m.since FROM marks m WHERE m.run = r.number ORDER BY m.at DESC, m.number DESC LIMIT 1), '/')
		UNION ALL SELECT '', 'there are ' || s || ' summaries of ' || r || ' runs'
		FROM (SELECT (SELECT count(*) FROM summaries) AS s, (SELECT count(*) FROM runs NOT INDEXED) AS r) WHERE s <> r`)
}

// isDamage reports whether the error is that something is damaged, so that what
// is sound has to be looked for page by page.
func isDamage(err error) bool { return errors.Is(explain(err), baseline.ErrDamaged) }

// salvaged runs do on what the pages say, all in one state of the file.
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

// salvagedEntries are the sound runs of a damaged file. What is wrong with it comes
// first, unless that is nil.
func (s *Store) salvagedEntries(ctx context.Context, f baseline.Filter, newestFirst bool, why error) iter.Seq2[baseline.Entry, error] {
	return func(yield func(baseline.Entry, error) bool) {
		if why != nil && !yield(baseline.Entry{}, &baseline.DamagedRun{Err: why}) {
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
			yield(baseline.Entry{}, s.wrap("salvage", err))
		}
	}
}

// salvagedReferences answers from the records of a damaged file, as References
// does from summaries. They are read once, until something is written.
func (s *Store) salvagedReferences(ctx context.Context, q baseline.Query, why error) ([]run.Summary, error) {
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
	return found, &baseline.Incomplete{Damage: append([]baseline.Damage{{Problem: why.Error()}}, s.structure.lost...)}
}

func (s *Store) salvagedIndex(ctx context.Context, centre run.Centre) (index *baseline.Index, lost []baseline.Damage, err error) {
	if s.structure.index == nil {
		s.structure.index = map[run.Centre]*baseline.Index{}
	}
	index = baseline.NewIndex(centre)
	accepted := baseline.Filter{Level: true, States: []baseline.State{baseline.Accepted, baseline.Rebaselined}}
	err = s.salvaged(ctx, func(found *salvage.Runs) error {
		for e, err := range found.Entries(accepted, false) {
			var damaged *baseline.DamagedRun
			if errors.As(err, &damaged) {
				lost = append(lost, baseline.Damage{ID: damaged.ID, Problem: damaged.Err.Error()})
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

// forget has the next answer look anew.
func (s *Store) forget() {
	s.structure.mu.Lock()
	defer s.structure.mu.Unlock()
	s.structure.index = nil
}
