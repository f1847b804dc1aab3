package sqlite

import (
	"context"
	"fmt"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// Prune implements runstore.Store: one transaction, after which the file returns the freed space.
func (s *Store) Prune(ctx context.Context, r runstore.Retention, each func(runstore.Entry) error) (int, error) {
	if err := r.Check(); err != nil {
		return 0, err
	}
	transact := s.write
	if r.DryRun {
		transact = s.read
	}
	removed := 0
	err := transact(ctx, func(tx *prepared.Tx) error {
		old, err := beyond(ctx, tx, r)
		if err != nil {
			return err
		}
		removed = len(old)
		for _, number := range old {
			if err := tell(ctx, tx, number, each); err != nil {
				return err
			}
			if r.DryRun {
				continue
			}
			if err := remove(ctx, tx, number); err != nil {
				return fmt.Errorf("remove run number %d: %w", number, err)
			}
		}
		return nil
	})
	if err != nil {
		return 0, s.wrap("prune", err)
	}
	if removed == 0 || r.DryRun {
		return removed, nil
	}
	if _, err := s.db.ExecContext(ctx, "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return removed, s.wrap("free the space of", err)
	}
	return removed, nil
}

// beyond returns the numbers of the runs that the retention does not keep.
func beyond(ctx context.Context, tx *prepared.Tx, r runstore.Retention) ([]int64, error) {
	ids, err := surplus(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	var old []int64
	for _, id := range ids {
		var number int64
		var state runstore.State
		err := tx.QueryRowContext(ctx, "SELECT number, state FROM runs WHERE id = ?", id).Scan(&number, &state)
		if err != nil {
			return nil, fmt.Errorf("run %q: %w", id, err)
		}
		if state != runstore.Rebaselined {
			old = append(old, number)
		}
	}
	return old, nil
}

// surplus returns the ids of all except the newest runs of each context. It reads the summaries
// backwards in their stored order, so that nothing is sorted.
func surplus(ctx context.Context, tx *prepared.Tx, r runstore.Retention) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT subject, reference, context, id FROM summaries
		WHERE subject IN (SELECT id FROM subjects WHERE ?1 IN ('', package) AND ?2 IN ('', scenario))
		ORDER BY subject DESC, reference DESC, context DESC, started DESC, id DESC`, r.Package, r.Scenario)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	type group struct{ subject, reference, context int64 }
	var ids []string
	var last group
	kept := 0
	for rows.Next() {
		var g group
		var id string
		if err := rows.Scan(&g.subject, &g.reference, &g.context, &id); err != nil {
			return nil, err
		}
		if g != last {
			last, kept = g, 0
		}
		if kept++; kept > r.Keep {
			ids = append(ids, id)
		}
	}
	return ids, rows.Err()
}

func tell(ctx context.Context, tx *prepared.Tx, number int64, each func(runstore.Entry) error) error {
	if each == nil {
		return nil
	}
	entries, err := selectEntries(ctx, tx, interning.NewReader(tx), "WHERE number = ?", number)
	if err != nil || len(entries) == 0 {
		return err
	}
	return each(entries[0])
}

// remove deletes a run with its record, marks and summaries.
func remove(ctx context.Context, tx *prepared.Tx, number int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM summaries WHERE (subject, reference, context, started, id) IN (
		SELECT subject, state IN ('accepted', 'rebaselined'), context, started, id FROM runs WHERE number = ?)`, number)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM runs WHERE number = ?", number)
	return err
}
