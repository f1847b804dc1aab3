package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/runstore"
)

// How many records are read in one transaction, and how large each may be there: larger ones are
// read separately, to limit memory.
const (
	exported      = 50
	largestInMany = 1 << 20
)

// Export implements runstore.Store. A run that has been pruned in the meantime is left out.
func (s *Store) Export(ctx context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		var ids []string
		for e, err := range s.entries(ctx, f, false) {
			if err != nil {
				if s.yieldWhole(ctx, ids, yield) {
					yield(e, err)
				}
				return
			}
			if ids = append(ids, e.Run.ID); len(ids) == exported {
				if !s.yieldWhole(ctx, ids, yield) {
					return
				}
				ids = ids[:0]
			}
		}
		s.yieldWhole(ctx, ids, yield)
	}
}

// yieldWhole yields the complete runs of the ids, in that order, and reports whether to continue.
func (s *Store) yieldWhole(ctx context.Context, ids []string, yield func(runstore.Entry, error) bool) bool {
	if len(ids) == 0 {
		return true
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = toText(id)
	}
	there := map[string]found{}
	err := s.read(ctx, func(tx pgx.Tx) error {
		list, err := getEntries(ctx, tx, largestInMany, ours+" AND r.id = ANY($2)", texts)
		for _, f := range list {
			there[f.id] = f
		}
		return err
	})
	if err != nil {
		yield(runstore.Entry{}, s.wrap("export", err))
		return false
	}
	for _, id := range ids {
		f, ok := there[id]
		if !ok {
			continue
		}
		if err = f.err; f.large {
			if f.entry, err = s.Get(ctx, id); errors.Is(err, runstore.ErrNotFound) {
				continue
			}
		} else if err != nil {
			err = s.wrap(fmt.Sprintf("get run %q from", id), err)
		}
		damaged := errors.Is(err, runstore.ErrDamaged)
		if damaged {
			err = &runstore.DamagedRun{ID: id, Err: err}
		}
		if !yield(f.entry, err) || err != nil && !damaged {
			return false
		}
	}
	return true
}
