package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// Get implements runstore.Store.
func (s *Store) Get(ctx context.Context, id string) (runstore.Entry, error) {
	var e runstore.Entry
	err := s.read(ctx, func(tx *prepared.Tx) error {
		number, err := resolve(ctx, tx, id)
		if err != nil {
			return err
		}
		if e, err = getEntry(ctx, tx, number); err == nil {
			err = s.addSaid(ctx, tx, number, &e.Run)
		}
		return err
	})
	if err != nil {
		return runstore.Entry{}, s.wrap(fmt.Sprintf("get run %q from", id), err)
	}
	return e, nil
}

func getEntry(ctx context.Context, tx *prepared.Tx, number int64) (runstore.Entry, error) {
	var id, added string
	var digest, packed []byte
	var retired bool
	err := tx.QueryRowContext(ctx, "SELECT id, digest, added, data, started < "+levelOf+" FROM runs r JOIN records ON run = number WHERE number = ?", number).
		Scan(&id, &digest, &added, &packed, &retired)
	if errors.Is(err, sql.ErrNoRows) {
		return runstore.Entry{}, records.Damaged(errors.New("its record is missing"))
	}
	if err != nil {
		return runstore.Entry{}, err
	}
	e, err := records.EntryOf(id, digest, packed)
	if err != nil {
		return runstore.Entry{}, err
	}
	e.Retired = retired
	if e.AddedAt, err = records.ParseStamp(added); err != nil {
		return runstore.Entry{}, err
	}
	e.Mark, err = newestMark(ctx, tx, number)
	return e, err
}

// resolve returns the number of the run of that id, or of the only run whose id or digest begins
// so.
func resolve(ctx context.Context, tx *prepared.Tx, id string) (int64, error) {
	var number int64
	err := tx.QueryRowContext(ctx, "SELECT number FROM runs WHERE id = ?", id).Scan(&number)
	if !errors.Is(err, sql.ErrNoRows) {
		return number, err
	}
	if len(id) < runstore.MinPrefix {
		return 0, runstore.ErrNotFound
	}
	var names []string
	low, high := records.DigestRange(id)
	rows, err := tx.QueryContext(ctx, `SELECT number, id FROM runs WHERE id >= ? AND id < ?
		UNION SELECT number, id FROM runs WHERE digest BETWEEN ? AND ? LIMIT 5`, id, id+"\U0010ffff", low, high)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&number, &name); err != nil {
			return 0, err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	return number, records.One(names)
}
