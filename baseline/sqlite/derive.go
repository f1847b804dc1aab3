package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/baseline/sqlite/names"
	"github.com/apkgate/apkgate/baseline/sqlite/prepared"
	"github.com/apkgate/apkgate/baseline/sqlite/summaries"
	"github.com/apkgate/apkgate/run"
)

// deriveAll makes every summary anew from the records, what stands beside them of
// ANRs, and the records themselves where they are made otherwise today. A run whose record is damaged is left without
// a summary, which Verify tells.
func deriveAll(ctx context.Context, tx *prepared.Tx) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM summaries"); err != nil {
		return err
	}
	in := names.NewWriter(tx)
	for number := int64(-1); ; {
		var err error
		number, err = nextNumber(ctx, tx, number)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := deriveOne(ctx, in, number); err != nil && !errors.Is(err, baseline.ErrDamaged) {
			return err
		}
	}
}

// nextNumber is the number of the run after that of the given number, or
// sql.ErrNoRows.
func nextNumber(ctx context.Context, tx *prepared.Tx, after int64) (number int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT number FROM runs WHERE number > ? ORDER BY number LIMIT 1", after).Scan(&number)
	return number, err
}

func deriveOne(ctx context.Context, in *names.Writer, number int64) error {
	e, err := getEntry(ctx, in.Tx, number)
	if err != nil {
		return err
	}
	if err := renew(ctx, in.Tx, number, e.Run); err != nil {
		return err
	}
	p := summaries.Place{Started: records.Stamp(e.Run.Started), ID: e.Run.ID, Reference: e.Mark.State.Reference()}
	err = in.Tx.QueryRowContext(ctx, "SELECT subject, context FROM runs WHERE number = ?", number).Scan(&p.Subject, &p.Context)
	if err != nil {
		return err
	}
	if err := putANRs(ctx, in.Tx, number, p, e.Run); err != nil {
		return err
	}
	return summaries.Add(ctx, in, p, e.Run)
}

func putANRs(ctx context.Context, tx *prepared.Tx, number int64, p summaries.Place, r run.Run) error {
	anrs, err := summaries.SealANRs(p, r)
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE runs SET anrs = ? WHERE number = ?", anrs, number)
	}
	return err
}

// deriveANRs puts the ANRs of each run beside its record. A record that is damaged, or
// has none, is not read.
func deriveANRs(ctx context.Context, tx *prepared.Tx) error {
	var packed []byte
	for number := int64(-1); ; {
		err := tx.QueryRowContext(ctx, "SELECT run, data FROM records WHERE run > ? ORDER BY run LIMIT 1", number).Scan(&number, &packed)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if !records.MayHaveANRs(packed) {
			continue
		}
		e, err := getEntry(ctx, tx, number)
		if errors.Is(err, baseline.ErrDamaged) {
			continue
		}
		if err != nil {
			return err
		}
		p := summaries.Place{Started: records.Stamp(e.Run.Started), ID: e.Run.ID}
		if err := tx.QueryRowContext(ctx, "SELECT subject, context FROM runs WHERE number = ?", number).Scan(&p.Subject, &p.Context); err != nil {
			return err
		}
		if err := putANRs(ctx, tx, number, p, e.Run); err != nil {
			return err
		}
	}
}

// renew brings the run's record up to date: see records.Renewed.
func renew(ctx context.Context, tx *prepared.Tx, number int64, r run.Run) error {
	rec, differs, err := records.Renewed(r)
	if err != nil || !differs {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE runs SET digest = ? WHERE number = ?", rec.Digest, number); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE records SET data = ? WHERE run = ?", rec.Packed, number)
	return err
}

// derived sums up the record of the run of that id.
func derived(ctx context.Context, tx *prepared.Tx, id string, centre run.Centre) (commit string, _ run.Cells, _ error) {
	var number int64
	if err := tx.QueryRowContext(ctx, "SELECT number FROM runs WHERE id = ?", id).Scan(&number); err != nil {
		return "", run.Cells{}, err
	}
	e, err := getEntry(ctx, tx, number)
	if err != nil {
		return "", run.Cells{}, fmt.Errorf("run %q: %w", id, err)
	}
	s := baseline.Summarize(e.Run, centre)
	return s.Commit, s.Cells, nil
}
