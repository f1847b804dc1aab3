package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/run"
)

// contexts reads contexts and cells by their ids, each once.
type contexts struct {
	tx    *transaction
	byID  map[int64]map[string]string
	props map[int64][2]string
	cells map[int64]run.Cell
}

func newContexts(tx *transaction) *contexts {
	return &contexts{tx: tx, byID: map[int64]map[string]string{}, props: map[int64][2]string{}, cells: map[int64]run.Cell{}}
}

// properties are those of the context of that id. Callers share the map.
func (c *contexts) properties(ctx context.Context, id int64) (map[string]string, error) {
	if m, ok := c.byID[id]; ok {
		return m, nil
	}
	var blob []byte
	if err := c.tx.QueryRowContext(ctx, "SELECT properties FROM contexts WHERE id = ?", id).Scan(&blob); err != nil {
		return nil, missing(err, "context", id)
	}
	ids, err := decodeIDs(nil, blob)
	if err != nil {
		return nil, err
	}
	m := make(map[string]string, len(ids))
	for _, p := range ids {
		pair, ok := c.props[p]
		if !ok {
			err := c.tx.QueryRowContext(ctx, "SELECT name, value FROM properties WHERE id = ?", p).Scan(&pair[0], &pair[1])
			if err != nil {
				return nil, missing(err, "property", p)
			}
			c.props[p] = pair
		}
		m[pair[0]] = pair[1]
	}
	c.byID[id] = m
	return m, nil
}

// cell is the cell of that id.
func (c *contexts) cell(ctx context.Context, id int64) (run.Cell, error) {
	if cell, ok := c.cells[id]; ok {
		return cell, nil
	}
	var cell run.Cell
	err := c.tx.QueryRowContext(ctx, "SELECT event, metric FROM cells WHERE id = ?", id).Scan(&cell.Event, &cell.Metric)
	if err != nil {
		return cell, missing(err, "cell", id)
	}
	c.cells[id] = cell
	return cell, nil
}

func missing(err error, what string, id int64) error {
	if errors.Is(err, sql.ErrNoRows) {
		return records.Damaged(fmt.Errorf("there is no %s %d", what, id))
	}
	return err
}
