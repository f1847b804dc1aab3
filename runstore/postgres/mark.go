package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// Mark implements runstore.Store: one transaction for all the runs.
func (s *Store) Mark(ctx context.Context, ids []string, m runstore.Mark) error {
	if err := m.Check(); err != nil {
		return err
	}
	err := s.write(ctx, func(tx pgx.Tx) error {
		runs, err := markableRuns(ctx, tx, ids, m)
		if err != nil {
			return err
		}
		m, err := s.dated(ctx, tx, m, runs)
		if err != nil {
			return err
		}
		starts := records.Starts{}
		for _, r := range runs {
			starts.Note(r.subject, r.started)
		}
		batch := &pgx.Batch{}
		for _, r := range runs {
			batch.Queue("INSERT INTO apkgate.marks (run, part, state, at, since, note, batch) VALUES ($1, $2, $3, $4, $5, $6, $7)",
				r.number, r.part, string(m.State), records.Stamp(m.At), starts.Since(m, r.subject), toText(m.Note), toText(m.Batch))
		}
		batch.Queue(`UPDATE apkgate.runs r SET state = m.state, since = m.since, reference = m.state IN ('accepted', 'rebaselined')
			FROM (SELECT DISTINCT ON (run) run, state, since FROM apkgate.marks WHERE run = ANY($1) ORDER BY run, at DESC, number DESC) m
			WHERE r.number = m.run`, numbers(runs))
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return s.wrap("mark in", err)
	}
	return nil
}

// markable is what Mark needs of a run.
type markable struct {
	number, subject int64
	id, started     string
	status, part    string
}

// dated returns the mark with its date, one for all the runs. Only a statement that begins after
// the runs are locked sees the marks of earlier lock owners.
func (s *Store) dated(ctx context.Context, tx pgx.Tx, m runstore.Mark, runs []markable) (runstore.Mark, error) {
	var latest string
	err := tx.QueryRow(ctx, "SELECT coalesce(max(at), '') FROM apkgate.marks WHERE run = ANY($1)", numbers(runs)).Scan(&latest)
	if err != nil {
		return m, err
	}
	return records.Dated(m, s.options.Now(), latest)
}

// markableRuns locks the runs of the ids, each once and in the order of their numbers; all of them
// can be marked so.
func markableRuns(ctx context.Context, tx pgx.Tx, ids []string, m runstore.Mark) ([]markable, error) {
	exact := make([]string, 0, len(ids))
	for _, id := range ids {
		if validText(id) {
			exact = append(exact, toText(id))
		}
	}
	known := map[string]int64{}
	rows, err := tx.Query(ctx, "SELECT number, id FROM apkgate.runs WHERE "+ours+" AND id = ANY($1)", exact)
	if err != nil {
		return nil, err
	}
	var number int64
	var id string
	if _, err := pgx.ForEachRow(rows, []any{&number, &id}, func() error { known[fromText(id)] = number; return nil }); err != nil {
		return nil, err
	}
	var list []int64
	for _, id := range ids {
		number, ok := known[id]
		if !ok {
			if number, err = resolve(ctx, tx, id); err != nil {
				return nil, fmt.Errorf("run %q: %w", id, err)
			}
		}
		list = append(list, number)
	}
	return lockRuns(ctx, tx, list, m)
}

func lockRuns(ctx context.Context, tx pgx.Tx, list []int64, m runstore.Mark) (runs []markable, err error) {
	rows, err := tx.Query(ctx, `SELECT number, subject, id, started, status, part
		FROM apkgate.runs WHERE number = ANY($1) ORDER BY number FOR UPDATE`, list)
	if err != nil {
		return nil, err
	}
	var r markable
	_, err = pgx.ForEachRow(rows, []any{&r.number, &r.subject, &r.id, &r.started, &r.status, &r.part}, func() error {
		runs = append(runs, r)
		return records.Markable(fromText(r.id), run.Status(r.status), m)
	})
	return runs, err
}

func numbers(runs []markable) []int64 {
	out := make([]int64, len(runs))
	for i, r := range runs {
		out[i] = r.number
	}
	return out
}

// Judge implements runstore.Store: one transaction for all the runs.
func (s *Store) Judge(ctx context.Context, said map[string]run.Judged) error {
	if err := runstore.CheckSaid(said); err != nil {
		return err
	}
	err := s.write(ctx, func(tx pgx.Tx) error {
		there, err := lockSaid(ctx, tx, slices.Collect(maps.Keys(said)))
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		for id, j := range said {
			before, ok := there[id]
			if !ok {
				return fmt.Errorf("run %q: %w", id, runstore.ErrNotFound)
			}
			if j, isNew := runstore.Said(s.options.Now(), before, j); isNew {
				batch.Queue("UPDATE apkgate.runs SET outcome = $2, judged = $3 WHERE "+ours+" AND id = $1", toText(id), j.Outcome, records.Stamp(j.At))
			}
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return s.wrap("keep outcomes in", err)
	}
	return nil
}

// lockSaid locks the runs of the ids in the order of their numbers, as Mark does, and returns the
// outcome of each that exists.
func lockSaid(ctx context.Context, tx pgx.Tx, ids []string) (map[string]*run.Judged, error) {
	var texts []string
	for _, id := range ids {
		if validText(id) {
			texts = append(texts, toText(id))
		}
	}
	rows, err := tx.Query(ctx, "SELECT id, outcome, judged FROM apkgate.runs WHERE "+ours+" AND id = ANY($1) ORDER BY number FOR UPDATE", texts)
	if err != nil {
		return nil, err
	}
	there := map[string]*run.Judged{}
	var id, outcome, at string
	_, err = pgx.ForEachRow(rows, []any{&id, &outcome, &at}, func() (err error) {
		there[fromText(id)], err = records.JudgedOf(outcome, at)
		return err
	})
	return there, err
}
