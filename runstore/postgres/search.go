package postgres

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// search is a filter as SQL. It determines the index by which runs are found, so that no plan
// depends on the server's estimates: with a hundred rows of a commit among a million, the
// statistics may be a day old.
type search struct {
	where      []string // conditions on a run r
	args       []any
	by         string // the column whose values are looked up one by one; "" for all runs of the tenant
	values     string // the argument with these values
	few        bool   // the conditions select so few runs that they are sorted afterwards
	impossible bool   // no run can match
}

// mostLooked is the maximum number of values that are looked up one by one, as each reads a page of
// runs.
const mostLooked = 64

// add adds a condition; each ? in it becomes the next argument.
func (q *search) add(condition string, values ...any) {
	for _, v := range values {
		condition = strings.Replace(condition, "?", q.arg(v), 1)
	}
	q.where = append(q.where, condition)
}

func (q *search) arg(v any) string {
	q.args = append(q.args, v)
	return fmt.Sprintf("$%d", len(q.args))
}

// among adds that a column has one of the values, which are looked up one by one where they are few
// and no other lookup is set.
func among[T any](q *search, column, kind string, values []T) {
	q.impossible = q.impossible || len(values) == 0
	if q.by != "" || q.few || len(values) > mostLooked {
		q.add("r."+column+" = ANY(?)", values)
		return
	}
	q.by, q.values = column, q.arg(values)+"::"+kind+"[]"
	q.where = append(q.where, "r."+column+" = of.value")
}

// newSearch returns the filter as SQL. A text that the database can't contain matches nothing.
func newSearch(ctx context.Context, tx pgx.Tx, f runstore.Filter) (q search, err error) {
	q.where = []string{ours}
	text := func(s string) string {
		q.impossible = q.impossible || !validText(s)
		return toText(s)
	}
	if f.IDs != nil {
		ids := []string{}
		for _, id := range f.IDs {
			if validText(id) {
				ids = append(ids, toText(id))
			}
		}
		q.few = true
		q.add("r.id = ANY(?)", ids)
	}
	for _, exact := range []struct{ column, value string }{{"session", f.Session}, {"revision", f.Commit}} {
		if exact.value != "" {
			q.few = true
			q.add("r."+exact.column+" = ? AND r."+exact.column+" <> ''", text(exact.value))
		}
	}
	if f.Status != "" {
		q.add("r.status = ?", text(string(f.Status)))
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
	if q.impossible {
		return q, nil
	}
	return q, q.lookUp(ctx, tx, f)
}

// lookUp adds the ids from other tables: the filter's subjects and contexts; and its states.
func (q *search) lookUp(ctx context.Context, tx pgx.Tx, f runstore.Filter) error {
	if f.Package != "" || f.Scenario != "" {
		subjects, err := subjectsOf(ctx, tx, f.Package, f.Scenario)
		if err != nil {
			return err
		}
		among(q, "subject", "bigint", subjects)
	}
	if len(f.Where) > 0 {
		contexts, err := contextsWith(ctx, tx, f.Where)
		if err != nil {
			return err
		}
		among(q, "context", "bigint", contexts)
	}
	if f.States != nil {
		states := []string{}
		for _, state := range f.States {
			if validText(string(state)) {
				states = append(states, toText(string(state)))
			}
		}
		among(q, "state", "text", states)
	}
	return nil
}

// source returns the query of the runs in that order, at most so many. The columns of summaries and
// records are not read.
func (q *search) source(order string, limit int) string {
	one := "SELECT r.* FROM apkgate.runs r WHERE " + strings.Join(q.where, " AND ")
	end := fmt.Sprintf("%s LIMIT %s", order, q.arg(limit))
	switch {
	case q.few:
		return "SELECT r.* FROM (" + one + " OFFSET 0) r " + end
	case q.by != "":
		return "SELECT r.* FROM (SELECT DISTINCT value FROM unnest(" + q.values + ") AS value) of CROSS JOIN LATERAL (" + one + " " + end + ") r " + end
	}
	return one + " " + end
}

// subjectsOf returns the subjects of an app, of a scenario, or of both; "" is any.
func subjectsOf(ctx context.Context, tx pgx.Tx, pkg, scenario string) ([]int64, error) {
	if !validText(pkg) || !validText(scenario) {
		return nil, nil
	}
	var q search
	q.add(ours)
	if pkg != "" {
		q.add("package = ?", toText(pkg))
	}
	if scenario != "" {
		q.add("scenario = ?", toText(scenario))
	}
	rows, err := tx.Query(ctx, "SELECT id FROM apkgate.subjects WHERE "+strings.Join(q.where, " AND "), q.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// contextsWith returns the contexts with those properties.
func contextsWith(ctx context.Context, tx pgx.Tx, properties map[string]string) ([]int64, error) {
	var q search
	q.add(ours)
	for name, value := range properties {
		if !validText(name) || !validText(value) {
			return nil, nil
		}
		q.add("EXISTS (SELECT FROM unnest(names, values) AS p(name, value) WHERE p.name = ? AND p.value = ?)", toText(name), toText(value))
	}
	rows, err := tx.Query(ctx, "SELECT id FROM apkgate.contexts WHERE "+strings.Join(q.where, " AND "), q.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// validText reports whether the database could contain the text.
func validText(s string) bool { return utf8.ValidString(s) }
