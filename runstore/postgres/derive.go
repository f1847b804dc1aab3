package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// derivation is the version of the rules by which summaries, and other derived data, are made.
// Raise it when they change. Each run has the version that it follows: a run with another version
// is read from the record, and one with an older version is derived again over time (see
// Store.Renew), so that apkgates of several versions share a history.
const derivation = 4

// What each version introduced: since utcRecords a record has its times in UTC, and since withANRs
// ANRs are stored separately.
const (
	utcRecords = 2
	withANRs   = 4
)

// renewing is how long opening a history for writing spends on summaries of older rules, so that no
// command waits for all of them; batch is how many are made in one transaction.
const (
	renewing = 2 * time.Second
	batch    = 100
)

// Renew derives summaries of older rules again, in small transactions, for that long (0: to the
// end), and returns how many runs it has updated and whether any are left. It is safe for
// concurrent use.
func (s *Store) Renew(ctx context.Context, limit time.Duration) (renewed int, left bool, err error) {
	for began := time.Now(); ; {
		n := 0
		err := s.write(ctx, func(tx pgx.Tx) (err error) {
			n, err = renewBatch(ctx, tx)
			return err
		})
		if err != nil {
			return renewed, true, s.wrap("derive summaries again in", err)
		}
		renewed += n
		switch {
		case n < batch:
			return renewed, false, nil
		case limit > 0 && time.Since(began) > limit:
			return renewed, true, nil
		}
	}
}

// renewABit is Renew for a history that was just opened. Its failure does not prevent using the
// history: runs that are not renewed are read from the records.
func (s *Store) renewABit(ctx context.Context) {
	n, left, err := s.Renew(ctx, renewing)
	if told := s.options.Waiting; told != nil && n > 0 && left && err == nil {
		told(fmt.Sprintf("derived the summaries of %d runs again; the others follow", n), errOlderRules)
	}
}

var errOlderRules = errors.New("they follow the rules of an older apkgate")

// withRecord selects a run with its record, for renewals and for readers of other rules.
const withRecord = `SELECT r.number, r.id, r.digest, d.data FROM apkgate.runs r
	JOIN apkgate.records d ON d.run = r.number AND d.part = r.part`

// stored is a run from its record; damaged, where that can't be read.
type stored struct {
	number  int64
	run     run.Run
	damaged error
}

// readStored reads complete runs. Those without a record are left out.
func readStored(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]stored, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r stored, err error) {
		var id string
		var digest, packed []byte
		if err := row.Scan(&r.number, &id, &digest, &packed); err != nil {
			return r, err
		}
		if r.run, err = records.Open(fromText(id), digest, packed); err != nil {
			r.damaged = records.Damaged(fmt.Errorf("run %q: %w", fromText(id), err))
		}
		return r, nil
	})
}

// renewBatch recomputes the summaries of some runs that no other session has locked. A damaged run
// keeps its old summaries, which Verify reports.
func renewBatch(ctx context.Context, tx pgx.Tx) (int, error) {
	rows, err := tx.Query(ctx, `SELECT number FROM apkgate.runs WHERE `+ours+` AND derived < $1
		ORDER BY derived LIMIT $2 FOR UPDATE SKIP LOCKED`, derivation, batch)
	if err != nil {
		return 0, err
	}
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	runs, err := readStored(ctx, tx, withRecord+" WHERE r.number = ANY($1)", numbers)
	if err != nil {
		return 0, err
	}
	sums, common := map[int64]summaries{}, map[key]shared{}
	for _, r := range runs {
		if r.damaged == nil {
			sums[r.number] = summarize(r.run)
			sharedCells(common, sums[r.number])
		}
	}
	ids := map[key]int64{}
	if err := internTable(ctx, tx, "cells", slices.SortedFunc(maps.Values(common), byKey), ids); err != nil {
		return 0, err
	}
	queue := &pgx.Batch{}
	for _, r := range runs {
		if r.damaged != nil {
			continue
		}
		row := sums[r.number].pack(ids)
		anrs, err := records.PackANRs(r.run.ANRs)
		if err != nil {
			return 0, fmt.Errorf("run number %d: %w", r.number, err)
		}
		queue.Queue("UPDATE apkgate.runs SET median = $2, mean = $3, repeated = $4, anrs = $5 WHERE number = $1",
			r.number, row.Median, row.Mean, row.Repeated, anrs)
		rec, differs, err := records.Renewed(r.run)
		if err != nil {
			return 0, fmt.Errorf("run number %d: %w", r.number, err)
		}
		if differs {
			queue.Queue("UPDATE apkgate.runs SET digest = $2 WHERE number = $1", r.number, rec.Digest)
			queue.Queue("UPDATE apkgate.records SET data = $2 WHERE run = $1", r.number, rec.Packed)
		}
	}
	queue.Queue("UPDATE apkgate.runs SET derived = $2 WHERE number = ANY($1)", numbers, derivation)
	return len(numbers), tx.SendBatch(ctx, queue).Close()
}

// isSame reports whether the stored run of that number is the same under today's digest: see
// records.Renewed.
func isSame(ctx context.Context, tx pgx.Tx, number int64, digest []byte) (bool, error) {
	found, err := readStored(ctx, tx, withRecord+" WHERE r.number = $1", number)
	if err != nil || len(found) == 0 || found[0].damaged != nil {
		return false, err
	}
	rec, differs, err := records.Renewed(found[0].run)
	return err == nil && differs && bytes.Equal(rec.Digest, digest), nil
}

// anew returns the cells of runs whose summaries follow other rules, derived from their records.
func (sc *scanner) anew(ctx context.Context, numbers []int64) (map[int64]run.Cells, error) {
	out := map[int64]run.Cells{}
	for some := range slices.Chunk(numbers, batch) {
		runs, err := readStored(ctx, sc.tx, withRecord+" WHERE r.number = ANY($1)", some)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if r.damaged != nil {
				return nil, r.damaged
			}
			out[r.number] = sc.cells.Layouts.Share(runstore.Summarize(r.run, sc.query.Centre).Cells)
		}
		if len(runs) < len(some) {
			return nil, records.Damaged(errors.New("the record of a run is missing"))
		}
	}
	return out, nil
}

// anrsAnew returns the runs of the subjects whose ANRs were derived by older rules, with the ANRs
// of their records.
func anrsAnew(ctx context.Context, tx pgx.Tx, subjects []int64) ([]runstore.ANRRun, error) {
	var some bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM apkgate.runs WHERE `+ours+` AND derived < $1)
		OR EXISTS (SELECT FROM apkgate.runs WHERE `+ours+` AND derived > $2)`, withANRs, derivation).Scan(&some); err != nil || !some {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT r.number, r.state FROM unnest($1::bigint[]) AS of(subject) CROSS JOIN LATERAL (
		SELECT number, state, derived FROM apkgate.runs WHERE subject = of.subject OFFSET 0) r
		WHERE r.derived < $2 OR r.derived > $3`, subjects, withANRs, derivation)
	if err != nil {
		return nil, err
	}
	states := map[int64]runstore.State{}
	var number int64
	var state string
	if _, err := pgx.ForEachRow(rows, []any{&number, &state}, func() error { states[number] = runstore.State(state); return nil }); err != nil {
		return nil, err
	}
	var out []runstore.ANRRun
	for numbers := range slices.Chunk(slices.Sorted(maps.Keys(states)), batch) {
		runs, err := readStored(ctx, tx, withRecord+" WHERE r.number = ANY($1)", numbers)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if r.damaged != nil {
				return nil, r.damaged
			}
			if len(r.run.ANRs) > 0 {
				out = append(out, runstore.ANRsOf(runstore.Entry{Run: r.run, Mark: runstore.Mark{State: states[r.number]}}))
			}
		}
	}
	return out, nil
}
