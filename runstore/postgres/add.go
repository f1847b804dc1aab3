package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// Add implements runstore.Store: one transaction for all the runs. Where the server disappears
// before it has answered, the runs are added again, which adds none of them twice.
func (s *Store) Add(ctx context.Context, runs ...run.Run) (added []string, err error) {
	rows, err := s.newRows(ctx, runs)
	if err == nil {
		added, err = s.addToParts(ctx, rows)
	}
	if errors.Is(err, errDropped) { // once: months are rarely dropped
		s.names.forgetParts()
		added, err = s.addToParts(ctx, rows)
	}
	if err != nil {
		return nil, s.wrap("add to", err)
	}
	return added, nil
}

// addToParts adds rows to the partitions of their months.
func (s *Store) addToParts(ctx context.Context, rows []*newRow) (added []string, err error) {
	parts, err := s.partsOf(ctx, rows)
	if err != nil {
		return nil, err
	}
	tried := map[string]bool{} // ids of an attempt with an unknown result
	err = s.write(ctx, func(tx pgx.Tx) error {
		added = nil
		fresh, err := claimed(ctx, tx, rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if tried[row.Run.ID] && !slices.Contains(fresh, row) && !slices.Contains(added, row.Run.ID) {
				added = append(added, row.Run.ID) // it did succeed
			}
		}
		if err := s.insert(ctx, tx, fresh, parts); err != nil {
			return dropped(err)
		}
		for _, row := range fresh {
			added = append(added, row.Run.ID)
			tried[row.Run.ID] = true
		}
		return nil
	})
	return added, err
}

// newRow is a run with the contents of its row in the database.
type newRow struct {
	records.Record
	subject, context int64
	packed           records.Packed
	anrs             []byte // nil for none
}

// newRows returns the rows of the runs, and inserts the rows that they share with other runs.
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

// claimed returns the rows that are new to the database, each once. No other session can add them
// before this transaction ends.
func claimed(ctx context.Context, tx pgx.Tx, rows []*newRow) ([]*newRow, error) {
	fresh, err := unknown(ctx, tx, rows)
	if err != nil || len(fresh) == 0 {
		return fresh, err
	}
	// Another claim of the same waits for the end of this transaction, though the claims are
	// deleted at once: the next statement then sees what was added in the meantime. In the order of
	// ids, two writers of the same runs don't deadlock.
	ids, queue := idsOf(fresh), &pgx.Batch{}
	queue.Queue("INSERT INTO apkgate.claims (id) SELECT id FROM unnest($1::text[]) AS id ORDER BY id", ids)
	queue.Queue("DELETE FROM apkgate.claims WHERE "+ours+" AND id = ANY($1)", ids)
	if err := tx.SendBatch(ctx, queue).Close(); err != nil {
		return nil, err
	}
	return unknown(ctx, tx, fresh)
}

func idsOf(rows []*newRow) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = toText(row.Run.ID)
	}
	return ids
}

// unknown returns the rows that are new to the database, each once.
func unknown(ctx context.Context, tx pgx.Tx, rows []*newRow) ([]*newRow, error) {
	held, err := tx.Query(ctx, "SELECT id, number, digest, derived FROM apkgate.runs WHERE "+ours+" AND id = ANY($1)", idsOf(rows))
	if err != nil {
		return nil, err
	}
	type known struct {
		number  int64
		digest  []byte
		derived int
	}
	there := map[string]known{}
	var id string
	var k known
	if _, err := pgx.ForEachRow(held, []any{&id, &k.number, &k.digest, &k.derived}, func() error {
		there[fromText(id)] = known{k.number, bytes.Clone(k.digest), k.derived}
		return nil
	}); err != nil {
		return nil, err
	}
	var fresh []*newRow
	for _, row := range rows {
		other, ok := there[row.Run.ID]
		if !ok {
			there[row.Run.ID] = known{digest: row.Digest, derived: derivation}
			fresh = append(fresh, row)
			continue
		}
		same := bytes.Equal(other.digest, row.Digest)
		if !same && other.derived < utcRecords {
			if same, err = isSame(ctx, tx, other.number, row.Digest); err != nil {
				return nil, err
			}
		}
		if !same {
			return nil, fmt.Errorf("run %q: %w", row.Run.ID, records.Conflict(other.digest, row.Digest))
		}
	}
	return fresh, nil
}

// errDropped is returned where the months of some runs were dropped after this process had seen
// them.
var errDropped = errors.New("the months of the runs were dropped meanwhile")

// dropped returns the error of adding rows to partitions that may be gone.
func dropped(err error) error {
	const noPartition = "23514" // check_violation, which the tables have no other reason for
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == noPartition {
		return fmt.Errorf("%w: %w", errDropped, err)
	}
	return err
}

// Runs are added with their records.
const (
	insertRuns = `
	INSERT INTO apkgate.runs (id, digest, subject, context, started, session, status, version, build,
		repository, revision, ref, iterations, added, median, mean, repeated, anrs, part, derived)
	SELECT *, $20::integer FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
		$10::text[], $11::text[], $12::text[], $13::integer[], $14::text[], $15::bytea[], $16::bytea[], $17::bytea[], $18::bytea[], $19::text[]) AS n
	RETURNING number, id`
	insertRecords = "INSERT INTO apkgate.records (run, part, data) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[])"
)

// insert adds the rows, which are claimed.
func (s *Store) insert(ctx context.Context, tx pgx.Tx, rows []*newRow, parts map[string]string) error {
	if len(rows) == 0 {
		return nil
	}
	var texts [11][]string
	var digests, medians, means, repeated, anrs [][]byte
	var subjects, contexts []int64
	var iterations []int32
	of := map[string]*newRow{}
	now := records.Stamp(s.options.Now())
	for _, row := range rows {
		r := row.Run
		for i, text := range []string{
			r.ID, records.Stamp(r.Started), r.Session, string(r.Status), r.App.Version, r.App.Build,
			r.Source.Repository, r.Source.Commit, r.Source.Ref, now,
		} {
			texts[i] = append(texts[i], toText(text))
		}
		texts[10] = append(texts[10], parts[monthOf(r)])
		digests, subjects, contexts = append(digests, row.Digest), append(subjects, row.subject), append(contexts, row.context)
		iterations, medians, means = append(iterations, int32(len(r.Iterations))), append(medians, row.packed.Median), append(means, row.packed.Mean)
		repeated, anrs = append(repeated, row.packed.Repeated), append(anrs, row.anrs)
		of[toText(r.ID)] = row
	}
	added, err := tx.Query(ctx, insertRuns, texts[0], digests, subjects, contexts, texts[1], texts[2], texts[3], texts[4], texts[5],
		texts[6], texts[7], texts[8], iterations, texts[9], medians, means, repeated, anrs, texts[10], derivation)
	if err != nil {
		return err
	}
	var numbers []int64
	var partOf []string
	var data [][]byte
	var number int64
	var id string
	if _, err := pgx.ForEachRow(added, []any{&number, &id}, func() error {
		numbers, partOf, data = append(numbers, number), append(partOf, parts[monthOf(of[id].Run)]), append(data, of[id].Packed)
		return nil
	}); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, insertRecords, numbers, partOf, data)
	return err
}
