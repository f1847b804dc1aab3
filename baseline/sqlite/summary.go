package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/run"
)

// A summary's cells are kept as pairs in rising order of the cells' ids: the
// difference to the id before as an unsigned varint, then the value as a
// little-endian float64. A seal ends them (seal.go).

// bytesOfACell is the least that a cell takes in a summary.
const bytesOfACell = 1 + 8

type numbered struct {
	cell  int64
	value float64
}

// encodeCells writes the cells, interning their names.
func encodeCells(ctx context.Context, in *interner, cells run.Cells) ([]byte, error) {
	list := make([]numbered, 0, cells.Len())
	for c, v := range cells.All() {
		id, err := in.cell(ctx, c)
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

// decodeCells calls each for every cell in data.
func decodeCells(data []byte, each func(cell int64, value float64) error) error {
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

// place is where a run's summary lies: the key of its row.
type place struct {
	subject   int64
	reference bool
	context   int64
	started   string
	id        string
}

// blobs are a run's encoded summaries, without their seals.
func blobs(ctx context.Context, in *interner, r run.Run) (median, mean []byte, err error) {
	byMedian, byMean := baseline.Cells(r)
	if median, err = encodeCells(ctx, in, byMedian); err != nil {
		return nil, nil, err
	}
	mean, err = encodeCells(ctx, in, byMean)
	return median, mean, err
}

// addSummary keeps the summaries of r in their place.
func addSummary(ctx context.Context, in *interner, p place, r run.Run) error {
	median, mean, err := blobs(ctx, in, r)
	if err != nil {
		return err
	}
	_, err = in.tx.ExecContext(ctx, `INSERT INTO summaries
		(subject, reference, context, started, id, session, median, mean) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		p.subject, p.reference, p.context, p.started, p.id, r.Session, seal(p, r.Session, median), seal(p, r.Session, mean))
	return err
}
