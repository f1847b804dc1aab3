package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/run"
)

// page is how many rows are read in one transaction: a consumer that takes its
// time holds none open.
const page = 500

// List implements baseline.Store.
func (s *Store) List(ctx context.Context, f baseline.Filter) iter.Seq2[baseline.Entry, error] {
	return s.entries(ctx, f, true)
}

// Export implements baseline.Store. A run that is pruned meanwhile is left out.
func (s *Store) Export(ctx context.Context, f baseline.Filter) iter.Seq2[baseline.Entry, error] {
	return records.Export(ctx, s, s.entries(ctx, f, false))
}

// entries reads what the filter lets through.
func (s *Store) entries(ctx context.Context, f baseline.Filter, newestFirst bool) iter.Seq2[baseline.Entry, error] {
	return records.List(f.Limit, page, func(after *records.Cursor, n int) (found []baseline.Entry, err error) {
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

// query is SQL that is put together with its arguments.
type query struct {
	where []string
	args  []any
}

// add adds a condition; each ? in it becomes the next argument.
func (q *query) add(condition string, values ...any) {
	for _, v := range values {
		q.args = append(q.args, v)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(q.args)), 1)
	}
	q.where = append(q.where, condition)
}

// listPage reads the next entries that the filter lets through.
func (s *Store) listPage(ctx context.Context, tx pgx.Tx, f baseline.Filter, newestFirst bool, after *records.Cursor, limit int) ([]baseline.Entry, error) {
	q, possible := conditions(f)
	if !possible {
		return nil, nil
	}
	order, than := "ASC", ">"
	if newestFirst {
		order, than = "DESC", "<"
	}
	if after != nil {
		q.add("(r.started, r.id) "+than+" (?, ?)", after.Started, toText(after.ID))
	}
	q.args = append(q.args, limit)
	return s.selectEntries(ctx, tx, fmt.Sprintf("WHERE %s ORDER BY r.started %s, r.id %s LIMIT $%d",
		strings.Join(q.where, " AND "), order, order, len(q.args)), q.args...)
}

// levelOf is the start of the level of a run r, "" where there is none.
const levelOf = "(SELECT coalesce(max(l.since), '') FROM apkgate.runs l WHERE l.subject = r.subject AND l.state = 'rebaselined')"

// conditions are the filter as SQL. What no text of the database can be is not
// possible.
func conditions(f baseline.Filter) (q query, possible bool) {
	q.add("true")
	possible = true
	text := func(s string) string {
		possible = possible && validText(s)
		return toText(s)
	}
	for column, value := range map[string]string{
		"s.package": f.Package, "s.scenario": f.Scenario, "r.session": f.Session,
		"r.revision": f.Commit, "r.status": string(f.Status),
	} {
		if value != "" {
			q.add(column+" = ?", text(value))
		}
	}
	if !f.From.IsZero() {
		q.add("r.started >= ?", records.Stamp(f.From))
	}
	if !f.Until.IsZero() {
		q.add("r.started < ?", records.Stamp(f.Until))
	}
	if f.Level {
		q.add("r.started >= " + levelOf)
	}
	if f.States != nil {
		states := []string{}
		for _, state := range f.States {
			states = append(states, text(string(state)))
		}
		q.add("r.state = ANY(?)", states)
	}
	if f.IDs != nil {
		ids := []string{}
		for _, id := range f.IDs {
			if validText(id) {
				ids = append(ids, toText(id))
			}
		}
		q.add("r.id = ANY(?)", ids)
	}
	for name, value := range f.Where {
		q.add(`r.context IN (SELECT c.id FROM apkgate.contexts c, unnest(c.names, c.values) AS p(name, value)
			WHERE p.name = ? AND p.value = ?)`, text(name), text(value))
	}
	return q, possible
}

// validText reports whether the database could hold the text.
func validText(s string) bool { return utf8.ValidString(s) }

// selectEntries reads the runs that the end of the query says, without what only
// their records hold.
func (s *Store) selectEntries(ctx context.Context, tx pgx.Tx, where string, args ...any) ([]baseline.Entry, error) {
	rows, err := tx.Query(ctx, `SELECT r.id, r.digest, s.package, s.scenario, r.context, r.started, r.session, r.status,
			r.version, r.build, r.repository, r.revision, r.ref, r.iterations, r.added,
			r.started < `+levelOf+`, m.state, m.at, m.since, m.note, m.batch, `+s.said()+`
		FROM apkgate.runs r JOIN apkgate.subjects s ON s.id = r.subject `+newestMark+" "+where, args...)
	if err != nil {
		return nil, err
	}
	var out []baseline.Entry
	var contexts []int64
	var e baseline.Entry
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

// ANRs implements baseline.Store. The runs that have any stand in an index of their
// own, and what did not respond stands beside them. Where that is damaged, the
// answer is made of the records.
func (s *Store) ANRs(ctx context.Context, q baseline.ANRQuery) ([]baseline.ANRRun, error) {
	q, err := q.Normal()
	if err != nil || !validText(q.Package) {
		return nil, err
	}
	var out []baseline.ANRRun
	err = s.read(ctx, func(tx pgx.Tx) (err error) {
		out, err = anrs(ctx, tx, q)
		return err
	})
	if errors.Is(err, baseline.ErrDamaged) {
		return baseline.ANRsFromRecords(s.Export(ctx, baseline.Filter{Package: q.Package}), q, err)
	}
	if err != nil {
		return nil, s.wrap("find ANRs in", err)
	}
	return out, nil
}

func anrs(ctx context.Context, tx pgx.Tx, q baseline.ANRQuery) ([]baseline.ANRRun, error) {
	rows, err := tx.Query(ctx, `SELECT r.id, r.started, r.session, s.scenario, r.version, r.revision, r.state, r.anrs
		FROM apkgate.runs r JOIN apkgate.subjects s ON s.id = r.subject
		WHERE s.package = $1 AND r.anrs IS NOT NULL ORDER BY r.started DESC, r.id DESC LIMIT $2`, toText(q.Package), q.Limit)
	if err != nil {
		return nil, err
	}
	var out []baseline.ANRRun
	var a baseline.ANRRun
	var started, state string
	var packed []byte
	_, err = pgx.ForEachRow(rows, []any{&a.ID, &started, &a.Session, &a.Scenario, &a.Version, &a.Commit, &state, &packed}, func() (err error) {
		for _, text := range []*string{&a.ID, &a.Session, &a.Scenario, &a.Version, &a.Commit} {
			*text = fromText(*text)
		}
		a.State = baseline.State(state)
		if a.Started, err = records.ParseStamp(started); err != nil {
			return err
		}
		if a.ANRs, err = records.ANRsIn(packed); err != nil {
			return fmt.Errorf("run %q: %w", a.ID, err)
		}
		out = append(out, a)
		return nil
	})
	return out, err
}
