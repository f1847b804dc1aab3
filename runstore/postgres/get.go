package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// Get implements runstore.Store.
func (s *Store) Get(ctx context.Context, id string) (runstore.Entry, error) {
	var e runstore.Entry
	err := s.read(ctx, func(tx pgx.Tx) error {
		number, err := resolve(ctx, tx, id)
		if err != nil {
			return err
		}
		e, err = getEntry(ctx, tx, number)
		return err
	})
	if err != nil {
		return runstore.Entry{}, s.wrap(fmt.Sprintf("get run %q from", id), err)
	}
	return e, nil
}

// newestMark is the mark of a run that counts, as columns that are null where it
// has none.
const newestMark = `LEFT JOIN LATERAL (SELECT m.state, m.at, m.since, m.note, m.batch FROM apkgate.marks m
	WHERE m.run = r.number AND m.part = r.part ORDER BY m.at DESC, m.number DESC LIMIT 1) m ON true`

// markColumns are the columns of newestMark.
type markColumns struct{ state, at, since, note, batch *string }

func (c markColumns) mark() (m runstore.Mark, err error) {
	if c.state == nil {
		return m, nil
	}
	m.State, m.Note, m.Batch = runstore.State(*c.state), fromText(*c.note), fromText(*c.batch)
	m.At, m.Since, err = records.Times(*c.at, *c.since)
	return m, err
}

// found is a complete run, or why it could not be read. It is large where its record was left out
// because of its size, or is missing.
type found struct {
	id    string
	entry runstore.Entry
	err   error // of damage
	large bool
}

// getEntry reads the run of that number.
func getEntry(ctx context.Context, tx pgx.Tx, number int64) (runstore.Entry, error) {
	list, err := getEntries(ctx, tx, math.MaxInt32, "r.number = $2", number)
	switch {
	case err != nil:
		return runstore.Entry{}, err
	case len(list) == 0:
		return runstore.Entry{}, pgx.ErrNoRows
	case list[0].large:
		return runstore.Entry{}, records.Damaged(errors.New("its record is missing"))
	}
	return list[0].entry, list[0].err
}

// getEntries reads the runs r that match the condition, with records of at most so many bytes.
func getEntries(ctx context.Context, tx pgx.Tx, largest int, where string, args ...any) ([]found, error) {
	rows, err := tx.Query(ctx, `SELECT r.id, r.digest, r.added,
			(SELECT data FROM apkgate.records d WHERE d.run = r.number AND d.part = r.part AND octet_length(d.data) <= $1),
			r.outcome, r.judged, m.state, m.at, m.since, m.note, m.batch, r.started < `+levelOf+`
		FROM apkgate.runs r `+newestMark+" WHERE "+where, append([]any{largest}, args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (f found, err error) {
		var added, outcome, judged string
		var digest, packed []byte
		var c markColumns
		var retired bool
		if err := row.Scan(&f.id, &digest, &added, &packed, &outcome, &judged, &c.state, &c.at, &c.since, &c.note, &c.batch, &retired); err != nil {
			return f, err
		}
		f.id, f.large = fromText(f.id), packed == nil
		if f.large {
			return f, nil
		}
		f.entry, f.err = records.EntryOf(f.id, digest, packed)
		f.entry.Retired = retired
		if f.err == nil {
			f.entry.Mark, f.err = c.mark()
		}
		if f.err == nil {
			f.entry.Run.Judged, f.err = records.JudgedOf(outcome, judged)
		}
		if f.err == nil {
			f.entry.AddedAt, f.err = records.ParseStamp(added)
		}
		return f, nil
	})
}

// resolve returns the number of the run of that id, or of that one run whose id
// or digest begins so.
func resolve(ctx context.Context, tx pgx.Tx, id string) (int64, error) {
	var number int64
	if !validText(id) {
		return 0, runstore.ErrNotFound
	}
	err := tx.QueryRow(ctx, "SELECT number FROM apkgate.runs WHERE "+ours+" AND id = $1", toText(id)).Scan(&number)
	if !errors.Is(err, pgx.ErrNoRows) {
		return number, err
	}
	if len(id) < runstore.MinPrefix || strings.IndexByte(id, 0) >= 0 {
		return 0, runstore.ErrNotFound
	}
	low, high := records.DigestRange(id)
	rows, err := tx.Query(ctx, `SELECT number, id FROM apkgate.runs WHERE `+ours+` AND id >= $1 AND id < $2
		UNION SELECT number, id FROM apkgate.runs WHERE `+ours+` AND digest BETWEEN $3 AND $4 LIMIT 5`, id, id+"\U0010ffff", low, high)
	if err != nil {
		return 0, err
	}
	var names []string
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&number, &name}, func() error {
		names = append(names, fromText(name))
		return nil
	}); err != nil {
		return 0, err
	}
	return number, records.One(names)
}
