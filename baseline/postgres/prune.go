package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/baseline"
)

// Prune implements baseline.Store: one transaction. The space is used again once
// PostgreSQL has vacuumed the tables, which it does by itself.
func (s *Store) Prune(ctx context.Context, r baseline.Retention, each func(baseline.Entry) error) (int, error) {
	if err := r.Check(); err != nil {
		return 0, err
	}
	transact := s.write
	if r.DryRun {
		transact = s.read
	}
	removed := 0
	told := map[string]bool{} // where the server goes away in the middle, nobody is told twice
	err := transact(ctx, func(tx pgx.Tx) error {
		old, err := beyond(ctx, tx, r)
		if err != nil {
			return err
		}
		removed = len(old)
		for len(old) > 0 {
			some := old[:min(page, len(old))]
			old = old[len(some):]
			if err := s.tell(ctx, tx, some, each, told); err != nil {
				return err
			}
			if r.DryRun {
				continue
			}
			if _, err := tx.Exec(ctx, "DELETE FROM apkgate.runs WHERE number = ANY($1)", some); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, s.wrap("prune", err)
	}
	return removed, nil
}

// beyond are the numbers of the runs that the retention does not keep.
func beyond(ctx context.Context, tx pgx.Tx, r baseline.Retention) ([]int64, error) {
	if !validText(r.Package) || !validText(r.Scenario) {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `
		SELECT number FROM (
			SELECT number, state, row_number() OVER (PARTITION BY subject, reference, context ORDER BY started DESC, r.id DESC) AS place
			FROM apkgate.runs r JOIN apkgate.subjects s ON s.id = subject
			WHERE $1 IN ('', package) AND $2 IN ('', scenario)) placed
		WHERE place > $3 AND state <> 'rebaselined' ORDER BY number`, toText(r.Package), toText(r.Scenario), r.Keep)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

func (s *Store) tell(ctx context.Context, tx pgx.Tx, numbers []int64, each func(baseline.Entry) error, told map[string]bool) error {
	if each == nil {
		return nil
	}
	entries, err := s.selectEntries(ctx, tx, "WHERE r.number = ANY($1) ORDER BY r.number", numbers)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if told[e.Run.ID] {
			continue
		}
		told[e.Run.ID] = true
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}
