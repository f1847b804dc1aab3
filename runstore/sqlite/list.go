package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/sqlite/summaries"
)

// page is how many rows are read in one transaction, so that a slow consumer holds none open.
const page = 256

// List implements runstore.Store.
func (s *Store) List(ctx context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return s.entries(ctx, f, true)
}

// Export implements runstore.Store. A run that has been pruned in the meantime is left out. The
// pages of a file whose structure is damaged are read one by one.
func (s *Store) Export(ctx context.Context, f runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		switch err := s.whole(ctx, f.IDs == nil && f.Limit == 0); {
		case isDamage(err):
			s.salvagedEntries(ctx, f, false, err)(yield)
		case err != nil:
			yield(runstore.Entry{}, s.wrap("export", err))
		default:
			s.export(ctx, f, yield)
		}
	}
}

// export reads what the filter lets through. Runs that can't be read so, though
// their record may be sound, are looked for page by page and come last.
func (s *Store) export(ctx context.Context, f runstore.Filter, yield func(runstore.Entry, error) bool) {
	var hidden []string
	n := 0
	for e, err := range records.Export(ctx, s, s.entries(ctx, f, false)) {
		var damaged *runstore.DamagedRun
		isDamaged := errors.As(err, &damaged)
		if !yield(e, err) || err != nil && !isDamaged {
			return
		}
		if n++; isDamaged && damaged.ID != "" {
			hidden = append(hidden, damaged.ID)
		}
	}
	if len(hidden) == 0 || n == f.Limit {
		return
	}
	f.IDs = hidden
	for e, err := range s.salvagedEntries(ctx, f, false, nil) {
		var damaged *runstore.DamagedRun
		if errors.As(err, &damaged) {
			continue // already reported
		}
		if !yield(e, err) || err != nil {
			return
		}
	}
}

// entries reads what the filter lets through. Where a page of the list can't be
// read, it goes on with what is sound.
func (s *Store) entries(ctx context.Context, f runstore.Filter, newestFirst bool) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		if err := s.listable(ctx); isDamage(err) {
			s.listRest(ctx, f, newestFirst, err, runstore.Entry{}, yield)
			return
		}
		var last runstore.Entry
		n := 0
		for e, err := range s.pages(ctx, f, newestFirst) {
			if isDamage(err) {
				if f.Limit > 0 {
					f.Limit -= n
				}
				s.listRest(ctx, f, newestFirst, err, last, yield)
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
			last, n = e, n+1
		}
	}
}

// listRest goes on with the sound runs that come after the last one, the zero
// Entry for none.
func (s *Store) listRest(ctx context.Context, f runstore.Filter, newestFirst bool, why error, last runstore.Entry, yield func(runstore.Entry, error) bool) {
	limit := f.Limit
	f.Limit = 0
	n := 0
	for e, err := range s.salvagedEntries(ctx, f, newestFirst, why) {
		if err == nil && last.Run.ID != "" && (e.Run.ID == last.Run.ID || (inOrder(e, last) > 0) == newestFirst) {
			continue
		}
		e.Run = e.Run.Listed()
		if !yield(e, err) {
			return
		}
		if err == nil {
			if n++; n == limit {
				return
			}
		}
	}
}

// inOrder compares runs by their start and id.
func inOrder(a, b runstore.Entry) int {
	return cmp.Or(a.Run.Started.Compare(b.Run.Started), cmp.Compare(a.Run.ID, b.Run.ID))
}

// pages reads what the filter lets through page by page.
func (s *Store) pages(ctx context.Context, f runstore.Filter, newestFirst bool) iter.Seq2[runstore.Entry, error] {
	return records.List(f.Limit, page, func(after *records.Cursor, n int) (found []runstore.Entry, err error) {
		err = s.read(ctx, func(tx *prepared.Tx) (err error) {
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
func (s *Store) listPage(ctx context.Context, tx *prepared.Tx, f runstore.Filter, newestFirst bool, after *records.Cursor, limit int) ([]runstore.Entry, error) {
	where, args := conditions(f)
	order, than := "ASC", ">"
	if newestFirst {
		order, than = "DESC", "<"
	}
	if after != nil {
		where = append(where, "(started, r.id) "+than+" (?, ?)")
		args = append(args, after.Started, after.ID)
	}
	rows, err := selectRows(ctx, tx, fmt.Sprintf("WHERE %s ORDER BY started %s, r.id %s LIMIT ?",
		strings.Join(where, " AND "), order, order), append(args, limit)...)
	if err != nil {
		return nil, err
	}
	out, err := complete(ctx, tx, interning.NewReader(tx), rows)
	for i := range out {
		if err := s.addSaid(ctx, tx, rows[i].number, &out[i].Run); err != nil {
			return nil, err
		}
	}
	return out, err
}

// selectEntries reads the runs selected by the end of the query, without what is only in their
// records and without outcomes.
func selectEntries(ctx context.Context, tx *prepared.Tx, names *interning.Reader, where string, args ...any) ([]runstore.Entry, error) {
	rows, err := selectRows(ctx, tx, where, args...)
	if err != nil {
		return nil, err
	}
	return complete(ctx, tx, names, rows)
}

func selectRows(ctx context.Context, tx *prepared.Tx, where string, args ...any) ([]row, error) {
	rows, err := tx.QueryContext(ctx, `SELECT number, r.id, digest, package, scenario, context, started, session, status,
			version, build, repository, revision, ref, iterations, added, started < `+levelOf+`
		FROM runs r JOIN subjects s ON s.id = subject `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []row
	for rows.Next() {
		var r row
		if err := r.scan(rows); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// levelOf is the start of the level of a run r, "" where there is none.
const levelOf = "(SELECT coalesce(max(l.since), '') FROM runs l WHERE l.subject = r.subject AND l.state = 'rebaselined')"

// conditions returns the filter as SQL; the first condition is always there.
func conditions(f runstore.Filter) (where []string, args []any) {
	where = []string{"true"}
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	for column, value := range map[string]string{
		"package": f.Package, "scenario": f.Scenario, "session": f.Session,
		"revision": f.Commit, "status": string(f.Status),
	} {
		if value != "" {
			add(column+" = ?", value)
		}
	}
	if !f.From.IsZero() {
		add("started >= ?", records.Stamp(f.From))
	}
	if !f.Until.IsZero() {
		add("started < ?", records.Stamp(f.Until))
	}
	if f.Level {
		add("started >= " + levelOf)
	}
	switch {
	case f.States == nil:
	case len(f.States) == 0:
		add("false")
	case len(f.States) == 1: // in order by the index of states
		add("state = ?", f.States[0])
	default: // in order by the index of starts: "+" keeps SQLite from collecting and sorting
		add("+state IN ("+interning.Holders(len(f.States))+")", interning.Anys(f.States)...)
	}
	if f.IDs != nil {
		add("r.id IN ("+interning.Holders(len(f.IDs))+")", interning.Anys(f.IDs)...)
	}
	for name, value := range f.Where {
		add(`context IN (SELECT cp.context FROM context_properties cp JOIN properties p ON p.id = cp.property
			WHERE p.name = ? AND p.value = ?)`, name, value)
	}
	return where, args
}

// row is a run as read by List, before its context and mark are set.
type row struct {
	entry          runstore.Entry
	number         int64
	context        int64
	started, added string
}

func (r *row) scan(rows *sql.Rows) error {
	var digest []byte
	e := &r.entry
	err := rows.Scan(&r.number, &e.Run.ID, &digest, &e.Run.App.Package, &e.Run.Scenario, &r.context, &r.started,
		&e.Run.Session, &e.Run.Status, &e.Run.App.Version, &e.Run.App.Build,
		&e.Run.Source.Repository, &e.Run.Source.Commit, &e.Run.Source.Ref, &e.Iterations, &r.added, &e.Retired)
	if err != nil {
		return err
	}
	e.Run.Format, e.Digest = run.Format, hex.EncodeToString(digest)
	if e.Run.Started, err = records.ParseStamp(r.started); err != nil {
		return err
	}
	e.AddedAt, err = records.ParseStamp(r.added)
	return err
}

// complete sets the contexts and marks.
func complete(ctx context.Context, tx *prepared.Tx, names *interning.Reader, rows []row) ([]runstore.Entry, error) {
	out := make([]runstore.Entry, len(rows))
	for i, r := range rows {
		properties, err := names.Properties(ctx, r.context)
		if err != nil {
			return nil, err
		}
		r.entry.Run.Context = properties
		if r.entry.Mark, err = newestMark(ctx, tx, r.number); err != nil {
			return nil, err
		}
		out[i] = r.entry
	}
	return out, nil
}

// ANRs implements runstore.Store. The runs with ANRs have an index of their own, and ANRs are
// stored separately: no record is opened, unless something that it reads is damaged, or the file
// follows older rules and can't be updated.
func (s *Store) ANRs(ctx context.Context, q runstore.ANRQuery) ([]runstore.ANRRun, error) {
	q, err := q.Normal()
	if err != nil {
		return nil, err
	}
	var out []runstore.ANRRun
	switch err = s.whole(ctx, false); {
	case err != nil:
	case s.bare:
		out, err = runstore.ANRsFromRecords(s.Export(ctx, runstore.Filter{Package: q.Package}), q, nil)
		var incomplete *runstore.Incomplete
		if errors.As(err, &incomplete) {
			return out, err
		}
	default:
		err = s.read(ctx, func(tx *prepared.Tx) (err error) {
			out, err = anrs(ctx, tx, q)
			return err
		})
	}
	if isDamage(err) {
		return runstore.ANRsFromRecords(s.salvagedEntries(ctx, runstore.Filter{Package: q.Package}, true, nil), q, explain(err))
	}
	if err != nil {
		return nil, s.wrap("find ANRs in", err)
	}
	return out, nil
}

// selectANRs reads the runs with ANRs, newest first, by their own index.
const selectANRs = `SELECT subject, context, started, r.id, session, scenario, version, revision, state, anrs
	FROM runs r JOIN subjects s ON s.id = subject
	WHERE package = ? AND anrs IS NOT NULL ORDER BY started DESC, r.id DESC LIMIT ?`

func anrs(ctx context.Context, tx *prepared.Tx, q runstore.ANRQuery) ([]runstore.ANRRun, error) {
	rows, err := tx.QueryContext(ctx, selectANRs, q.Package, q.Limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []runstore.ANRRun
	var sealed sql.RawBytes
	for rows.Next() {
		var a runstore.ANRRun
		var p summaries.Place
		if err := rows.Scan(&p.Subject, &p.Context, &p.Started, &p.ID, &a.Session, &a.Scenario, &a.Version, &a.Commit, &a.State, &sealed); err != nil {
			return nil, err
		}
		a.ID = p.ID
		if a.Started, err = records.ParseStamp(p.Started); err != nil {
			return nil, err
		}
		packed, err := summaries.UnsealANRs(p, a.Session, a.Version, a.Commit, sealed)
		if err == nil {
			a.ANRs, err = records.ANRsIn(packed)
		}
		if err != nil {
			return nil, fmt.Errorf("run %q: %w", a.ID, err)
		}
		out = append(out, a)
	}
	return out, rows.Err()
}
