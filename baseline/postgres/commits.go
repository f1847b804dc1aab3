package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

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
	var commits, heads []string
	for commit := range ranks {
		if validText(commit) {
			text := toText(commit)
			commits, heads = append(commits, text), append(heads, firstRunes(text, 64))
		}
	}
	if len(commits) == 0 {
		return nil
	}
	rows, err := sc.tx.Query(ctx, `SELECT number, context, revision, started, id, session FROM apkgate.runs
		WHERE subject = $1 AND "left"(revision, 64) = ANY($2) AND revision <> '' AND revision = ANY($3) AND reference AND started >= $4`,
		sc.subject, heads, commits, sc.since)
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

// firstRunes is what PostgreSQL's left gives.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
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
	rows, err := sc.tx.Query(ctx, "SELECT number, "+sc.column+", repeated FROM apkgate.runs WHERE number = ANY($1)", numbers)
	if err != nil {
		return err
	}
	found := map[int64]kept{}
	var number int64
	var k kept
	if _, err := pgx.ForEachRow(rows, []any{&number, &k.cells, &k.repeated}, func() error {
		found[number] = kept{slices.Clone(k.cells), slices.Clone(k.repeated)}
		return nil
	}); err != nil {
		return err
	}
	for _, n := range list {
		var summary run.Summary
		if summary, err = sc.summary(ctx, n.started, found[n.number]); err != nil {
			return err
		}
		summary.ID, summary.Session, summary.Commit, summary.Context = n.id, n.session, n.commit, sc.contexts[n.context]
		sc.out = append(sc.out, summary)
	}
	return nil
}
