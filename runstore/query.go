package runstore

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

// Query selects the references of a new run: accepted and complete runs of the same app package and
// scenario that are comparable with it (devctx.Comparable). They are sorted by nearest context,
// where nearer means more equal properties (paper, section 5.3.1), then by nearest commit where
// commits are named, then newest first, then by id, highest first.
type Query struct {
	Package  string
	Scenario string
	Context  map[string]string // the new run's
	Use      []string          // names of the properties that count; nil: all
	Centre   run.Centre        // how iterations are summarized; "": run.Median
	Limit    int               // maximum number; 0: DefaultLimit
	// Commits are the commits whose runs come first among equally near contexts, nearest commit
	// first: for a pull request its merge base, then earlier ones on the base branch. At most
	// MaxCommits.
	Commits []string
}

// For returns the query for the references of r. The answer is the same for all runs of one
// context: it may include r itself, which the gate ignores.
func For(r run.Run) Query {
	return Query{Package: r.App.Package, Scenario: r.Scenario, Context: r.Context}
}

// Normal returns the query with its defaults filled in, or an error where it is invalid.
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

// Ranks returns the commits with their indexes in the query's order. A commit that is not among
// them has the rank len(q.Commits).
func (q Query) Ranks() map[string]int {
	ranks := make(map[string]int, len(q.Commits))
	for i, commit := range q.Commits {
		if _, twice := ranks[commit]; !twice && commit != "" {
			ranks[commit] = i
		}
	}
	return ranks
}

// Properties returns the properties of the new run's context that count, as the gate counts them.
func (q Query) Properties() map[string]string { return devctx.Only(q.Context, q.Use) }

// builtin is created once, as a history summarizes many runs.
var builtin = metric.Default()

// catalogueOf returns the built-in catalogue with the metrics that the run declares, which
// determines on which scale their repetitions are summarized.
func catalogueOf(r run.Run) *metric.Catalogue {
	if known, err := run.Catalogue(builtin, r); err == nil {
		return known
	}
	return builtin
}

// Summarize summarizes a run as stores do: by the built-in catalogue and the run's declarations,
// with the start in UTC.
func Summarize(r run.Run, centre run.Centre) run.Summary {
	s := run.Summarize(r, centre, catalogueOf(r))
	s.Started = s.Started.UTC()
	return s
}

// Cells returns a run's cells by either centre, as stores keep them.
func Cells(r run.Run) (median, mean run.Cells) {
	s := run.SummarizeBy(r, catalogueOf(r), run.Median, run.Mean)
	return s[0].Cells, s[1].Cells
}
