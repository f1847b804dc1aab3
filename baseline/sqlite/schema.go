package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/baseline"
)

// applicationID marks a file as ours: "apkg" in ASCII (SQLite's PRAGMA
// application_id).
const applicationID = 'a'<<24 | 'p'<<16 | 'k'<<8 | 'g'

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrations are the steps of the schema: the first makes version 1 of nothing,
// the next makes version 2 of that. A step that is released never changes.
var migrations = []string{
	mustRead("schema/0001_history.sql"),
	mustRead("schema/0002_batch.sql"),
}

// derivation is the version of the rules by which package run makes summaries
// of records. Raise it when they change: histories are then derived anew.
const derivation = 1

func mustRead(name string) string {
	data, err := schemaFiles.ReadFile(name)
	if err != nil {
		panic(err) // the file is compiled in
	}
	return string(data)
}

// prepare makes the file a history of the present version, or says why not.
func (s *Store) prepare(ctx context.Context, o Options) error {
	fresh, version, err := s.identify(ctx)
	switch {
	case err != nil:
		return err
	case o.ReadOnly && fresh:
		return notHistory("the file is empty")
	case o.ReadOnly && version < len(migrations):
		return &baseline.Error{
			Err:    fmt.Errorf("%w: its schema is version %d of %d", baseline.ErrReadOnly, version, len(migrations)),
			Advice: "Open it once where it can be written, which brings it up to date.",
		}
	case o.ReadOnly:
		return nil
	}
	if fresh {
		if err := s.setUp(ctx, o.Wait); err != nil {
			return err
		}
	}
	if err := s.migrate(ctx, migrations); err != nil {
		return err
	}
	return s.derive(ctx)
}

// identify reports whether the file holds nothing yet, and else its version.
// Both are read in one state of the file, since another process may be making it.
func (s *Store) identify(ctx context.Context) (fresh bool, version int, err error) {
	err = s.read(ctx, func(tx *transaction) error {
		var id, tables int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		fresh = id == 0 && version == 0 && tables == 0
		switch {
		case fresh:
			return nil
		case id != applicationID:
			return notHistory("it is the SQLite database of another program")
		case version > len(migrations):
			return &baseline.Error{
				Err:    fmt.Errorf("%w: its schema is version %d, this one knows up to %d", baseline.ErrNewer, version, len(migrations)),
				Advice: "Update apkgate, or use a history of its own for this version.",
			}
		}
		return nil
	})
	return fresh, version, err
}

func notHistory(why string) error {
	return &baseline.Error{
		Err:    fmt.Errorf("%w: %s", baseline.ErrNotHistory, why),
		Advice: "Name another file. Runs kept as JSON are read with: apkgate baseline import.",
	}
}

// setUp sets what must be set before the first table. SQLite does not wait for
// a lock when it changes the journal's mode, so we do.
func (s *Store) setUp(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for {
		_, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
		if err == nil || !errors.Is(explain(err), baseline.ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// migrate takes the schema through the steps that it has not seen, all or none.
func (s *Store) migrate(ctx context.Context, steps []string) error {
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version >= len(steps) {
		return nil
	}
	return s.write(ctx, func(tx *transaction) error {
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		for ; version < len(steps); version++ {
			if _, err := tx.Tx.ExecContext(ctx, steps[version]); err != nil {
				return fmt.Errorf("bring the schema from version %d to %d: %w", version, version+1, err)
			}
		}
		_, err := tx.Tx.ExecContext(ctx, fmt.Sprintf(
			"PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version))
		return err
	})
}

// derive makes the summaries anew where they follow other rules than ours.
func (s *Store) derive(ctx context.Context) error {
	current, err := derivedBy(ctx, s.db)
	if err != nil || current == derivation {
		return err
	}
	return s.write(ctx, func(tx *transaction) error {
		current, err := derivedBy(ctx, tx)
		if err != nil || current == derivation {
			return err
		}
		if err := deriveAll(ctx, tx); err != nil {
			return fmt.Errorf("derive the summaries anew: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM derivation"); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO derivation VALUES (?)", derivation)
		return err
	})
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func derivedBy(ctx context.Context, q queryer) (version int, err error) {
	err = q.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM derivation").Scan(&version)
	return version, err
}
