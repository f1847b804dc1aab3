// Package summaries encodes what a check reads of a run: the cells of its summary, in the place
// where References looks for them, with a seal.
//
// A check opens no record, so that a summary with a changed bit must not become another number. The
// package computes no summary: package run does.
package summaries

import (
	"context"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
)

// Place is where a run's summary is stored: the key of its row.
type Place struct {
	Subject   int64
	Reference bool
	Context   int64
	Started   string
	ID        string
}

// Of are the summaries of r without their seals. It interns the names of cells.
func Of(ctx context.Context, in *interning.Writer, r run.Run) (records.Packed, error) {
	byMedian, byMean := runstore.Cells(r)
	return Pack(ctx, in, byMedian, byMean)
}

// Pack packs summaries that were worked out, without their seals. It interns the names of
// cells.
func Pack(ctx context.Context, in *interning.Writer, byMedian, byMean run.Cells) (records.Packed, error) {
	return records.Pack(byMedian, byMean, func(c run.Cell) (int64, error) { return in.Cell(ctx, c) })
}

// Add stores the summaries of r in their place.
func Add(ctx context.Context, in *interning.Writer, p Place, r run.Run) error {
	packed, err := Of(ctx, in, r)
	if err != nil {
		return err
	}
	_, err = in.Tx.ExecContext(ctx, Insert, Row(packed, p, r)...)
	return err
}

// Insert adds a Row.
const Insert = `INSERT INTO summaries (subject, reference, context, started, id, session, revision, median, mean, repeated)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Row is what Insert takes: the summaries with their seals (seal.go), in their place.
func Row(k records.Packed, p Place, r run.Run) []any {
	return []any{
		p.Subject, p.Reference, p.Context, p.Started, p.ID, r.Session, r.Source.Commit,
		Seal(p, r.Session, k.Median), Seal(p, r.Session, k.Mean), Seal(p, r.Source.Commit, k.Repeated),
	}
}
