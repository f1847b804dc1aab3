package interning

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// Writer returns the ids of rows that many runs share, and inserts missing ones. It lives as long
// as one transaction: ids of another could be rolled back.
type Writer struct {
	Tx       *prepared.Tx
	subjects map[[2]string]int64
	props    map[[2]string]int64
	contexts map[string]int64 // by their encoded properties
	cells    map[run.Cell]int64
}

// NewWriter returns a writer in a transaction.
func NewWriter(tx *prepared.Tx) *Writer {
	return &Writer{
		Tx: tx, subjects: map[[2]string]int64{}, props: map[[2]string]int64{},
		contexts: map[string]int64{}, cells: map[run.Cell]int64{},
	}
}

// Subject returns the id of an app's scenario.
func (in *Writer) Subject(ctx context.Context, pkg, scenario string) (int64, error) {
	return intern(ctx, in.Tx, in.subjects, [2]string{pkg, scenario},
		"SELECT id FROM subjects WHERE package = ? AND scenario = ?",
		"INSERT INTO subjects (package, scenario) VALUES (?, ?)", pkg, scenario)
}

// Cell returns the id of a cell.
func (in *Writer) Cell(ctx context.Context, c run.Cell) (int64, error) {
	return intern(ctx, in.Tx, in.cells, c,
		"SELECT id FROM cells WHERE event = ? AND metric = ?",
		"INSERT INTO cells (event, metric) VALUES (?, ?)", c.Event, c.Metric)
}

// Context returns the id of a context: equal properties have the same id.
func (in *Writer) Context(ctx context.Context, properties map[string]string) (int64, error) {
	ids := make([]int64, 0, len(properties))
	for name, value := range properties {
		id, err := intern(ctx, in.Tx, in.props, [2]string{name, value},
			"SELECT id FROM properties WHERE name = ? AND value = ?",
			"INSERT INTO properties (name, value) VALUES (?, ?)", name, value)
		if err != nil {
			return 0, err
		}
		ids = append(ids, id)
	}
	key := EncodeIDs(ids)
	if id, ok := in.contexts[string(key)]; ok {
		return id, nil
	}
	id, made, err := findOrMake(ctx, in.Tx,
		"SELECT id FROM contexts WHERE properties = ?",
		"INSERT INTO contexts (properties) VALUES (?)", key)
	if err != nil {
		return 0, err
	}
	if made {
		for _, p := range ids {
			if _, err := in.Tx.ExecContext(ctx, "INSERT INTO context_properties (property, context) VALUES (?, ?)", p, id); err != nil {
				return 0, err
			}
		}
	}
	in.contexts[string(key)] = id
	return id, nil
}

func intern[K comparable](ctx context.Context, tx *prepared.Tx, known map[K]int64, key K, find, make string, args ...any) (int64, error) {
	if id, ok := known[key]; ok {
		return id, nil
	}
	id, _, err := findOrMake(ctx, tx, find, make, args...)
	if err != nil {
		return 0, err
	}
	known[key] = id
	return id, nil
}

func findOrMake(ctx context.Context, tx *prepared.Tx, find, make string, args ...any) (id int64, made bool, err error) {
	err = tx.QueryRowContext(ctx, find, args...).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, false, err
	}
	result, err := tx.ExecContext(ctx, make, args...)
	if err != nil {
		return 0, false, err
	}
	id, err = result.LastInsertId()
	return id, true, err
}

// EncodeIDs encodes ids in rising order, each as the difference from the one before, as unsigned
// varints. It sorts ids.
func EncodeIDs(ids []int64) []byte {
	slices.Sort(ids)
	out := []byte{}
	last := int64(0)
	for _, id := range ids {
		out = binary.AppendUvarint(out, uint64(id-last))
		last = id
	}
	return out
}

// DecodeIDs appends the ids in data to ids.
func DecodeIDs(ids []int64, data []byte) ([]int64, error) {
	last := int64(0)
	for len(data) > 0 {
		step, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, records.Damaged(errors.New("the list of a context's properties ends too early"))
		}
		last += int64(step)
		ids = append(ids, last)
		data = data[n:]
	}
	return ids, nil
}
