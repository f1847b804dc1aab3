// Package summaries encodes what a check reads of a run: the cells of its summary,
// in the place where References looks for them, with a seal.
//
// It takes a stand: a check opens no record, so that a summary in which a bit has
// changed must not become another number. It works no summary out: that is package
// run's.
package summaries

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/baseline/sqlite/names"
	"github.com/apkgate/apkgate/run"
)

// A summary's cells are kept as pairs in rising order of the cells' ids: the
// difference to the id before as an unsigned varint, then the value as a
// little-endian float64. A seal ends them (seal.go).

// BytesOfACell is the least that a cell takes in a summary.
const BytesOfACell = 1 + 8

type numbered struct {
	cell  int64
	value float64
}

// Encode writes the cells, interning their names.
func Encode(ctx context.Context, in *names.Writer, cells run.Cells) ([]byte, error) {
	list := make([]numbered, 0, cells.Len())
	for c, v := range cells.All() {
		id, err := in.Cell(ctx, c)
		if err != nil {
			return nil, err
		}
		list = append(list, numbered{id, v})
	}
	slices.SortFunc(list, func(a, b numbered) int { return cmp.Compare(a.cell, b.cell) })
	out := make([]byte, 0, 10*len(list))
	last := int64(0)
	for _, n := range list {
		out = binary.AppendUvarint(out, uint64(n.cell-last))
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(n.value))
		last = n.cell
	}
	return out, nil
}

var errShortSummary = errors.New("a summary ends too early")

// Decode calls each for every cell in data.
func Decode(data []byte, each func(cell int64, value float64) error) error {
	last := int64(0)
	for len(data) > 0 {
		step, n := binary.Uvarint(data)
		if n <= 0 || len(data) < n+8 {
			return records.Damaged(errShortSummary)
		}
		last += int64(step)
		if err := each(last, math.Float64frombits(binary.LittleEndian.Uint64(data[n:]))); err != nil {
			return err
		}
		data = data[n+8:]
	}
	return nil
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
