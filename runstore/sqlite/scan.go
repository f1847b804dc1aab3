package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/interning"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/sqlite/summaries"
)

// scanner reads the summaries of a subject's references context by context.
type scanner struct {
	tx      *prepared.Tx
	stale   bool // derive summaries from records: the stored ones follow older rules
	query   runstore.Query
	subject int64
	since   string
	next    *sql.Stmt
	exact   *sql.Stmt
	near    records.NearRuns
	names   *interning.Reader
	started sql.RawBytes
	id      sql.RawBytes
	kept    kept
	cells   records.CellReader
	commits map[string]string // each once
}

// kept is a summary as stored in the file.
type kept struct{ session, revision, cells, repeated sql.RawBytes }

// columns returns those of kept. Older rules had other columns, which are not queried.
func (sc *scanner) columns() string {
	switch {
	case sc.stale:
		return "session, '', x'', x''"
	case sc.query.Centre == run.Mean:
		return "session, revision, mean, repeated"
	}
	return "session, revision, median, repeated"
}

func newScanner(ctx context.Context, tx *prepared.Tx, stale bool, subject int64, q runstore.Query) (*scanner, error) {
	since, err := level(ctx, tx, subject)
	if err != nil {
		return nil, err
	}
	sc := &scanner{tx: tx, stale: stale, query: q, subject: subject, since: since, names: interning.NewReader(tx), commits: map[string]string{}}
	if sc.next, err = tx.PrepareContext(ctx, `SELECT started, id, `+sc.columns()+` FROM summaries
		WHERE subject = ?1 AND reference = 1 AND context = ?2 AND (started, id) < (?3, ?4) AND started >= ?5
		ORDER BY started DESC, id DESC LIMIT ?6`); err != nil {
		return nil, err
	}
	if sc.exact, err = tx.PrepareContext(ctx, `SELECT `+sc.columns()+` FROM summaries
		WHERE subject = ? AND reference = 1 AND context = ? AND started = ? AND id = ?`); err != nil {
		return nil, errors.Join(err, sc.next.Close())
	}
	if len(q.Commits) == 0 {
		return sc, nil
	}
	if err := sc.readNear(ctx, tx); err != nil {
		sc.close()
		return nil, err
	}
	return sc, nil
}

func (sc *scanner) close() {
	sc.next.Close()
	sc.exact.Close()
}

// Pages of a lane: at least smallPage, to amortize a step into the index; at most largePage, to
// limit memory.
const (
	smallPage = 16
	largePage = 1024
)

// cluster appends the references of contexts that are equally similar: first
// those of the query's commits, then newest first over all of them, up to the
// query's limit.
func (sc *scanner) cluster(ctx context.Context, out []run.Summary, contexts []int64) ([]run.Summary, error) {
	out, err := sc.nearest(ctx, out, contexts)
	if err != nil {
		return nil, err
	}
	if len(contexts) > max(sc.query.Limit-len(out), manyContexts) {
		return sc.newest(ctx, out, contexts)
	}
	if err := sc.names.Load(ctx, contexts); err != nil {
		return nil, err
	}
	size := min(max((sc.query.Limit-len(out))/len(contexts), smallPage), largePage)
	return records.Merge(out, sc.query.Limit, contexts, func(lanes ...*records.Lane) error {
		for _, l := range lanes {
			if err := sc.readPage(ctx, l, size); err != nil {
				return err
			}
		}
		return nil
	})
}

// manyContexts is the number of contexts up to which each is read by a lane.
const manyContexts = 1_000

// newest appends the newest references of contexts of which there are more than
// references are wanted, as where each run has a property that no other has. It
// goes through the runs from the newest on, whatever their context.
func (sc *scanner) newest(ctx context.Context, out []run.Summary, contexts []int64) ([]run.Summary, error) {
	wanted := make(map[int64]bool, len(contexts))
	for _, c := range contexts {
		wanted[c] = true
	}
	// "+" keeps SQLite from collecting and sorting, as it does by the index of states.
	rows, err := sc.tx.QueryContext(ctx, `SELECT context, started, id FROM runs
		WHERE subject = ? AND +state IN ('accepted', 'rebaselined') AND started >= ? ORDER BY started DESC, id DESC`, sc.subject, sc.since)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []records.Near
	var ids []int64
	for len(out)+len(list) < sc.query.Limit && rows.Next() {
		var n records.Near
		if err := rows.Scan(&n.Context, &n.Started, &n.ID); err != nil {
			return nil, err
		}
		if wanted[n.Context] && !sc.near.Has(n.ID) {
			list, ids = append(list, n), append(ids, n.Context)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	slices.Sort(ids)
	if err := sc.names.Load(ctx, slices.Compact(ids)); err != nil {
		return nil, err
	}
	for _, n := range list {
		s, err := sc.one(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// readPage reads the next page of a lane that has nothing left.
func (sc *scanner) readPage(ctx context.Context, l *records.Lane, size int) error {
	l.Read = make([]run.Summary, 0, min(size, smallPage))
	properties, err := sc.names.Properties(ctx, l.Context)
	if err != nil {
		return err
	}
	rows, err := sc.next.QueryContext(ctx, sc.subject, l.Context, l.After.Started, l.After.ID, sc.since, size)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(&sc.started, &sc.id, &sc.kept.session, &sc.kept.revision, &sc.kept.cells, &sc.kept.repeated); err != nil {
			return err
		}
		l.After = records.Cursor{Started: string(sc.started), ID: string(sc.id)}
		if sc.near.Has(l.After.ID) {
			continue
		}
		s, err := sc.summary(ctx, l.Context, l.After, properties)
		if err != nil {
			return err
		}
		l.Read = append(l.Read, s)
	}
	l.Done = n < size
	return rows.Err()
}

// summary returns the one that the last Scan has read, in that context.
func (sc *scanner) summary(ctx context.Context, in int64, c records.Cursor, properties map[string]string) (run.Summary, error) {
	started, err := records.ParseStamp(c.Started)
	if err != nil {
		return run.Summary{}, err
	}
	out := run.Summary{ID: c.ID, Started: started, Session: string(sc.kept.session), Context: properties}
	if sc.stale {
		out.Commit, out.Cells, err = derived(ctx, sc.tx, c.ID, sc.query.Centre)
		return out, err
	}
	out.Commit = sc.commit()
	out.Cells, err = sc.readCells(ctx, summaries.Place{Subject: sc.subject, Context: in, Started: c.Started, ID: c.ID}, out)
	return out, err
}

// commit returns that of the last summary.
func (sc *scanner) commit() string {
	known, ok := sc.commits[string(sc.kept.revision)]
	if !ok {
		known = string(sc.kept.revision)
		sc.commits[known] = known
	}
	return known
}

// readCells unseals what the last Scan has read of the summary in that place.
func (sc *scanner) readCells(ctx context.Context, p summaries.Place, of run.Summary) (run.Cells, error) {
	cells, err := summaries.Unseal(p, of.Session, sc.kept.cells)
	if err != nil {
		return run.Cells{}, err
	}
	repeated, err := summaries.Unseal(p, of.Commit, sc.kept.repeated)
	if err != nil {
		return run.Cells{}, err
	}
	return sc.cells.Read(cells, repeated, func(id int64) (run.Cell, error) { return sc.names.Cell(ctx, id) })
}
