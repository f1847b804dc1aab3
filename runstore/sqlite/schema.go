package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// applicationID marks a file as ours: "apkg" in ASCII (SQLite's PRAGMA
// application_id).
const applicationID = 'a'<<24 | 'p'<<16 | 'k'<<8 | 'g'

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrations are the steps of the schema: the first creates version 1, the next version 2 from it.
// A released step never changes.
var migrations = []step{
	{script: mustRead("schema/0001_history.sql")},
	{script: mustRead("schema/0002_batch.sql")},
	// The first three texts of version 1 lacked some indexes, and the first two treated runs with
	// different ids as never equal.
	{script: mustRead("schema/0003_digests.sql"), needed: "SELECT count(*) > 1 FROM pragma_index_list('runs') WHERE origin = 'u'"},
	{script: mustRead("schema/0004_indexes.sql")},
	{script: mustRead("schema/0005_repetitions.sql")},
	{script: mustRead("schema/0006_anrs.sql")},
}

// addJudged are columns that every reader of this version of the schema may ignore, so that an
// older apkgate still reads and writes the history: it neither reads nor changes outcomes.
const addJudged = `ALTER TABLE runs ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
	ALTER TABLE runs ADD COLUMN judged TEXT NOT NULL DEFAULT '';`

// step is one migration. needed is a query for whether a history needs the script; "" is always.
type step struct{ script, needed string }

// readable is the lowest version of the schema that can be read without an update.
const readable = 2

// derivation is the version of the rules by which summaries, and other derived data, are made.
// Raise it when they change: histories are then derived again.
const derivation = 5

// ofSummaries is the first of these versions with today's summaries: later ones added the separate
// ANRs.
const ofSummaries = 4

func mustRead(name string) string {
	data, err := schemaFiles.ReadFile(name)
	if err != nil {
		panic(err) // the file is compiled in
	}
	return string(data)
}

// errOutdated is returned where a history must be updated before it is read.
var errOutdated = errors.New("the history is of an older version")

// prepare updates the file to a history of the present version, or returns an error.
func (s *Store) prepare(ctx context.Context, o Options, how access) error {
	found, err := s.identify(ctx)
	if err != nil {
		return err
	}
	outdated := found.schema < len(migrations) || found.derivation < derivation || !found.judged
	switch {
	case how == toWrite:
	case found.fresh:
		return notHistory("the file is empty")
	case outdated && how == toRead:
		return errOutdated
	case found.schema < readable:
		return &runstore.Error{
			Err:    fmt.Errorf("%w: its schema is version %d of %d", runstore.ErrReadOnly, found.schema, len(migrations)),
			Advice: "Open it once where it can be written, which brings it up to date.",
		}
	default:
		s.stale, s.bare, s.mute = found.derivation < ofSummaries, found.derivation < derivation, !found.judged
		return nil
	}
	if found.fresh {
		if err := s.setUp(ctx, o.Wait); err != nil {
			return err
		}
	}
	if err := s.migrate(ctx, migrations); err != nil {
		return err
	}
	if err := s.addJudged(ctx); err != nil {
		return err
	}
	return s.derive(ctx)
}

// addJudged adds the columns of outcomes where they are missing.
func (s *Store) addJudged(ctx context.Context) error {
	if there, err := hasJudged(ctx, s.db); err != nil || there {
		return err
	}
	return s.write(ctx, func(tx *prepared.Tx) error {
		there, err := hasJudged(ctx, tx)
		if err != nil || there { // another process was faster
			return err
		}
		_, err = tx.Tx.ExecContext(ctx, addJudged)
		return err
	})
}

func hasJudged(ctx context.Context, q queryer) (there bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT count(*) = 2 FROM pragma_table_info('runs') WHERE name IN ('outcome', 'judged')").Scan(&there)
	return there, err
}

// versions are the versions in a file.
type versions struct {
	fresh      bool // it is empty
	schema     int
	derivation int  // of the rules of its summaries
	judged     bool // it has columns for outcomes
}

// identify reads the versions in one transaction, as another process may be creating the file. An
// unknown version is an error: an older apkgate neither guesses nor reverts what a newer one has
// made.
func (s *Store) identify(ctx context.Context) (v versions, err error) {
	err = s.read(ctx, func(tx *prepared.Tx) error {
		var id, tables int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v.schema); err != nil {
			return err
		}
		v.fresh = id == 0 && v.schema == 0 && tables == 0
		switch {
		case v.fresh:
			return nil
		case id != applicationID:
			return notHistory("it is the SQLite database of another program")
		case v.schema > len(migrations):
			return newer("its schema is version %d, this one knows up to %d", v.schema, len(migrations))
		}
		if v.derivation, err = derivedBy(ctx, tx); err != nil {
			return err
		}
		if v.judged, err = hasJudged(ctx, tx); err != nil {
			return err
		}
		if v.derivation > derivation {
			return newer("its summaries follow rules %d, this one knows up to %d", v.derivation, derivation)
		}
		return nil
	})
	return v, err
}

func newer(format string, args ...any) error {
	return &runstore.Error{
		Err:    fmt.Errorf("%w: "+format, append([]any{runstore.ErrNewer}, args...)...),
		Advice: "Update apkgate, or use a history of its own for this version.",
	}
}

func notHistory(why string) error {
	return &runstore.Error{
		Err:    fmt.Errorf("%w: %s", runstore.ErrNotHistory, why),
		Advice: "Name another file. Runs kept as JSON are read with: apkgate baseline import.",
	}
}

// setUp sets what must be set before the first table. SQLite does not wait for a lock when it
// changes the journal's mode, so we do.
func (s *Store) setUp(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer s.locked()()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for {
		_, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
		if err == nil || !errors.Is(explain(err), runstore.ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// migrate runs the missing migrations atomically. SQLite ignores foreign keys during it ("ALTER
// TABLE", 7): replacing a table would otherwise delete the rows that refer to it.
func (s *Store) migrate(ctx context.Context, steps []step) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version >= len(steps) {
		return nil
	}
	if _, err := s.db.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil { // there is one connection
		return err
	}
	err := transact(ctx, s.db, nil, s.locked(), func(tx *prepared.Tx) error { return migrate(ctx, tx, steps) })
	_, onErr := s.db.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys = ON")
	return errors.Join(err, onErr)
}

func migrate(ctx context.Context, tx *prepared.Tx, steps []step) error {
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	var keys bool
	if err := tx.QueryRowContext(ctx, "PRAGMA foreign_keys").Scan(&keys); err != nil || keys {
		return errors.Join(errors.New("a migration begins while foreign keys are looked after"), err)
	}
	for ; version < len(steps); version++ {
		if err := steps[version].carryOut(ctx, tx); err != nil {
			return fmt.Errorf("bring the schema from version %d to %d: %w", version, version+1, err)
		}
	}
	_, err := tx.Tx.ExecContext(ctx, fmt.Sprintf(
		"PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version))
	return err
}

func (s step) carryOut(ctx context.Context, tx *prepared.Tx) error {
	needed := true
	if s.needed != "" {
		if err := tx.Tx.QueryRowContext(ctx, s.needed).Scan(&needed); err != nil {
			return err
		}
	}
	if !needed {
		return nil
	}
	_, err := tx.Tx.ExecContext(ctx, s.script)
	return err
}

// derive derives the summaries again where they follow other rules.
func (s *Store) derive(ctx context.Context) error {
	current, err := derivedBy(ctx, s.db)
	if err != nil || current == derivation {
		return err
	}
	return s.write(ctx, func(tx *prepared.Tx) error {
		current, err := derivedBy(ctx, tx)
		if err != nil || current == derivation {
			return err
		}
		if current < ofSummaries {
			err = deriveAll(ctx, tx)
		} else {
			err = deriveANRs(ctx, tx)
		}
		if err != nil {
			return fmt.Errorf("derive the summaries again: %w", err)
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
