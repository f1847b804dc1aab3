package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// Verify implements runstore.Store. It checks for each run that the record matches its digest and
// that everything derived from the record agrees with it. pg_amcheck checks PostgreSQL's own files.
func (s *Store) Verify(ctx context.Context) (found []runstore.Damage, err error) {
	after := records.Cursor{}
	for {
		var numbers []int64
		var next records.Cursor
		err := s.read(ctx, func(tx pgx.Tx) error {
			numbers, next = nil, after
			rows, err := tx.Query(ctx, "SELECT number, started, id FROM apkgate.runs WHERE "+ours+` AND (started, id) > ($1, $2)
				ORDER BY started, id LIMIT $3`, after.Started, after.ID, page)
			if err != nil {
				return err
			}
			var number int64
			_, err = pgx.ForEachRow(rows, []any{&number, &next.Started, &next.ID}, func() error {
				numbers = append(numbers, number)
				return nil
			})
			return err
		})
		if err != nil {
			return nil, s.wrap("verify", err)
		}
		after = next
		for _, number := range numbers {
			var d []runstore.Damage
			if err := s.read(ctx, func(tx pgx.Tx) (err error) { d, err = s.verifyRun(ctx, tx, number); return err }); err != nil {
				return nil, s.wrap("verify", err)
			}
			found = append(found, d...)
		}
		if len(numbers) < page {
			return found, nil
		}
	}
}

// verifyRun checks one run. An error is of the server, not of the run.
func (s *Store) verifyRun(ctx context.Context, tx pgx.Tx, number int64) ([]runstore.Damage, error) {
	listed, err := s.selectEntries(ctx, tx, "SELECT * FROM apkgate.runs WHERE number = $1", "", number)
	if err == nil && len(listed) == 0 {
		return nil, nil // pruned in the meantime
	}
	id := fmt.Sprint("number ", number)
	if err == nil {
		id = listed[0].Run.ID
		err = s.checkRun(ctx, tx, number, listed[0])
	}
	if errors.Is(err, runstore.ErrDamaged) {
		return []runstore.Damage{{ID: id, Problem: err.Error()}}, nil
	}
	return nil, err
}

func (s *Store) checkRun(ctx context.Context, tx pgx.Tx, number int64, listed runstore.Entry) error {
	e, err := getEntry(ctx, tx, number)
	if err != nil {
		return err
	}
	if what := records.Differs(e, listed); what != "" {
		return records.Damaged(fmt.Errorf("its %s is listed otherwise than its record says", what))
	}
	var state, since string
	var reference bool
	var derived int
	var median, mean, repeated, anrs []byte
	if err := tx.QueryRow(ctx, "SELECT state, since, reference, derived, median, mean, repeated, anrs FROM apkgate.runs WHERE number = $1", number).
		Scan(&state, &since, &reference, &derived, &median, &mean, &repeated, &anrs); err != nil {
		return err
	}
	if err := records.CheckMark(runstore.State(state), since, e.Mark); err != nil {
		return err
	}
	if reference != e.Mark.State.Reference() {
		return records.Damaged(errors.New("it is among the references and should not be, or the other way round"))
	}
	if derived != derivation {
		return nil // a run of other rules is always derived from the record
	}
	if err := records.CheckANRs(anrs, e.Run); err != nil {
		return err
	}
	names, err := s.nameCells(ctx, tx, median, mean)
	if err != nil {
		return err
	}
	kept := map[run.Centre][]byte{run.Median: median, run.Mean: mean}
	return records.CheckCells(e.Run, func(c run.Centre) (run.Cells, error) {
		return new(records.CellReader).Read(kept[c], repeated, nameIn(names))
	})
}
