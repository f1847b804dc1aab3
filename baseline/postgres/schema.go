package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/apkgate/apkgate/baseline"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrations are the steps of the schema: the first makes version 1 of nothing,
// the next makes version 2 of that. A step that is released never changes.
var migrations = []string{
	mustRead("schema/0001_history.sql"),
	mustRead("schema/0002_batch.sql"),
	mustRead("schema/0003_repetitions.sql"),
	mustRead("schema/0004_anrs.sql"),
}

// addJudged are columns that every reader of this version of the schema may leave aside,
// so that an apkgate from before them still reads and writes the history: it knows of no
// outcomes, and changes none.
const addJudged = `ALTER TABLE apkgate.runs ADD COLUMN IF NOT EXISTS outcome text COLLATE "C" NOT NULL DEFAULT '';
	ALTER TABLE apkgate.runs ADD COLUMN IF NOT EXISTS judged text COLLATE "C" NOT NULL DEFAULT ''`

// derivation is the version of the rules by which summaries, and what else repeats
// records, are made of them. Raise it when they change: histories are then derived anew.
const derivation = 4

// ofSummaries is the first of these versions whose summaries are as today's: what came
// later are ANRs beside the records.
const ofSummaries = 3

// migrationLimit is how long one statement of a migration may take: an index of a million
// runs takes minutes.
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

// versions are those of the schema and of the summaries, 0, 0 for no history, and whether
// it has columns for outcomes.
type versions struct {
	schema, derivation int
	judged             bool
}

// prepare brings the schema up to date, or says why not.
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
	switch current := found.schema == len(migrations) && found.derivation == derivation; {
	case current && (found.judged || s.options.ReadOnly):
		s.mute = !found.judged
		return nil
	case s.options.ReadOnly:
		return hinted(fmt.Errorf("%w: its schema is version %d of %d, its summaries follow rules %d of %d",
			baseline.ErrReadOnly, found.schema, len(migrations), found.derivation, derivation),
			"Open it once as its owner, which brings it up to date.")
	}
	err = s.writeFor(ctx, migrationLimit, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == codeNoPrivilege {
		return hinted(fmt.Errorf("%w: its schema is version %d of %d%s, and this role may not change it: %w", baseline.ErrReadOnly, found.schema, len(migrations), found.lacking(), err),
			"Open it once as its owner: apkgate baseline list --store postgres://OWNER@…, see docs/postgres.md.")
	}
	return err
}

func checkEncoding(ctx context.Context, tx pgx.Tx) error {
	var encoding string
	if err := tx.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return hinted(fmt.Errorf("%w: the database's encoding is %s, want UTF8", baseline.ErrNotHistory, encoding),
			"Make one with: createdb --encoding=UTF8 --template=template0.")
	}
	return nil
}

func readVersions(ctx context.Context, tx pgx.Tx) (v versions, err error) {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass('apkgate.history') IS NOT NULL").Scan(&there); err != nil || !there {
		return v, err
	}
	err = tx.QueryRow(ctx, `SELECT schema, derivation, (SELECT count(*) = 2 FROM pg_attribute
			WHERE attrelid = to_regclass('apkgate.runs') AND attname IN ('outcome', 'judged') AND NOT attisdropped)
		FROM apkgate.history`).Scan(&v.schema, &v.derivation, &v.judged)
	if errors.Is(err, pgx.ErrNoRows) { // it was made after this transaction's state of the database
		err = errMeanwhile
	}
	return v, err
}

// errMeanwhile is that another one has made the history while this one looked: it
// is there now.
var errMeanwhile = errors.New("another apkgate makes the history's tables")

// lacking says what the tables lack beside a step of the schema.
func (v versions) lacking() string {
	if v.judged || v.schema < len(migrations) {
		return ""
	}
	return ", without columns for outcomes"
}

// check reports what makes a history one that this apkgate leaves alone. An older
// one neither guesses nor takes back what a newer one has made.
func (v versions) check() error {
	const advice = "Update apkgate, or use a database of its own for this version."
	switch {
	case v.schema > len(migrations):
		return hinted(fmt.Errorf("%w: its schema is version %d, this one knows up to %d", baseline.ErrNewer, v.schema, len(migrations)), advice)
	case v.derivation > derivation:
		return hinted(fmt.Errorf("%w: its summaries follow rules %d, this one knows up to %d", baseline.ErrNewer, v.derivation, derivation), advice)
	}
	return nil
}

// migrate takes the schema through the steps that it has not seen, all or none.
// The lock keeps jobs that start together from doing it twice.
func migrate(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
		return err
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
	if _, err := tx.Exec(ctx, addJudged); err != nil {
		return fmt.Errorf("add columns for outcomes: %w", err)
	}
	switch {
	case v.derivation == derivation || v.schema == 0:
	case v.derivation < ofSummaries:
		err = deriveAll(ctx, tx)
	default:
		err = deriveANRs(ctx, tx)
	}
	if err != nil {
		return fmt.Errorf("derive the summaries anew: %w", err)
	}
	_, err = tx.Exec(ctx, "UPDATE apkgate.history SET schema = $1, derivation = $2", len(migrations), derivation)
	return err
}
