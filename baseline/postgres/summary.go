package postgres

import (
	"context"
	"errors"

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

// cells decodes a summary, and reads the names of cells that are not known yet.
func (s *Store) cells(ctx context.Context, tx pgx.Tx, data, repeated []byte, shared *run.Layouts) (run.Cells, error) {
	names, err := s.nameCells(ctx, tx, data)
	if err != nil {
		return run.Cells{}, err
	}
	cells, err := decodeCells(data, repeated, names, shared)
	if errors.Is(err, errUnknownCell) {
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

// sharedRows are the rows that a run shares with others.
func sharedRows(into map[key]shared, r run.Run, sums summaries) {
	k := subjectKey(r.App.Package, r.Scenario)
	into[k] = shared{k, toText(r.App.Package), toText(r.Scenario)}
	if k = contextKey(r.Context); into[k].a == nil {
		into[k] = contextRow(k, r.Context)
	}
	sharedCells(into, sums)
}

// sharedCells are those of the rows that are cells.
func sharedCells(into map[key]shared, sums summaries) {
	for _, cells := range []run.Cells{sums.median, sums.mean} {
		for c := range cells.All() {
			k := cellKey(c)
			into[k] = shared{k, toText(c.Event), toText(c.Metric)}
		}
	}
}
