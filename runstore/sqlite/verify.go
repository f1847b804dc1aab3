package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/sqlite/summaries"
)

// Verify implements runstore.Store. It checks the file as SQLite sees it, then for each run that
// the record matches its digest and that everything derived from the record agrees with it.
func (s *Store) Verify(ctx context.Context) ([]runstore.Damage, error) {
	var found []runstore.Damage
	whole := make(chan error, 1)
	go func() { // in parallel with the runs, as it keeps one processor busy for long
		whole <- s.checkWhole(ctx, &found)
	}()
	d, err := s.checkRuns(ctx)
	if err = errors.Join(<-whole, err); err != nil {
		return nil, s.wrap("verify", err)
	}
	return append(found, d...), nil
}

// checkWhole checks everything that belongs to no single run.
func (s *Store) checkWhole(ctx context.Context, found *[]runstore.Damage) error {
	for _, check := range []func(context.Context, *prepared.Tx) ([]runstore.Damage, error){
		checkFileStructure, checkForeignKeys, checkOrphans, checkContexts,
	} {
		err := s.read(ctx, func(tx *prepared.Tx) error {
			d, err := check(ctx, tx)
			*found = append(*found, d...)
			return err
		})
		if err = noteDamage(found, "", err); err != nil {
			return err
		}
	}
	return nil
}

// noteDamage adds err to the damage found, and returns it where it is not due to the file's
// content. The queries are constants: any other failure, such as a missing column or an invalid
// number, is damage.
func noteDamage(found *[]runstore.Damage, id string, err error) error {
	err = explain(err)
	for _, other := range []error{
		context.Canceled, context.DeadlineExceeded, sql.ErrConnDone,
		runstore.ErrBusy, runstore.ErrReadOnly, runstore.ErrFull,
	} {
		if errors.Is(err, other) {
			return err
		}
	}
	if err != nil {
		*found = append(*found, runstore.Damage{ID: id, Problem: err.Error()})
	}
	return nil
}

// checkFileStructure lets SQLite check its pages and indexes. It stops at the hundredth error.
func checkFileStructure(ctx context.Context, tx *prepared.Tx) ([]runstore.Damage, error) {
	return listDamage(ctx, tx, "SELECT '', integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'")
}

func checkForeignKeys(ctx context.Context, tx *prepared.Tx) ([]runstore.Damage, error) {
	return listDamage(ctx, tx, `SELECT '', 'a row of ' || "table" || ' points to none of ' || parent FROM pragma_foreign_key_check`)
}

// checkOrphans finds summaries without a run.
func checkOrphans(ctx context.Context, tx *prepared.Tx) ([]runstore.Damage, error) {
	return listDamage(ctx, tx, `SELECT id, 'it has a summary, but is not there' FROM summaries
		WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = summaries.id)`)
}

func listDamage(ctx context.Context, tx *prepared.Tx, query string) (found []runstore.Damage, err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d runstore.Damage
		if err := rows.Scan(&d.ID, &d.Problem); err != nil {
			return found, err
		}
		found = append(found, d)
	}
	return found, rows.Err()
}

// checkContexts checks that the index from properties to contexts has every property of every
// context and no other.
func checkContexts(ctx context.Context, tx *prepared.Tx) (found []runstore.Damage, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, properties FROM contexts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	total := 0
	for rows.Next() {
		var id int64
		var blob []byte
		if err := rows.Scan(&id, &blob); err != nil {
			return found, err
		}
		ids, err := interning.DecodeIDs(nil, blob)
		if err != nil {
			return found, fmt.Errorf("context %d: %w", id, err)
		}
		total += len(ids)
		for _, p := range ids {
			var one int
			err := tx.QueryRowContext(ctx, "SELECT 1 FROM context_properties WHERE property = ? AND context = ?", p, id).Scan(&one)
			if err != nil {
				return found, interning.Missing(err, fmt.Sprintf("index entry of context %d for property", id), p)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return found, err
	}
	var indexed int
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM context_properties").Scan(&indexed)
	if err == nil && indexed != total {
		err = records.Damaged(fmt.Errorf("%d properties of contexts are indexed, want %d", indexed, total))
	}
	return found, err
}

// checkRuns checks every run, several pages of them at a time. Each page is a transaction of its
// own, so that a long check does not keep the log from being checkpointed.
func (s *Store) checkRuns(ctx context.Context) ([]runstore.Damage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	damage := map[int][]runstore.Damage{} // by page
	pages := make(chan verifyPage)
	var checkers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), connections-2) {
		checkers.Go(func() {
			for p := range pages {
				found, err := s.checkPage(ctx, p)
				if err != nil {
					cancel(err)
				}
				mu.Lock()
				damage[p.place] = found
				mu.Unlock()
			}
		})
	}
	unreachable, err := s.eachPage(ctx, pages)
	close(pages)
	checkers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	var found []runstore.Damage
	for _, place := range slices.Sorted(maps.Keys(damage)) {
		found = append(found, damage[place]...)
	}
	return append(found, unreachable...), err
}

// verifyPage are runs that are checked together.
type verifyPage struct {
	place int
	runs  []verifyRun
}

type verifyRun struct {
	number int64
	id     string
}

// eachPage sends all runs. An error that stops it is damage.
func (s *Store) eachPage(ctx context.Context, pages chan<- verifyPage) (found []runstore.Damage, err error) {
	last := int64(math.MinInt64)
	for place := 0; ; place++ {
		p := verifyPage{place: place}
		err := s.read(ctx, func(tx *prepared.Tx) (err error) {
			p.runs, err = runsAfter(ctx, tx, last)
			return err
		})
		if len(p.runs) > 0 {
			select {
			case pages <- p:
			case <-ctx.Done():
				return found, nil // its cause has been reported
			}
			last = p.runs[len(p.runs)-1].number
		}
		if err != nil || len(p.runs) < page {
			err = noteDamage(&found, "", err)
			return found, err
		}
	}
}

func runsAfter(ctx context.Context, tx *prepared.Tx, last int64) (runs []verifyRun, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT number, id FROM runs NOT INDEXED WHERE number > ? ORDER BY number LIMIT ?", last, page)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r verifyRun
		if err := rows.Scan(&r.number, &r.id); err != nil {
			return runs, err
		}
		runs = append(runs, r)
	}
	return runs, rows.Err()
}

// checkPage checks the runs of a page.
func (s *Store) checkPage(ctx context.Context, p verifyPage) (found []runstore.Damage, err error) {
	err = s.read(ctx, func(tx *prepared.Tx) error {
		c := runChecker{tx: tx, names: interning.NewReader(tx), stale: s.stale, bare: s.bare, said: s.addSaid}
		for _, r := range p.runs {
			if err := noteDamage(&found, r.id, c.check(ctx, r.number)); err != nil {
				return err
			}
		}
		return nil
	})
	err = noteDamage(&found, "", err) // a damaged file may not even open again
	return found, err
}

// runChecker checks runs in one transaction.
type runChecker struct {
	tx    *prepared.Tx
	names *interning.Reader
	stale bool // summaries follow older rules, so that they can't be compared
	bare  bool // there are no separate ANRs
	said  func(ctx context.Context, tx *prepared.Tx, number int64, r *run.Run) error
}

func (c runChecker) check(ctx context.Context, number int64) error {
	e, err := getEntry(ctx, c.tx, number)
	if err != nil {
		return err
	}
	listed, err := selectEntries(ctx, c.tx, c.names, "WHERE number = ?", number)
	if err != nil {
		return err
	}
	if len(listed) != 1 {
		return records.Damaged(errors.New("its app and scenario are missing"))
	}
	if what := records.Differs(e, listed[0]); what != "" {
		return records.Damaged(fmt.Errorf("its %s is listed otherwise than its record says", what))
	}
	if err := c.said(ctx, c.tx, number, &e.Run); err != nil {
		return err
	}
	return c.checkSummary(ctx, number, e)
}

// checkSummary checks that the run's mark and summaries are where References looks for them, and
// match the record.
func (c runChecker) checkSummary(ctx context.Context, number int64, e runstore.Entry) error {
	var state runstore.State
	var since, session, commit string
	var median, mean, repeated []byte
	p := summaries.Place{Started: records.Stamp(e.Run.Started), ID: e.Run.ID}
	columns := "s.revision, s.median, s.mean, s.repeated"
	if c.stale {
		columns = "r.revision, x'', x'', x''"
	}
	err := c.tx.QueryRowContext(ctx, `SELECT r.subject, r.context, r.state, r.since, s.session, `+columns+`
		FROM runs r JOIN summaries s USING (subject, context, started, id)
		WHERE number = ? AND s.reference = (r.state IN ('accepted', 'rebaselined'))`, number).
		Scan(&p.Subject, &p.Context, &state, &since, &session, &commit, &median, &mean, &repeated)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return records.Damaged(errors.New("its summary is missing"))
	case err != nil:
		return err
	case session != e.Run.Session:
		return records.Damaged(errors.New("its summary names another session"))
	case commit != e.Run.Source.Commit:
		return records.Damaged(errors.New("its summary names another commit"))
	}
	if err := records.CheckMark(state, since, e.Mark); err != nil {
		return err
	}
	if !c.bare {
		if err := c.checkANRs(ctx, number, p, e.Run); err != nil {
			return err
		}
	}
	if c.stale {
		return nil
	}
	said, err := summaries.Unseal(p, commit, repeated)
	if err != nil {
		return err
	}
	kept := map[run.Centre][]byte{run.Median: median, run.Mean: mean}
	return records.CheckCells(e.Run, func(by run.Centre) (run.Cells, error) {
		packed, err := summaries.Unseal(p, session, kept[by])
		if err != nil {
			return run.Cells{}, err
		}
		return new(records.CellReader).Read(packed, said, func(id int64) (run.Cell, error) { return c.names.Cell(ctx, id) })
	})
}

// checkANRs checks that the separately stored ANRs match the record.
func (c runChecker) checkANRs(ctx context.Context, number int64, p summaries.Place, r run.Run) error {
	var kept []byte
	if err := c.tx.QueryRowContext(ctx, "SELECT anrs FROM runs WHERE number = ?", number).Scan(&kept); err != nil {
		return err
	}
	if kept != nil {
		var err error
		if kept, err = summaries.UnsealANRs(p, r.Session, r.App.Version, r.Source.Commit, kept); err != nil {
			return err
		}
	}
	return records.CheckANRs(kept, r)
}
