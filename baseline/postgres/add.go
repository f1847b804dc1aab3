package postgres

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/run"
)

// Add implements baseline.Store: one transaction for all the runs. Where the
// server goes away before it has answered, the runs are added again, which adds
// none of them twice.
func (s *Store) Add(ctx context.Context, runs ...run.Run) ([]string, error) {
	rows, err := s.newRows(ctx, runs)
	if err != nil {
		return nil, s.wrap("add to", err)
	}
	var added []string
	tried := map[string]bool{} // ids of an attempt whose end nobody knows
	err = s.write(ctx, func(tx pgx.Tx) error {
		added = nil
		fresh, err := unknown(ctx, tx, rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if tried[row.Run.ID] && !slices.Contains(fresh, row) && !slices.Contains(added, row.Run.ID) {
				added = append(added, row.Run.ID) // it did arrive
			}
		}
		if err := s.insert(ctx, tx, fresh); err != nil {
			return err
		}
		for _, row := range fresh {
			added = append(added, row.Run.ID)
			tried[row.Run.ID] = true
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("add to", err)
	}
	return added, nil
}

// newRow is a run with what its row in the database says.
type newRow struct {
	records.Record
	subject, context int64
	packed
	anrs []byte // nil for none
}

// newRows works out the rows of the runs, and sees to it that what they share
// with other runs is there.
func (s *Store) newRows(ctx context.Context, runs []run.Run) ([]*newRow, error) {
	rows := make([]*newRow, len(runs))
	sums := make([]summaries, len(runs))
	common := map[key]shared{}
	for i, r := range runs {
		rec, err := newRecord(r)
		if err != nil {
			return nil, fmt.Errorf("run %q: %w", r.ID, err)
		}
		anrs, err := records.PackANRs(rec.Run.ANRs)
		if err != nil {
			return nil, fmt.Errorf("run %q: %w", r.ID, err)
		}
		rows[i], sums[i] = &newRow{Record: rec, anrs: anrs}, summarize(rec.Run)
		sharedRows(common, rec.Run, sums[i])
	}
	ids, err := s.intern(ctx, common)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		row.subject = ids[subjectKey(row.Run.App.Package, row.Run.Scenario)]
		row.context = ids[contextKey(row.Run.Context)]
		row.packed = sums[i].pack(ids)
	}
	return rows, nil
}

// unknown are those of the rows that the database does not hold, each once.
func unknown(ctx context.Context, tx pgx.Tx, rows []*newRow) ([]*newRow, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = toText(row.Run.ID)
	}
	held, err := tx.Query(ctx, "SELECT id, digest FROM apkgate.runs WHERE id = ANY($1)", ids)
	if err != nil {
		return nil, err
	}
	digestOf := map[string][]byte{}
	var id string
	var digest []byte
	if _, err := pgx.ForEachRow(held, []any{&id, &digest}, func() error {
		digestOf[fromText(id)] = bytes.Clone(digest)
		return nil
	}); err != nil {
		return nil, err
	}
	var fresh []*newRow
	for _, row := range rows {
		other, known := digestOf[row.Run.ID]
		switch {
		case !known:
			digestOf[row.Run.ID] = row.Digest
			fresh = append(fresh, row)
		case !bytes.Equal(other, row.Digest):
			return nil, fmt.Errorf("run %q: %w: its digest is %s, this one's %s", row.Run.ID,
				baseline.ErrConflict, hex.EncodeToString(other)[:16], hex.EncodeToString(row.Digest)[:16])
		}
	}
	return fresh, nil
}

// insertSQL adds runs and returns those that nobody else has added meanwhile. In
// the order of ids, two writers of the same runs don't wait for each other.
const insertSQL = `
	INSERT INTO apkgate.runs (id, digest, subject, context, started, session, status, version, build,
		repository, revision, ref, iterations, added, median, mean, repeated, anrs)
	SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
		$10::text[], $11::text[], $12::text[], $13::integer[], $14::text[], $15::bytea[], $16::bytea[], $17::bytea[], $18::bytea[]) AS n(id, digest)
	ORDER BY n.id
	ON CONFLICT (id) DO NOTHING RETURNING number, id`

// errOvertaken is that another writer has just added one of the runs: it may be
// the same one, or another of that id.
var errOvertaken = errors.New("others add the same runs all the time")

// insert adds the rows.
func (s *Store) insert(ctx context.Context, tx pgx.Tx, rows []*newRow) error {
	if len(rows) == 0 {
		return nil
	}
	var texts [10][]string
	var digests, medians, means, repeated, anrs [][]byte
	var subjects, contexts []int64
	var iterations []int32
	packedOf := map[string][]byte{}
	now := records.Stamp(s.options.Now())
	for _, row := range rows {
		r := row.Run
		for i, text := range []string{
			r.ID, records.Stamp(r.Started), r.Session, string(r.Status), r.App.Version, r.App.Build,
			r.Source.Repository, r.Source.Commit, r.Source.Ref, now,
		} {
			texts[i] = append(texts[i], toText(text))
		}
		digests, subjects, contexts = append(digests, row.Digest), append(subjects, row.subject), append(contexts, row.context)
		iterations, medians, means = append(iterations, int32(len(r.Iterations))), append(medians, row.median), append(means, row.mean)
		repeated, anrs = append(repeated, row.repeated), append(anrs, row.anrs)
		packedOf[toText(r.ID)] = row.Packed
	}
	added, err := tx.Query(ctx, insertSQL, texts[0], digests, subjects, contexts, texts[1], texts[2], texts[3], texts[4], texts[5],
		texts[6], texts[7], texts[8], iterations, texts[9], medians, means, repeated, anrs)
	if err != nil {
		return err
	}
	var records [][]any
	var number int64
	var id string
	if _, err := pgx.ForEachRow(added, []any{&number, &id}, func() error {
		records = append(records, []any{number, packedOf[id]})
		return nil
	}); err != nil {
		return err
	}
	if len(records) < len(rows) {
		return errOvertaken
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"apkgate", "records"}, []string{"run", "data"}, pgx.CopyFromRows(records))
	return err
}
