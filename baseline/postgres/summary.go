package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/run"
)

// packed are a run's summaries as they are kept.
type packed struct{ median, mean, repeated []byte }

// pack packs summaries whose cells have those numbers.
func (s summaries) pack(ids map[key]int64) packed {
	number := func(c run.Cell) (int64, error) { return ids[cellKey(c)], nil }
	medians, _ := records.Values(s.median, number) // each cell has a number
	means, _ := records.Values(s.mean, number)
	return packed{records.PackSummary(medians), records.PackSummary(means), records.PackRepeated(medians)}
}

var errUnknownCell = errors.New("a summary has a cell that is not there")

// decodeCells reads cells whose names are known, and what their repetitions say.
func decodeCells(data, repeated []byte, names map[int64]run.Cell, shared *run.Layouts) (run.Cells, error) {
	most := records.MostValues(data)
	cells, values, said := make([]run.Cell, 0, most), make([]float64, 0, most), make([]run.Repeated, 0, most)
	repetitions := records.RepetitionsIn(repeated)
	err := records.EachValue(data, func(cell int64, value float64) error {
		name, ok := names[cell]
		if !ok {
			return errUnknownCell
		}
		r, err := repetitions.Next(value)
		cells, values, said = append(cells, name), append(values, value), append(said, r)
		return err
	})
	if err == nil {
		err = repetitions.End()
	}
	if err != nil {
		return run.Cells{}, err
	}
	return shared.Cells(cells, values, said), nil
}

// cells decodes a summary, and reads the names of cells anew where it has one
// that was made since.
func (s *Store) cells(ctx context.Context, tx pgx.Tx, data, repeated []byte, shared *run.Layouts) (run.Cells, error) {
	cells, err := decodeCells(data, repeated, s.cellNames(), shared)
	if !errors.Is(err, errUnknownCell) {
		return cells, err
	}
	names, err := s.loadCells(ctx, tx)
	if err != nil {
		return run.Cells{}, err
	}
	if cells, err = decodeCells(data, repeated, names, shared); errors.Is(err, errUnknownCell) {
		err = records.Damaged(err)
	}
	return cells, err
}

// summaries are a run's two summaries.
type summaries struct{ median, mean run.Cells }

func summarize(r run.Run) summaries {
	median, mean := baseline.Cells(r)
	return summaries{median, mean}
}

// rows are the rows that a run shares with others.
func sharedRows(into map[key]shared, r run.Run, sums summaries) {
	k := subjectKey(r.App.Package, r.Scenario)
	into[k] = shared{k, toText(r.App.Package), toText(r.Scenario)}
	if k = contextKey(r.Context); into[k].a == nil {
		into[k] = contextRow(k, r.Context)
	}
	for _, cells := range []run.Cells{sums.median, sums.mean} {
		for c := range cells.All() {
			k := cellKey(c)
			into[k] = shared{k, toText(c.Event), toText(c.Metric)}
		}
	}
}

// deriveAll makes every summary anew from the records, what stands beside them of
// ANRs, and the records themselves
// where they are made otherwise today. A run whose record is damaged keeps the old
// summary, which Verify tells.
func deriveAll(ctx context.Context, tx pgx.Tx) error {
	last := int64(0)
	for {
		var number int64
		err := tx.QueryRow(ctx, "SELECT number FROM apkgate.runs WHERE number > $1 ORDER BY number LIMIT 1", last).Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		last = number
		e, err := getEntry(ctx, tx, number)
		if errors.Is(err, baseline.ErrDamaged) {
			continue
		}
		if err != nil {
			return err
		}
		if err := renew(ctx, tx, number, e.Run); err != nil {
			return fmt.Errorf("run number %d: %w", number, err)
		}
		sums := summarize(e.Run)
		rows := map[key]shared{}
		sharedRows(rows, e.Run, sums)
		cells := slices.Collect(func(yield func(shared) bool) {
			for k, row := range rows {
				if k.table == "cells" && !yield(row) {
					return
				}
			}
		})
		ids := map[key]int64{}
		if err := internTable(ctx, tx, "cells", cells, ids); err != nil {
			return err
		}
		row := sums.pack(ids)
		anrs, err := records.PackANRs(e.Run.ANRs)
		if err != nil {
			return fmt.Errorf("run number %d: %w", number, err)
		}
		if _, err := tx.Exec(ctx, "UPDATE apkgate.runs SET median = $2, mean = $3, repeated = $4, anrs = $5 WHERE number = $1",
			number, row.median, row.mean, row.repeated, anrs); err != nil {
			return fmt.Errorf("run number %d: %w", number, err)
		}
	}
}

// deriveANRs puts the ANRs of each run beside its record. A record that is damaged, or
// has none, is not read.
func deriveANRs(ctx context.Context, tx pgx.Tx) error {
	for last := int64(0); ; {
		var packed []byte
		err := tx.QueryRow(ctx, "SELECT run, data FROM apkgate.records WHERE run > $1 ORDER BY run LIMIT 1", last).Scan(&last, &packed)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if !records.MayHaveANRs(packed) {
			continue
		}
		e, err := getEntry(ctx, tx, last)
		if errors.Is(err, baseline.ErrDamaged) {
			continue
		}
		if err != nil {
			return err
		}
		anrs, err := records.PackANRs(e.Run.ANRs)
		if err != nil {
			return fmt.Errorf("run number %d: %w", last, err)
		}
		if _, err := tx.Exec(ctx, "UPDATE apkgate.runs SET anrs = $2 WHERE number = $1", last, anrs); err != nil {
			return fmt.Errorf("run number %d: %w", last, err)
		}
	}
}

// renew brings the run's record up to date: see records.Renewed.
func renew(ctx context.Context, tx pgx.Tx, number int64, r run.Run) error {
	rec, differs, err := records.Renewed(r)
	if err != nil || !differs {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE apkgate.runs SET digest = $2 WHERE number = $1", number, rec.Digest); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE apkgate.records SET data = $2 WHERE run = $1", number, rec.Packed)
	return err
}
