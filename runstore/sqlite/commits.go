package sqlite

import (
	"cmp"
	"context"
	"errors"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// readNear finds the subject's references of the query's commits, by context.
func (sc *scanner) readNear(ctx context.Context, tx *prepared.Tx) error {
	for commit, rank := range sc.query.Ranks() {
		if err := sc.readCommit(ctx, tx, commit, rank); err != nil {
			return err
		}
	}
	return nil
}

func (sc *scanner) readCommit(ctx context.Context, tx *prepared.Tx, commit string, rank int) error {
	rows, err := tx.QueryContext(ctx, `SELECT context, started, id FROM runs
		WHERE subject = ? AND revision = ? AND revision <> '' AND state IN ('accepted', 'rebaselined') AND started >= ?`,
		sc.subject, commit, sc.since)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		n := records.Near{Rank: rank}
		if err := rows.Scan(&n.Context, &n.Started, &n.ID); err != nil {
			return err
		}
		sc.near.Add(n)
	}
	return rows.Err()
}

// nearest appends the references of the query's commits in contexts that are
// equally similar, up to the query's limit.
func (sc *scanner) nearest(ctx context.Context, out []run.Summary, contexts []int64) ([]run.Summary, error) {
	for _, n := range sc.near.In(contexts, sc.query.Limit-len(out)) {
		s, err := sc.one(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// one reads one summary.
func (sc *scanner) one(ctx context.Context, n records.Near) (run.Summary, error) {
	properties, err := sc.names.Properties(ctx, n.Context)
	if err != nil {
		return run.Summary{}, err
	}
	rows, err := sc.exact.QueryContext(ctx, sc.subject, n.Context, n.Started, n.ID)
	if err != nil {
		return run.Summary{}, err
	}
	defer rows.Close()
	if !rows.Next() {
		return run.Summary{}, cmp.Or(rows.Err(), records.Damaged(errNoSummary))
	}
	if err := rows.Scan(&sc.kept.session, &sc.kept.revision, &sc.kept.cells, &sc.kept.repeated); err != nil {
		return run.Summary{}, err
	}
	return sc.summary(ctx, n.Context, records.Cursor{Started: n.Started, ID: n.ID}, properties)
}

var errNoSummary = errors.New("a run that counts as accepted has no summary")
