package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// page is how many rows are read in one transaction, so that a slow consumer holds none open.
const page = 500

// List implements runstore.Store.
func (s *Store) List(ctx context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return s.entries(ctx, f, true)
}

// entries reads what the filter lets through.
func (s *Store) entries(ctx context.Context, f runstore.Filter, newestFirst bool) iter.Seq2[runstore.Entry, error] {
	return records.List(f.Limit, page, func(after *records.Cursor, n int) (found []runstore.Entry, err error) {
		err = s.read(ctx, func(tx pgx.Tx) (err error) {
			found, err = s.listPage(ctx, tx, f, newestFirst, after, n)
			return err
		})
		if err != nil {
			err = s.wrap("list", err)
		}
		return found, err
	})
}

// listPage reads the next entries that the filter lets through.
func (s *Store) listPage(ctx context.Context, tx pgx.Tx, f runstore.Filter, newestFirst bool, after *records.Cursor, limit int) ([]runstore.Entry, error) {
	q, err := newSearch(ctx, tx, f)
	if err != nil || q.impossible {
		return nil, err
	}
	order, than := "ASC", ">"
	if newestFirst {
		order, than = "DESC", "<"
	}
	if after != nil {
		q.add("(r.started, r.id) "+than+" (?, ?)", after.Started, toText(after.ID))
	}
	order = fmt.Sprintf("ORDER BY r.started %s, r.id %s", order, order)
	return s.selectEntries(ctx, tx, q.source(order, limit), order, q.args...)
}

// levelOf is the start of the level of a run r, "" where there is none.
const levelOf = "(SELECT coalesce(max(l.since), '') FROM apkgate.runs l WHERE l.subject = r.subject AND l.state = 'rebaselined')"

// selectEntries reads the runs of a query, in that order, without what is only in their records.
// The query makes the lookup of subjects and marks run by run explicit.
func (s *Store) selectEntries(ctx context.Context, tx pgx.Tx, source, order string, args ...any) ([]runstore.Entry, error) {
	rows, err := tx.Query(ctx, `SELECT r.id, r.digest, s.package, s.scenario, r.context, r.started, r.session, r.status,
			r.version, r.build, r.repository, r.revision, r.ref, r.iterations, r.added,
			r.started < `+levelOf+`, m.state, m.at, m.since, m.note, m.batch, r.outcome, r.judged
		FROM (`+source+`) r
		CROSS JOIN LATERAL (SELECT package, scenario FROM apkgate.subjects WHERE id = r.subject LIMIT 1) s `+newestMark+" "+order, args...)
	if err != nil {
		return nil, err
	}
	var out []runstore.Entry
	var contexts []int64
	var e runstore.Entry
	var digest []byte
	var context int64
	var started, status, added, outcome, judged string
	var c markColumns
	r := &e.Run
	if _, err := pgx.ForEachRow(rows, []any{
		&r.ID, &digest, &r.App.Package, &r.Scenario, &context, &started, &r.Session, &status,
		&r.App.Version, &r.App.Build, &r.Source.Repository, &r.Source.Commit, &r.Source.Ref, &e.Iterations, &added,
		&e.Retired, &c.state, &c.at, &c.since, &c.note, &c.batch, &outcome, &judged,
	}, func() (err error) {
		for _, text := range []*string{
			&r.ID, &r.App.Package, &r.Scenario, &r.Session, &r.App.Version, &r.App.Build,
			&r.Source.Repository, &r.Source.Commit, &r.Source.Ref,
		} {
			*text = fromText(*text)
		}
		r.Format, r.Status, e.Digest = run.Format, run.Status(status), hex.EncodeToString(digest)
		if r.Started, err = records.ParseStamp(started); err != nil {
			return err
		}
		if e.AddedAt, err = records.ParseStamp(added); err != nil {
			return err
		}
		if r.Judged, err = records.JudgedOf(outcome, judged); err != nil {
			return err
		}
		e.Mark, err = c.mark()
		out, contexts = append(out, e), append(contexts, context)
		return err
	}); err != nil {
		return nil, err
	}
	properties, err := s.loadContexts(ctx, tx, contexts)
	for i, id := range contexts {
		out[i].Run.Context = properties[id]
	}
	return out, err
}

// ANRs implements runstore.Store. The runs with ANRs have an index of their own, and ANRs are
// stored separately. Where these are damaged, the answer is derived from the records.
func (s *Store) ANRs(ctx context.Context, q runstore.ANRQuery) ([]runstore.ANRRun, error) {
	q, err := q.Normal()
	if err != nil || !validText(q.Package) {
		return nil, err
	}
	var out []runstore.ANRRun
	err = s.read(ctx, func(tx pgx.Tx) (err error) {
		out, err = anrs(ctx, tx, q)
		return err
	})
	if errors.Is(err, runstore.ErrDamaged) {
		return runstore.ANRsFromRecords(s.Export(ctx, runstore.Filter{Package: q.Package}), q, err)
	}
	if err != nil {
		return nil, s.wrap("find ANRs in", err)
	}
	return out, nil
}

func anrs(ctx context.Context, tx pgx.Tx, q runstore.ANRQuery) ([]runstore.ANRRun, error) {
	subjects, err := subjectsOf(ctx, tx, q.Package, "")
	if err != nil || len(subjects) == 0 {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT r.id, r.started, r.session, s.scenario, r.version, r.revision, r.state, r.anrs
		FROM (SELECT r.* FROM unnest($1::bigint[]) AS of(subject) CROSS JOIN LATERAL (
			SELECT id, started, session, subject, version, revision, state, anrs FROM apkgate.runs
			WHERE subject = of.subject AND anrs IS NOT NULL AND derived BETWEEN $2 AND $3
			ORDER BY started DESC, id DESC LIMIT $4) r
			ORDER BY r.started DESC, r.id DESC LIMIT $4) r
		CROSS JOIN LATERAL (SELECT scenario FROM apkgate.subjects WHERE id = r.subject LIMIT 1) s
		ORDER BY r.started DESC, r.id DESC`, subjects, withANRs, derivation, q.Limit)
	if err != nil {
		return nil, err
	}
	var out []runstore.ANRRun
	var a runstore.ANRRun
	var started, state string
	var packed []byte
	if _, err = pgx.ForEachRow(rows, []any{&a.ID, &started, &a.Session, &a.Scenario, &a.Version, &a.Commit, &state, &packed}, func() (err error) {
		for _, text := range []*string{&a.ID, &a.Session, &a.Scenario, &a.Version, &a.Commit} {
			*text = fromText(*text)
		}
		a.State = runstore.State(state)
		if a.Started, err = records.ParseStamp(started); err != nil {
			return err
		}
		if a.ANRs, err = records.ANRsIn(packed); err != nil {
			return fmt.Errorf("run %q: %w", a.ID, err)
		}
		out = append(out, a)
		return nil
	}); err != nil {
		return nil, err
	}
	others, err := anrsAnew(ctx, tx, subjects)
	if err != nil || len(others) == 0 {
		return out, err
	}
	out = append(out, others...)
	slices.SortFunc(out, func(a, b runstore.ANRRun) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	return out[:min(len(out), q.Limit)], nil
}
