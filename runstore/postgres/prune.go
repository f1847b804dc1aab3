package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/runstore"
)

// old is a run beyond the retention, with its state when it was found.
type old struct {
	number int64
	state  string
}

// Prune implements runstore.Store. It visits some subjects at a time, and removes some runs at a
// time, so that no other session waits for it; a run that is marked concurrently stays. PostgreSQL
// reuses the space after it has vacuumed the tables, which it does by itself.
func (s *Store) Prune(ctx context.Context, r runstore.Retention, each func(runstore.Entry) error) (int, error) {
	if err := r.Check(); err != nil {
		return 0, err
	}
	list, err := s.beyond(ctx, r)
	if err == nil {
		err = s.tell(ctx, list, each)
	}
	if r.DryRun || err != nil {
		if err != nil {
			return 0, s.wrap("prune", err)
		}
		return len(list), nil
	}
	removed := 0
	for some := range slices.Chunk(list, page) {
		n, before := 0, 0 // of an attempt with an unknown outcome
		err := s.write(ctx, func(tx pgx.Tx) (err error) {
			before = max(before, n)
			n, err = remove(ctx, tx, some)
			return err
		})
		if err != nil {
			return removed, s.wrap("prune", err)
		}
		removed += max(before, n)
	}
	return removed, nil
}

func remove(ctx context.Context, tx pgx.Tx, list []old) (int, error) {
	var numbers []int64
	var states []string
	for _, o := range list {
		numbers, states = append(numbers, o.number), append(states, o.state)
	}
	done, err := tx.Exec(ctx, `DELETE FROM apkgate.runs r USING unnest($1::bigint[], $2::text[]) AS o(number, state)
		WHERE r.number = o.number AND r.state = o.state AND r.number = ANY($1)`, numbers, states)
	return int(done.RowsAffected()), err
}

// subjectsAtOnce is the number of subjects whose runs one transaction visits.
const subjectsAtOnce = 100

// beyond returns the runs beyond the retention.
func (s *Store) beyond(ctx context.Context, r runstore.Retention) (list []old, err error) {
	var subjects []int64
	if err := s.read(ctx, func(tx pgx.Tx) (err error) {
		subjects, err = subjectsOf(ctx, tx, r.Package, r.Scenario)
		return err
	}); err != nil {
		return nil, err
	}
	for some := range slices.Chunk(subjects, subjectsAtOnce) {
		var found []old
		err := s.read(ctx, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, `SELECT p.number, p.state FROM unnest($1::bigint[]) AS of(subject) CROSS JOIN LATERAL (
				SELECT number, state, row_number() OVER (PARTITION BY reference, context ORDER BY started DESC, id DESC) AS place
				FROM apkgate.runs WHERE subject = of.subject OFFSET 0) p
				WHERE p.place > $2 AND p.state <> 'rebaselined' ORDER BY p.number`, some, r.Keep)
			if err != nil {
				return err
			}
			found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (o old, err error) { return o, row.Scan(&o.number, &o.state) })
			return err
		})
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// tell calls each for each of the runs.
func (s *Store) tell(ctx context.Context, list []old, each func(runstore.Entry) error) error {
	if each == nil {
		return nil
	}
	for some := range slices.Chunk(list, page) {
		numbers := make([]int64, len(some))
		for i, o := range some {
			numbers[i] = o.number
		}
		var entries []runstore.Entry
		if err := s.read(ctx, func(tx pgx.Tx) (err error) {
			entries, err = s.selectEntries(ctx, tx, "SELECT * FROM apkgate.runs WHERE number = ANY($1)", "ORDER BY r.number", numbers)
			return err
		}); err != nil {
			return err
		}
		for _, e := range entries {
			if err := each(e); err != nil {
				return err
			}
		}
	}
	return nil
}
