package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/run"
)

// near is a reference of one of the commits that a query names.
type near struct {
	number, context              int64
	rank                         int // of its commit, the nearest is 0
	started, id, session, commit string
}

// readNear finds the subject's references of the query's commits, by context.
func (sc *scanner) readNear(ctx context.Context) error {
	sc.near, sc.isNear = map[int64][]near{}, map[string]bool{}
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
	var n near
	var commit string
	_, err = pgx.ForEachRow(rows, []any{&n.number, &n.context, &commit, &n.started, &n.id, &n.session}, func() error {
		n.id, n.session, n.commit = fromText(n.id), fromText(n.session), fromText(commit)
		n.rank = ranks[n.commit]
		sc.isNear[n.id] = true
		sc.near[n.context] = append(sc.near[n.context], n)
		return nil
	})
	return err
}

// nearest appends the references of the query's commits in contexts that are
// equally similar, up to the query's limit.
func (sc *scanner) nearest(ctx context.Context, contexts []ranked) error {
	var list []near
	for _, c := range contexts {
		list = append(list, sc.near[c.context]...)
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.started, a.started), cmp.Compare(b.id, a.id))
	})
	list = list[:min(len(list), sc.query.Limit-len(sc.out))]
	if len(list) == 0 {
		return nil
	}
	numbers := make([]int64, len(list))
	for i, n := range list {
		numbers[i] = n.number
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
		summary := run.Summary{Cells: cells[n.number]}
		if summary.Started, err = records.ParseStamp(n.started); err != nil {
			return err
		}
		summary.ID, summary.Session, summary.Commit, summary.Context = n.id, n.session, n.commit, sc.contexts[n.context]
		sc.out = append(sc.out, summary)
	}
	return nil
}
