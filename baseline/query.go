package baseline

import (
	"fmt"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// DefaultLimit is how many references a query returns where it names no limit.
const DefaultLimit = 10_000

// MaxCommits is how many commits a query may name.
const MaxCommits = 1_000

// Query asks for the references of a new run: accepted and complete runs of the
// same app package and scenario that can be compared with it (devctx.Comparable).
// They come nearest context first, where nearer
// means more equal properties (paper, section 5.3.1), of equally near ones those
// of the nearest commit first where commits are named, then newest first, then by
// id from the highest.
type Query struct {
	Package  string
	Scenario string
	Context  map[string]string // the new run's
	Use      []string          // names of the properties that count; nil: all
	Centre   run.Centre        // how iterations are summed up; "": run.Median
	Limit    int               // at most so many; 0: DefaultLimit
	// Commits are the commits whose runs come first among equally near contexts,
	// the nearest commit first: of a pull request its merge base, then what came
	// before that on the base branch. At most MaxCommits.
	Commits []string
}

// For is the query for the references of r. The answer is the same for all runs
// of one context: it may hold r itself, and the gate leaves that out.
func For(r run.Run) Query {
	return Query{Package: r.App.Package, Scenario: r.Scenario, Context: r.Context}
}

// Normal returns the query with its defaults filled in, or says what is wrong with it.
func (q Query) Normal() (Query, error) {
	switch q.Centre {
	case "":
		q.Centre = run.Median
	case run.Median, run.Mean:
	default:
		return q, fmt.Errorf("centre is %q, want %q or %q", q.Centre, run.Median, run.Mean)
	}
	if len(q.Commits) > MaxCommits {
		return q, fmt.Errorf("the query names %d commits, at most %d are allowed", len(q.Commits), MaxCommits)
	}
	if q.Limit < 0 {
		return q, fmt.Errorf("limit is %d, want 0 (for %d) or more", q.Limit, DefaultLimit)
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	return q, nil
}

// Ranks are the commits with their places in the query's order. A commit that is
// not among them has the place len(q.Commits).
func (q Query) Ranks() map[string]int {
	ranks := make(map[string]int, len(q.Commits))
	for i, commit := range q.Commits {
		if _, twice := ranks[commit]; !twice && commit != "" {
			ranks[commit] = i
		}
	}
	return ranks
}

// Properties are the properties of the new run's context that count, as the
// gate counts them.
func (q Query) Properties() map[string]string { return devctx.Only(q.Context, q.Use) }

// builtin is made once: a history sums up as many runs as it is asked for.
var builtin = metric.Default()

// catalogueOf is the built-in catalogue with the metrics that the run declares, which
// says on which scale their repetitions are summed up.
func catalogueOf(r run.Run) *metric.Catalogue {
	if known, err := run.Catalogue(builtin, r); err == nil {
		return known
	}
	return builtin
}

// Summarize sums a run up as stores do: by the built-in catalogue and what the run
// declares, with the start in UTC.
func Summarize(r run.Run, centre run.Centre) run.Summary {
	s := run.Summarize(r, centre, catalogueOf(r))
	s.Started = s.Started.UTC()
	return s
}

// Cells are a run's cells by either centre, as stores keep them.
func Cells(r run.Run) (median, mean run.Cells) {
	s := run.SummarizeBy(r, catalogueOf(r), run.Median, run.Mean)
	return s[0].Cells, s[1].Cells
}
