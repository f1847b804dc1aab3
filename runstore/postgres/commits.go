package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// readNear finds the subject's references of the query's commits, by context.
func (sc *scanner) readNear(ctx context.Context) error {
	ranks := sc.query.Ranks()
	var commits []string
	for commit := range ranks {
		if validText(commit) {
			commits = append(commits, toText(commit))
		}
	}
	if len(commits) == 0 {
		return nil
	}
	rows, err := sc.tx.Query(ctx, `SELECT r.number, r.context, r.revision, r.started, r.id, r.session
		FROM unnest($2::text[]) AS of(revision) CROSS JOIN LATERAL (
			SELECT * FROM apkgate.runs WHERE revision = of.revision AND revision <> '' OFFSET 0) r
		WHERE r.subject = $1 AND r.reference AND r.started >= $3`,
		sc.subject, commits, sc.since)
	if err != nil {
		return err
	}
	var n records.Near
	var commit string
	_, err = pgx.ForEachRow(rows, []any{&n.Number, &n.Context, &commit, &n.Started, &n.ID, &n.Session}, func() error {
		n.ID, n.Session, n.Commit = fromText(n.ID), fromText(n.Session), fromText(commit)
		n.Rank = ranks[n.Commit]
		sc.near.Add(n)
		return nil
	})
	return err
}

// nearest appends the references of the query's commits in contexts that are
// equally similar, up to the query's limit.
func (sc *scanner) nearest(ctx context.Context, contexts []int64) error {
	list := sc.near.In(contexts, sc.query.Limit-len(sc.out))
	if len(list) == 0 {
		return nil
	}
	numbers := make([]int64, len(list))
	for i, n := range list {
		numbers[i] = n.Number
	}
	rows, err := sc.tx.Query(ctx, "SELECT number, derived, "+sc.column+", repeated FROM apkgate.runs WHERE number = ANY($1)", numbers)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k kept, err error) {
		return k, row.Scan(&k.number, &k.derived, &k.cells, &k.repeated)
	})
	if err != nil {
		return err
	}
	cells, err := sc.cellsOf(ctx, found)
	if err != nil {
		return err
	}
	for _, n := range list {
		summary := run.Summary{Cells: cells[n.Number]}
		if summary.Started, err = records.ParseStamp(n.Started); err != nil {
			return err
		}
		summary.ID, summary.Session, summary.Commit, summary.Context = n.ID, n.Session, n.Commit, sc.contexts[n.Context]
		sc.out = append(sc.out, summary)
	}
	return nil
}
