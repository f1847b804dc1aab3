package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/apkgate/apkgate/runstore"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrations are the steps of the schema: the first creates version 1, the next version 2 from it.
// A released step never changes. From version 5 on the rows are under row-level security for their
// owner too: a step that changes them has to lift it (NO FORCE) meanwhile.
var migrations = []string{
	mustRead("schema/0001_history.sql"),
	mustRead("schema/0002_batch.sql"),
	mustRead("schema/0003_repetitions.sql"),
	mustRead("schema/0004_anrs.sql"),
	mustRead("schema/0005_teams.sql"),
}

// migrationLimit is the timeout of one statement of a migration: an index of a million runs takes
// minutes.
const migrationLimit = time.Hour

// lockKey is the advisory lock that migrations hold: "apkgate" in ASCII.
const lockKey = 0x61706b67617465

func mustRead(name string) string {
	data, err := schemaFiles.ReadFile(name)
	if err != nil {
		panic(err) // the file is compiled in
	}
	return string(data)
}

// versions are those of the schema, and before version 5 of all summaries together: 0, 0 for no
// history.
type versions struct{ schema, derivation int }

// perRow is the first version of the schema in which each run has the version of its summaries'
// rules.
const perRow = 5

// prepare updates the schema, or returns an error.
func (s *Store) prepare(ctx context.Context) error {
	var found versions
	err := s.read(ctx, func(tx pgx.Tx) (err error) {
		if err := checkEncoding(ctx, tx); err != nil {
			return err
		}
		found, err = readVersions(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if err := found.check(); err != nil {
		return err
	}
	if found.schema < len(migrations) {
		if err := s.upgrade(ctx, found); err != nil {
			return err
		}
	}
	return s.read(ctx, func(tx pgx.Tx) error { return s.checkTenant(ctx, tx) })
}

func (s *Store) upgrade(ctx context.Context, found versions) error {
	if s.options.ReadOnly {
		return hinted(fmt.Errorf("%w: its schema is version %d of %d", runstore.ErrReadOnly, found.schema, len(migrations)),
			"Open it once as its owner, which brings it up to date.")
	}
	err := s.writeFor(ctx, migrationLimit, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == codeNoPrivilege {
		return hinted(fmt.Errorf("%w: its schema is version %d of %d, and this role may not change it: %w", runstore.ErrReadOnly, found.schema, len(migrations), err),
			"Open it once as its owner: apkgate baseline list --store postgres://OWNER@…, see docs/postgres.md.")
	}
	return err
}

// checkTenant makes sure that this role sees a history: where teams share a database, a role of
// none of them sees an empty one. It also determines whether there is something to renew for a role
// that may.
func (s *Store) checkTenant(ctx context.Context, tx pgx.Tx) error {
	var role string
	var tenant *int64
	if err := tx.QueryRow(ctx, `SELECT session_user::text, apkgate.tenant(), has_table_privilege('apkgate.runs', 'UPDATE')
			AND EXISTS (SELECT FROM apkgate.runs WHERE `+ours+` AND derived < $1)`, derivation).Scan(&role, &tenant, &s.stale); err != nil || tenant != nil {
		return err
	}
	return hinted(fmt.Errorf("%w: teams share it, and the role %q is of none of them", runstore.ErrReadOnly, role),
		"Its owner enters the role in apkgate.members, see docs/postgres.md.")
}

func checkEncoding(ctx context.Context, tx pgx.Tx) error {
	var encoding string
	if err := tx.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return hinted(fmt.Errorf("%w: the database's encoding is %s, want UTF8", runstore.ErrNotHistory, encoding),
			"Make one with: createdb --encoding=UTF8 --template=template0.")
	}
	return nil
}

func readVersions(ctx context.Context, tx pgx.Tx) (v versions, err error) {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass('apkgate.history') IS NOT NULL").Scan(&there); err != nil || !there {
		return v, err
	}
	err = tx.QueryRow(ctx, "SELECT schema, derivation FROM apkgate.history").Scan(&v.schema, &v.derivation)
	if errors.Is(err, pgx.ErrNoRows) { // it was created after this transaction's snapshot
		err = errMeanwhile
	}
	return v, err
}

// errMeanwhile is returned where another process has created the history during the check: it
// exists now.
var errMeanwhile = errors.New("another apkgate makes the history's tables")

// check returns an error for a history that this apkgate must leave alone. An older one neither
// guesses nor reverts what a newer one has made.
func (v versions) check() error {
	const advice = "Update apkgate, or use a database of its own for this version."
	switch {
	case v.schema > len(migrations):
		return hinted(fmt.Errorf("%w: its schema is version %d, this one knows up to %d", runstore.ErrNewer, v.schema, len(migrations)), advice)
	case v.schema < perRow && v.derivation > derivation:
		return hinted(fmt.Errorf("%w: its summaries follow rules %d, this one knows up to %d", runstore.ErrNewer, v.derivation, derivation), advice)
	}
	return nil
}

// migrate runs the missing migrations atomically. The lock keeps concurrently started jobs from
// running them twice.
func migrate(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
		return fmt.Errorf("%w: %w", errUpgrading, err)
	}
	var schema bool
	if err := tx.QueryRow(ctx, "SELECT to_regnamespace('apkgate') IS NOT NULL").Scan(&schema); err != nil {
		return err
	}
	if !schema {
		if _, err := tx.Exec(ctx, "CREATE SCHEMA apkgate"); err != nil {
			return err
		}
	}
	v, err := readVersions(ctx, tx)
	if err == nil {
		err = v.check() // a newer apkgate may have held the lock before
	}
	if err != nil {
		return err
	}
	if v.schema == 0 {
		if _, err := tx.Exec(ctx, `CREATE TABLE apkgate.history (schema integer NOT NULL, derivation integer NOT NULL);
			INSERT INTO apkgate.history VALUES (0, 0)`); err != nil {
			return err
		}
	}
	for step := v.schema; step < len(migrations); step++ {
		if _, err := tx.Exec(ctx, migrations[step]); err != nil {
			return fmt.Errorf("bring the schema from version %d to %d: %w", step, step+1, err)
		}
	}
	_, err = tx.Exec(ctx, "UPDATE apkgate.history SET schema = $1", len(migrations))
	return err
}

// errUpgrading is returned while another process updates the schema, which takes as long as
// creating its indexes.
var errUpgrading = errors.New("another apkgate brings the history up to date")
