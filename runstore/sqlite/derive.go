package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/sqlite/summaries"
)

// deriveAll derives every summary again from the records, the separately stored ANRs, and the
// records themselves where they are encoded differently today. A run whose record is damaged has no
// summary, which Verify reports. Records are decoded and summarized on all processors, while
// earlier results are written.
func deriveAll(ctx context.Context, tx *prepared.Tx) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM summaries"); err != nil {
		return err
	}
	in := interning.NewWriter(tx)
	var summed []*derivedRun
	for last, more := int64(-1), true; more; {
		var batch []*derivedRun
		var err error
		if batch, more, err = nextBatch(ctx, tx, last); err != nil {
			return err
		}
		if len(batch) > 0 {
			last = batch[len(batch)-1].number
		}
		var working sync.WaitGroup
		working.Go(func() { sumUp(batch) })
		err = putDerived(ctx, in, summed)
		working.Wait()
		if err != nil {
			return err
		}
		summed = batch
	}
	return putDerived(ctx, in, summed)
}

// derivedRun is a run with everything derived from its record.
type derivedRun struct {
	number         int64
	place          summaries.Place
	digest, packed []byte
	hasANRs        bool // some are already stored separately

	run          run.Run
	median, mean run.Cells
	anrs         []byte
	renewed      *records.Record // where it is encoded differently today
	err          error
}

// How many runs are summarized together, and how large their records are at most.
const (
	derivedTogether = 256
	derivedBytes    = 4 << 20
)

// nextBatch reads the runs after the given one, and whether there may be more.
func nextBatch(ctx context.Context, tx *prepared.Tx, last int64) (batch []*derivedRun, more bool, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT number, id, digest, subject, context, anrs IS NOT NULL, data
		FROM runs LEFT JOIN records ON run = number WHERE number > ? ORDER BY number LIMIT ?`, last, derivedTogether)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for size := 0; size < derivedBytes && rows.Next(); {
		d := &derivedRun{}
		if err := rows.Scan(&d.number, &d.place.ID, &d.digest, &d.place.Subject, &d.place.Context, &d.hasANRs, &d.packed); err != nil {
			return nil, false, err
		}
		size += len(d.packed)
		batch = append(batch, d)
	}
	return batch, len(batch) > 0, rows.Err()
}

// sumUp derives from each record what is stored separately.
func sumUp(batch []*derivedRun) {
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(batch)) {
		working.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(batch); i = next.Add(1) - 1 {
				batch[i].err = batch[i].sumUp()
			}
		})
	}
	working.Wait()
}

func (d *derivedRun) sumUp() (err error) {
	if d.run, err = records.Open(d.place.ID, d.digest, d.packed); err != nil {
		return records.Damaged(err)
	}
	d.place.Started = records.Stamp(d.run.Started)
	d.median, d.mean = runstore.Cells(d.run)
	rec, differs, err := records.Renewed(d.run)
	if differs {
		d.renewed = &rec
	}
	if err == nil {
		d.anrs, err = summaries.SealANRs(d.place, d.run)
	}
	return err
}

// putDerived stores the derived data.
func putDerived(ctx context.Context, in *interning.Writer, batch []*derivedRun) error {
	for _, d := range batch {
		err := d.err
		if err == nil {
			err = d.put(ctx, in)
		}
		if err != nil && !errors.Is(err, runstore.ErrDamaged) {
			return err
		}
	}
	return nil
}

func (d *derivedRun) put(ctx context.Context, in *interning.Writer) error {
	m, err := newestMark(ctx, in.Tx, d.number)
	if err != nil {
		return err
	}
	d.place.Reference = m.State.Reference()
	if err := renew(ctx, in.Tx, d.number, d.renewed); err != nil {
		return err
	}
	if d.hasANRs || d.anrs != nil {
		if _, err := in.Tx.ExecContext(ctx, "UPDATE runs SET anrs = ? WHERE number = ?", d.anrs, d.number); err != nil {
			return err
		}
	}
	packed, err := summaries.Pack(ctx, in, d.median, d.mean)
	if err != nil {
		return err
	}
	_, err = in.Tx.ExecContext(ctx, summaries.Insert, summaries.Row(packed, d.place, d.run)...)
	return err
}

func putANRs(ctx context.Context, tx *prepared.Tx, number int64, p summaries.Place, r run.Run) error {
	anrs, err := summaries.SealANRs(p, r)
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE runs SET anrs = ? WHERE number = ?", anrs, number)
	}
	return err
}

// deriveANRs stores the ANRs of each run separately. A record that is damaged or missing is not
// read.
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
		if errors.Is(err, runstore.ErrDamaged) {
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

// renew updates the run's record, where it is encoded differently today: see records.Renewed.
func renew(ctx context.Context, tx *prepared.Tx, number int64, rec *records.Record) error {
	if rec == nil {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "UPDATE runs SET digest = ? WHERE number = ?", rec.Digest, number); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE records SET data = ? WHERE run = ?", rec.Packed, number)
	return err
}

// derived summarizes the record of the run of that id.
func derived(ctx context.Context, tx *prepared.Tx, id string, centre run.Centre) (commit string, _ run.Cells, _ error) {
	var number int64
	if err := tx.QueryRowContext(ctx, "SELECT number FROM runs WHERE id = ?", id).Scan(&number); err != nil {
		return "", run.Cells{}, err
	}
	e, err := getEntry(ctx, tx, number)
	if err != nil {
		return "", run.Cells{}, fmt.Errorf("run %q: %w", id, err)
	}
	s := runstore.Summarize(e.Run, centre)
	return s.Commit, s.Cells, nil
}
