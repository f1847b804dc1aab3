package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/sqlite/summaries"
)

// markable is what Mark needs of a run.
type markable struct {
	number int64
	summaries.Place
	status run.Status
	state  runstore.State
	last   string // time of the latest mark, "" for none
}

// Mark implements runstore.Store: one transaction for all the runs.
func (s *Store) Mark(ctx context.Context, ids []string, m runstore.Mark) error {
	if err := m.Check(); err != nil {
		return err
	}
	err := s.write(ctx, func(tx *prepared.Tx) error {
		var runs []markable
		starts, latest := records.Starts{}, ""
		for _, id := range ids {
			r, err := findMarkable(ctx, tx, id)
			if err != nil {
				return fmt.Errorf("run %q: %w", id, err)
			}
			if err := records.Markable(r.ID, r.status, m); err != nil {
				return err
			}
			latest = max(latest, r.last)
			starts.Note(r.Subject, r.Started)
			if !slices.ContainsFunc(runs, func(o markable) bool { return o.number == r.number }) {
				runs = append(runs, r)
			}
		}
		m, err := records.Dated(m, s.now(), latest)
		if err != nil {
			return err
		}
		for _, r := range runs {
			if err := mark(ctx, tx, r, m, starts.Since(m, r.Subject)); err != nil {
				return fmt.Errorf("run %q: %w", r.ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return s.wrap("mark in", err)
	}
	return nil
}

func findMarkable(ctx context.Context, tx *prepared.Tx, id string) (markable, error) {
	number, err := resolve(ctx, tx, id)
	if err != nil {
		return markable{}, err
	}
	r := markable{number: number}
	err = tx.QueryRowContext(ctx, `SELECT id, subject, context, started, status, state,
			coalesce((SELECT max(at) FROM marks WHERE run = runs.number), '') FROM runs WHERE number = ?`, number).
		Scan(&r.ID, &r.Subject, &r.Context, &r.Started, &r.status, &r.state, &r.last)
	r.Reference = r.state.Reference()
	return r, err
}

// mark appends the mark to a run, with the start of the level that it begins, and brings up
// to date what repeats the mark that counts.
func mark(ctx context.Context, tx *prepared.Tx, r markable, m runstore.Mark, since string) error {
	if _, err := tx.ExecContext(ctx, "INSERT INTO marks (run, state, at, since, note, batch) VALUES (?, ?, ?, ?, ?, ?)",
		r.number, m.State, records.Stamp(m.At), since, m.Note, m.Batch); err != nil {
		return err
	}
	var state runstore.State
	err := tx.QueryRowContext(ctx, "SELECT state, since FROM marks WHERE run = ? ORDER BY at DESC, number DESC LIMIT 1", r.number).
		Scan(&state, &since)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE runs SET state = ?, since = ? WHERE number = ?", state, since, r.number); err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, `UPDATE summaries SET reference = ?
		WHERE subject = ? AND reference = ? AND context = ? AND started = ? AND id = ?`,
		state.Reference(), r.Subject, r.Reference, r.Context, r.Started, r.ID)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(records.Damaged(fmt.Errorf("it has %d summaries, want 1", n)), err)
	}
	return nil
}

// newestMark is the mark of a run that counts, the zero Mark where it has none.
func newestMark(ctx context.Context, tx *prepared.Tx, number int64) (runstore.Mark, error) {
	var m runstore.Mark
	var at, since string
	err := tx.QueryRowContext(ctx, "SELECT state, at, since, note, batch FROM marks WHERE run = ? ORDER BY at DESC, number DESC LIMIT 1", number).
		Scan(&m.State, &at, &since, &m.Note, &m.Batch)
	if errors.Is(err, sql.ErrNoRows) {
		return runstore.Mark{}, nil
	}
	if err != nil {
		return m, err
	}
	m.At, m.Since, err = records.Times(at, since)
	return m, err
}

// Judge implements runstore.Store: one transaction for all the runs.
func (s *Store) Judge(ctx context.Context, said map[string]run.Judged) error {
	if err := runstore.CheckSaid(said); err != nil {
		return err
	}
	err := s.write(ctx, func(tx *prepared.Tx) error {
		for id, j := range said {
			if err := s.judge(ctx, tx, id, j); err != nil {
				return fmt.Errorf("run %q: %w", id, err)
			}
		}
		return nil
	})
	if err != nil {
		return s.wrap("keep outcomes in", err)
	}
	return nil
}

func (s *Store) judge(ctx context.Context, tx *prepared.Tx, id string, j run.Judged) error {
	var number int64
	var outcome, at string
	err := tx.QueryRowContext(ctx, "SELECT number, outcome, judged FROM runs WHERE id = ?", id).Scan(&number, &outcome, &at)
	if errors.Is(err, sql.ErrNoRows) {
		err = runstore.ErrNotFound
	}
	if err != nil {
		return err
	}
	before, err := records.JudgedOf(outcome, at)
	if err != nil {
		return err
	}
	j, isNew := runstore.Said(s.now(), before, j)
	if !isNew {
		return nil
	}
	_, err = tx.ExecContext(ctx, "UPDATE runs SET outcome = ?, judged = ? WHERE number = ?", j.Outcome, records.Stamp(j.At), number)
	return err
}

// addSaid sets the outcome of the run of that number, where the file has outcomes.
func (s *Store) addSaid(ctx context.Context, tx *prepared.Tx, number int64, r *run.Run) error {
	if s.mute {
		return nil
	}
	var outcome, at string
	err := tx.QueryRowContext(ctx, "SELECT outcome, judged FROM runs WHERE number = ?", number).Scan(&outcome, &at)
	if err == nil {
		r.Judged, err = records.JudgedOf(outcome, at)
	}
	return err
}
