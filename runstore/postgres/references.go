package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// References implements runstore.Store. It ranks the distinct contexts of the
// app and scenario, which are few, and reads summaries from the most similar
// contexts on until there are enough; no record is opened.
func (s *Store) References(ctx context.Context, q runstore.Query) ([]run.Summary, error) {
	q, err := q.Normal()
	if err != nil {
		return nil, err
	}
	var out []run.Summary
	err = s.read(ctx, func(tx pgx.Tx) (err error) {
		out, err = s.references(ctx, tx, q)
		return err
	})
	if errors.Is(err, runstore.ErrDamaged) {
		return runstore.FromRecords(ctx, s, q, err)
	}
	if err != nil {
		return nil, s.wrap("find references in", err)
	}
	return out, nil
}

func (s *Store) references(ctx context.Context, tx pgx.Tx, q runstore.Query) ([]run.Summary, error) {
	sc := scanner{store: s, tx: tx, query: q, column: "median", out: []run.Summary{}}
	if q.Centre == run.Mean {
		sc.column = "mean"
	}
	k := subjectKey(q.Package, q.Scenario)
	err := tx.QueryRow(ctx, `SELECT id, coalesce((SELECT max(since) FROM apkgate.runs WHERE subject = s.id AND state = 'rebaselined'), '')
		FROM apkgate.subjects s WHERE `+ours+` AND key = $1`, k.sum[:]).Scan(&sc.subject, &sc.since)
	if errors.Is(err, pgx.ErrNoRows) {
		return sc.out, nil
	}
	if err != nil {
		return nil, err
	}
	contexts, err := sc.rankContexts(ctx)
	if err != nil {
		return nil, err
	}
	if err := sc.readNear(ctx); err != nil {
		return nil, err
	}
	for _, cluster := range records.Clusters(contexts) {
		if len(sc.out) == q.Limit {
			break
		}
		if err := sc.cluster(ctx, cluster); err != nil {
			return nil, err
		}
	}
	return sc.out, nil
}

// scanner reads the summaries of a subject's references context by context.
type scanner struct {
	store    *Store
	tx       pgx.Tx
	query    runstore.Query
	column   string // of the summaries: median or mean
	subject  int64
	since    string // the start of the subject's present level
	contexts map[int64]map[string]string
	near     records.NearRuns
	out      []run.Summary
	cells    records.CellReader
}

// rankContexts returns the contexts that the subject's references have and that can
// be compared with the new run's. The recursion finds each with one step into the index,
// however many runs share it.
func (sc *scanner) rankContexts(ctx context.Context) ([]records.Ranked, error) {
	rows, err := sc.tx.Query(ctx, `
		WITH RECURSIVE seen(context) AS (
			(SELECT context FROM apkgate.runs WHERE subject = $1 AND reference ORDER BY context LIMIT 1)
			UNION ALL
			SELECT (SELECT r.context FROM apkgate.runs r WHERE r.subject = $1 AND r.reference AND r.context > seen.context
				ORDER BY r.context LIMIT 1)
			FROM seen WHERE seen.context IS NOT NULL)
		SELECT context FROM seen WHERE context IS NOT NULL`, sc.subject)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	if sc.contexts, err = sc.store.loadContexts(ctx, sc.tx, ids); err != nil {
		return nil, err
	}
	var out []records.Ranked
	for _, id := range ids {
		if properties := sc.contexts[id]; devctx.Comparable(sc.query.Context, properties) {
			out = append(out, records.Ranked{Context: id, Similarity: devctx.Shared(sc.query.Context, properties, sc.query.Use)})
		}
	}
	return out, nil
}

// A lane is read in pieces: at least smallPiece, to amortize a query; at most largePiece, to limit
// memory.
const (
	smallPiece = 16
	largePiece = 2_000
)

// cluster appends the references of contexts that are equally similar: first
// those of the query's commits, then newest first over all of them, up to the
// query's limit.
func (sc *scanner) cluster(ctx context.Context, contexts []int64) error {
	if err := sc.nearest(ctx, contexts); err != nil {
		return err
	}
	need := sc.query.Limit - len(sc.out)
	if need == 0 {
		return nil
	}
	size := min(max(need/len(contexts)*5/4, smallPiece), largePiece)
	var err error
	sc.out, err = records.Merge(sc.out, sc.query.Limit, contexts, func(lanes ...*records.Lane) error {
		return sc.readPieces(ctx, lanes, size)
	})
	return err
}

// readPieces reads the next piece of each lane with one query.
func (sc *scanner) readPieces(ctx context.Context, lanes []*records.Lane, size int) error {
	var contexts []int64
	var started, ids []string
	byContext := map[int64]*records.Lane{}
	for _, l := range lanes {
		contexts, started, ids = append(contexts, l.Context), append(started, l.After.Started), append(ids, l.After.ID)
		byContext[l.Context] = l
		l.Done = true // unless its piece turns out to be full
	}
	rows, err := sc.tx.Query(ctx, `
		SELECT l.context, p.started, p.id, p.session, p.revision, p.number, p.derived, p.cells, p.repeated
		FROM unnest($2::bigint[], $3::text[], $4::text[]) AS l(context, started, id)
		CROSS JOIN LATERAL (
			SELECT r.started, r.id, r.session, r.revision, r.number, r.derived, r.`+sc.column+` AS cells, r.repeated FROM apkgate.runs r
			WHERE r.subject = $1 AND r.context = l.context AND r.reference AND (r.started, r.id) < (l.started, l.id) AND r.started >= $5
			ORDER BY r.started DESC, r.id DESC LIMIT $6) p`,
		sc.subject, contexts, started, ids, sc.since, size)
	if err != nil {
		return err
	}
	type found struct {
		context                        int64
		started, id, session, revision string
		kept                           kept
	}
	var summaries []kept
	read, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f found, err error) {
		err = row.Scan(&f.context, &f.started, &f.id, &f.session, &f.revision, &f.kept.number, &f.kept.derived, &f.kept.cells, &f.kept.repeated)
		summaries = append(summaries, f.kept)
		return f, err
	})
	if err != nil {
		return err
	}
	cells, err := sc.cellsOf(ctx, summaries)
	if err != nil {
		return err
	}
	count := map[int64]int{}
	for _, f := range read {
		l := byContext[f.context]
		l.After = records.Cursor{Started: f.started, ID: f.id}
		if count[f.context]++; count[f.context] == size {
			l.Done = false
		}
		id, session := fromText(f.id), fromText(f.session)
		if sc.near.Has(id) {
			continue
		}
		summary := run.Summary{Cells: cells[f.kept.number]}
		if summary.Started, err = records.ParseStamp(f.started); err != nil {
			return err
		}
		summary.ID, summary.Session, summary.Commit, summary.Context = id, session, fromText(f.revision), sc.contexts[f.context]
		l.Read = append(l.Read, summary)
	}
	return nil
}

// kept is a run's summary as stored in the database, and the version of its rules.
type kept struct {
	number          int64
	derived         int
	cells, repeated []byte
}

// cellsOf returns the summaries by number: decoded, or for other rules derived from the records.
func (sc *scanner) cellsOf(ctx context.Context, list []kept) (map[int64]run.Cells, error) {
	var others []int64
	var packed [][]byte
	for _, k := range list {
		if k.derived != derivation {
			others = append(others, k.number)
		} else {
			packed = append(packed, k.cells)
		}
	}
	out, err := sc.anew(ctx, others)
	if err != nil {
		return nil, err
	}
	names, err := sc.store.nameCells(ctx, sc.tx, packed...)
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		if k.derived != derivation {
			continue
		}
		if out[k.number], err = sc.cells.Read(k.cells, k.repeated, nameIn(names)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
