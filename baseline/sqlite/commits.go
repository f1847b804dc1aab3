package sqlite

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/baseline/sqlite/prepared"
	"github.com/apkgate/apkgate/run"
)

// near is a reference of one of the commits that a query names.
type near struct {
	context     int64
	rank        int // of its commit, the nearest is 0
	started, id string
}

// readNear finds the subject's references of the query's commits, by context.
func (sc *scanner) readNear(ctx context.Context, tx *prepared.Tx) error {
	sc.near, sc.isNear = map[int64][]near{}, map[string]bool{}
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
		n := near{rank: rank}
		if err := rows.Scan(&n.context, &n.started, &n.id); err != nil {
			return err
		}
		sc.isNear[n.id] = true
		sc.near[n.context] = append(sc.near[n.context], n)
	}
	return rows.Err()
}

// nearest appends the references of the query's commits in contexts that are
// equally similar, up to the query's limit.
func (sc *scanner) nearest(ctx context.Context, out []run.Summary, contexts []ranked) ([]run.Summary, error) {
	var list []near
	for _, c := range contexts {
		list = append(list, sc.near[c.context]...)
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.started, a.started), cmp.Compare(b.id, a.id))
	})
	for _, n := range list[:min(len(list), sc.query.Limit-len(out))] {
		s, err := sc.one(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// one reads one summary.
func (sc *scanner) one(ctx context.Context, n near) (run.Summary, error) {
	properties, err := sc.names.Properties(ctx, n.context)
	if err != nil {
		return run.Summary{}, err
	}
	rows, err := sc.exact.QueryContext(ctx, sc.subject, n.context, n.started, n.id)
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
	return sc.summary(ctx, n.context, records.Cursor{Started: n.started, ID: n.id}, properties)
}

var errNoSummary = errors.New("a run that counts as accepted has no summary")
