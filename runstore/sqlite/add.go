package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/sqlite/summaries"
)

// Add implements runstore.Store: one transaction for all the runs.
func (s *Store) Add(ctx context.Context, runs ...run.Run) ([]string, error) {
	made := make([]records.Record, len(runs))
	for i, r := range runs { // before the lock: this is the slow part
		rec, err := records.New(r)
		if err != nil {
			return nil, s.wrap("add to", fmt.Errorf("run %q: %w", r.ID, err))
		}
		made[i] = rec
	}
	var added []string
	err := s.write(ctx, func(tx *prepared.Tx) error {
		in := interning.NewWriter(tx)
		for _, rec := range made {
			isNew, err := s.addRecord(ctx, in, rec)
			if err != nil {
				return fmt.Errorf("run %q: %w", rec.Run.ID, err)
			}
			if isNew {
				added = append(added, rec.Run.ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("add to", err)
	}
	return added, nil
}

// wrap adds what was being done, and the file, to an error.
func (s *Store) wrap(doing string, err error) error {
	return fmt.Errorf("%s history %s: %w", doing, s.path, explain(err))
}

// addRecord adds one run and reports whether it is new.
func (s *Store) addRecord(ctx context.Context, in *interning.Writer, rec records.Record) (bool, error) {
	known, err := holds(ctx, in.Tx, rec)
	if err != nil || known {
		return false, err
	}
	r := rec.Run
	p := summaries.Place{Started: records.Stamp(r.Started), ID: r.ID}
	if p.Subject, err = in.Subject(ctx, r.App.Package, r.Scenario); err != nil {
		return false, err
	}
	if p.Context, err = in.Context(ctx, r.Context); err != nil {
		return false, err
	}
	anrs, err := summaries.SealANRs(p, r)
	if err != nil {
		return false, err
	}
	result, err := in.Tx.ExecContext(ctx, `INSERT INTO runs
		(id, digest, subject, context, started, session, status, version, build, repository, revision, ref, iterations, added, anrs)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, rec.Digest, p.Subject, p.Context, p.Started, r.Session, r.Status, r.App.Version, r.App.Build,
		r.Source.Repository, r.Source.Commit, r.Source.Ref, len(r.Iterations), records.Stamp(s.now()), anrs)
	if err != nil {
		return false, err
	}
	number, err := result.LastInsertId()
	if err != nil {
		return false, err
	}
	if _, err := in.Tx.ExecContext(ctx, "INSERT INTO records (run, data) VALUES (?, ?)", number, rec.Packed); err != nil {
		return false, err
	}
	return true, summaries.Add(ctx, in, p, r)
}

// holds reports whether the run is stored already; one of the same id with other content is an
// error.
func holds(ctx context.Context, tx *prepared.Tx, rec records.Record) (bool, error) {
	var digest []byte
	err := tx.QueryRowContext(ctx, "SELECT digest FROM runs WHERE id = ?", rec.Run.ID).Scan(&digest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case bytes.Equal(digest, rec.Digest):
		return true, nil
	}
	return false, records.Conflict(digest, rec.Digest)
}
