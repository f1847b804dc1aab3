package postgres

import (
	"errors"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// pack packs summaries whose cells have those numbers.
func (s summaries) pack(ids map[key]int64) records.Packed {
	packed, _ := records.Pack(s.median, s.mean, func(c run.Cell) (int64, error) { return ids[cellKey(c)], nil }) // each cell has a number
	return packed
}

// nameIn gives the names of cells that are known.
func nameIn(names map[int64]run.Cell) func(int64) (run.Cell, error) {
	return func(number int64) (run.Cell, error) {
		cell, ok := names[number]
		if !ok {
			return cell, records.Damaged(errUnknownCell)
		}
		return cell, nil
	}
}

var errUnknownCell = errors.New("a summary has a cell that is not there")

// summaries are a run's two summaries.
type summaries struct{ median, mean run.Cells }

func summarize(r run.Run) summaries {
	median, mean := runstore.Cells(r)
	return summaries{median, mean}
}

// sharedRows adds the rows that a run shares with others.
func sharedRows(into map[key]shared, r run.Run, sums summaries) {
	k := subjectKey(r.App.Package, r.Scenario)
	into[k] = shared{k, toText(r.App.Package), toText(r.Scenario)}
	if k = contextKey(r.Context); into[k].a == nil {
		into[k] = contextRow(k, r.Context)
	}
	sharedCells(into, sums)
}

// sharedCells adds those of the rows that are cells.
func sharedCells(into map[key]shared, sums summaries) {
	for _, cells := range []run.Cells{sums.median, sums.mean} {
		for c := range cells.All() {
			k := cellKey(c)
			into[k] = shared{k, toText(c.Event), toText(c.Metric)}
		}
	}
}
