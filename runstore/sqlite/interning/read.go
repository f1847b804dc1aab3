// Package interning stores shared values of runs under numbers: subjects, the properties of
// contexts, contexts, and the cells of summaries (docs/format/history.md).
//
// A name whose own index does not lead back to it is damaged. The package stores no runs, and its
// numbers have no meaning outside the file.
package interning

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// Reader reads contexts and cells by their ids, each once.
type Reader struct {
	tx    *prepared.Tx
	byID  map[int64]map[string]string
	props map[int64][2]string
	cells map[int64]run.Cell
}

// NewReader returns a reader in a transaction, for as long as that lasts.
func NewReader(tx *prepared.Tx) *Reader {
	return &Reader{tx: tx, byID: map[int64]map[string]string{}, props: map[int64][2]string{}, cells: map[int64]run.Cell{}}
}

// Properties returns those of the context of that id. Callers share the map.
func (c *Reader) Properties(ctx context.Context, id int64) (map[string]string, error) {
	if m, ok := c.byID[id]; ok {
		return m, nil
	}
	var blob []byte
	if err := c.tx.QueryRowContext(ctx, "SELECT properties FROM contexts WHERE id = ?", id).Scan(&blob); err != nil {
		return nil, Missing(err, "context", id)
	}
	ids, err := DecodeIDs(nil, blob)
	if err != nil {
		return nil, err
	}
	m := make(map[string]string, len(ids))
	for _, p := range ids {
		pair, ok := c.props[p]
		if !ok {
			err := c.tx.QueryRowContext(ctx, "SELECT name, value FROM properties WHERE id = ?", p).Scan(&pair[0], &pair[1])
			if err != nil {
				return nil, Missing(err, "property", p)
			}
			if err := c.agrees(ctx, "property", p, "SELECT id FROM properties WHERE name = ? AND value = ?", pair[0], pair[1]); err != nil {
				return nil, err
			}
			c.props[p] = pair
		}
		m[pair[0]] = pair[1]
	}
	if err := c.agrees(ctx, "context", id, "SELECT id FROM contexts WHERE properties = ?", append([]byte{}, blob...)); err != nil {
		return nil, err
	}
	c.byID[id] = m
	return m, nil
}

// Load preloads contexts, many at a time.
func (c *Reader) Load(ctx context.Context, ids []int64) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return c.byID[id] != nil })
	lists := map[int64][]int64{} // of properties, by context
	var unknown []int64
	err := c.readByIDs(ctx, "SELECT id, properties FROM contexts WHERE id IN ", ids, func(rows *sql.Rows) error {
		var id int64
		var blob sql.RawBytes
		if err := rows.Scan(&id, &blob); err != nil {
			return err
		}
		list, err := DecodeIDs(nil, blob)
		lists[id] = list
		for _, p := range list {
			if _, ok := c.props[p]; !ok {
				c.props[p] = [2]string{}
				unknown = append(unknown, p)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	found := 0
	err = c.readByIDs(ctx, "SELECT id, name, value FROM properties WHERE id IN ", unknown, func(rows *sql.Rows) error {
		var id int64
		var pair [2]string
		err := rows.Scan(&id, &pair[0], &pair[1])
		c.props[id] = pair
		found++
		return err
	})
	if err == nil && (found < len(unknown) || len(lists) < len(ids)) {
		err = records.Damaged(errors.New("a context or one of its properties is not there"))
	}
	for id, list := range lists {
		m := make(map[string]string, len(list))
		for _, p := range list {
			pair := c.props[p]
			m[pair[0]] = pair[1]
		}
		c.byID[id] = m
	}
	return err
}

// readByIDs executes the query for the ids, some at a time.
func (c *Reader) readByIDs(ctx context.Context, query string, ids []int64, each func(*sql.Rows) error) error {
	const atOnce = 500
	for some := range slices.Chunk(ids, atOnce) {
		rows, err := c.tx.QueryContext(ctx, query+"("+Holders(len(some))+")", Anys(some)...)
		if err != nil {
			return err
		}
		for rows.Next() && err == nil {
			err = each(rows)
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Cell returns the cell of that id.
func (c *Reader) Cell(ctx context.Context, id int64) (run.Cell, error) {
	if cell, ok := c.cells[id]; ok {
		return cell, nil
	}
	var cell run.Cell
	err := c.tx.QueryRowContext(ctx, "SELECT event, metric FROM cells WHERE id = ?", id).Scan(&cell.Event, &cell.Metric)
	if err != nil {
		return cell, Missing(err, "cell", id)
	}
	if err := c.agrees(ctx, "cell", id, "SELECT id FROM cells WHERE event = ? AND metric = ?", cell.Event, cell.Metric); err != nil {
		return cell, err
	}
	c.cells[id] = cell
	return cell, nil
}

// agrees checks that the index leads back to a row by its content, so that no changed bit turns it
// into another name.
func (c *Reader) agrees(ctx context.Context, what string, id int64, query string, args ...any) error {
	var back int64
	err := c.tx.QueryRowContext(ctx, query, args...).Scan(&back)
	if errors.Is(err, sql.ErrNoRows) || err == nil && back != id {
		return records.Damaged(fmt.Errorf("%s %d is not what its index says", what, id))
	}
	return err
}

// Missing reports sql.ErrNoRows as damage of the reference.
func Missing(err error, what string, id int64) error {
	if errors.Is(err, sql.ErrNoRows) {
		return records.Damaged(fmt.Errorf("there is no %s %d", what, id))
	}
	return err
}

// Holders returns the placeholders of n values in a statement.
func Holders(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// Anys returns the values for them.
func Anys[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
