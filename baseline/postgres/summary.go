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

func encodeCells(ids map[key]int64, cells run.Cells) []byte {
	list := make([]records.Value, 0, cells.Len())
	for c, v := range cells.All() {
		list = append(list, records.Value{Cell: ids[cellKey(c)], Value: v})
	}
	return records.PackSummary(list)
}

var errUnknownCell = errors.New("a summary has a cell that is not there")

// decodeCells reads cells whose names are known.
func decodeCells(data []byte, names map[int64]run.Cell, shared *run.Layouts) (run.Cells, error) {
	var cells []run.Cell
	values := make([]float64, 0, records.MostValues(data))
	err := records.EachValue(data, func(cell int64, value float64) error {
		name, ok := names[cell]
		if !ok {
			return errUnknownCell
		}
		cells, values = append(cells, name), append(values, value)
		return nil
	})
	if err != nil {
		return run.Cells{}, err
	}
	return shared.Cells(cells, values, nil), nil
}

// cells decodes a summary, and reads the names of cells anew where it has one
// that was made since.
func (s *Store) cells(ctx context.Context, tx pgx.Tx, data []byte, shared *run.Layouts) (run.Cells, error) {
	cells, err := decodeCells(data, s.cellNames(), shared)
	if !errors.Is(err, errUnknownCell) {
		return cells, err
	}
	names, err := s.loadCells(ctx, tx)
	if err != nil {
		return run.Cells{}, err
	}
	if cells, err = decodeCells(data, names, shared); errors.Is(err, errUnknownCell) {
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

// deriveAll makes every summary anew from the records, and the records themselves
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
		if _, err := tx.Exec(ctx, "UPDATE apkgate.runs SET median = $2, mean = $3 WHERE number = $1",
			number, encodeCells(ids, sums.median), encodeCells(ids, sums.mean)); err != nil {
			return fmt.Errorf("run number %d: %w", number, err)
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
