// Package summaries encodes what a check reads of a run: the cells of its summary,
// in the place where References looks for them, with a seal.
//
// It takes a stand: a check opens no record, so that a summary in which a bit has
// changed must not become another number. It works no summary out: that is package
// run's.
package summaries

import (
	"context"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/baseline/sqlite/names"
	"github.com/apkgate/apkgate/run"
)

// Encode packs the cells, interning their names. A seal ends what is kept (seal.go).
func Encode(ctx context.Context, in *names.Writer, cells run.Cells) ([]byte, error) {
	list := make([]records.Value, 0, cells.Len())
	for c, v := range cells.All() {
		id, err := in.Cell(ctx, c)
		if err != nil {
			return nil, err
		}
		list = append(list, records.Value{Cell: id, Value: v})
	}
	return records.PackSummary(list), nil
}

// Place is where a run's summary lies: the key of its row.
type Place struct {
	Subject   int64
	Reference bool
	Context   int64
	Started   string
	ID        string
}

// Of are a run's encoded summaries, without their seals.
func Of(ctx context.Context, in *names.Writer, r run.Run) (median, mean []byte, err error) {
	byMedian, byMean := baseline.Cells(r)
	if median, err = Encode(ctx, in, byMedian); err != nil {
		return nil, nil, err
	}
	mean, err = Encode(ctx, in, byMean)
	return median, mean, err
}

// Add keeps the summaries of r in their place.
func Add(ctx context.Context, in *names.Writer, p Place, r run.Run) error {
	median, mean, err := Of(ctx, in, r)
	if err != nil {
		return err
	}
	_, err = in.Tx.ExecContext(ctx, `INSERT INTO summaries
		(subject, reference, context, started, id, session, median, mean) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		p.Subject, p.Reference, p.Context, p.Started, p.ID, r.Session, Seal(p, r.Session, median), Seal(p, r.Session, mean))
	return err
}
