package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// DefaultLimit is how many references a query returns where it names no limit.
const DefaultLimit = 10_000

// MaxCommits is how many commits a query may name.
const MaxCommits = 1_000

// Query asks for the references of a new run: accepted and complete runs of the
// same app package and scenario. They come nearest context first, where nearer
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

// Summarize sums a run up as stores do: by the built-in catalogue, with the
// start in UTC.
func Summarize(r run.Run, centre run.Centre) run.Summary {
	s := run.Summarize(r, centre, builtin)
	s.Started = s.Started.UTC()
	return s
}

// FromRuns answers the query from runs that all count as accepted. Runs that
// are not complete are passed over, repeated ones count once.
func FromRuns(runs []run.Run, q Query) ([]run.Summary, error) {
	s, err := NewSelector(q)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if err := s.Add(r); err != nil {
			return nil, err
		}
	}
	return s.Summaries(), nil
}

// Selector answers a query from runs that pass by one at a time, such as those
// of ReadJSONL. It holds on to at most twice the query's limit of summaries.
type Selector struct {
	query    Query
	ranks    map[string]int // of commits
	chosen   []candidate
	digestOf map[string]string // by id
}

type candidate struct {
	similarity int
	rank       int // of its commit
	summary    run.Summary
}

// NewSelector starts an answer to the query.
func NewSelector(q Query) (*Selector, error) {
	q, err := q.Normal()
	if err != nil {
		return nil, err
	}
	return &Selector{query: q, ranks: q.Ranks(), digestOf: map[string]string{}}, nil
}

// Add considers a run, which counts as accepted.
func (s *Selector) Add(r run.Run) error {
	if r.App.Package != s.query.Package || r.Scenario != s.query.Scenario || r.Status != run.Complete {
		return nil
	}
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	if r.ID == "" {
		r.ID = digest[:16]
	}
	switch other, known := s.digestOf[r.ID]; {
	case known && other != digest:
		return fmt.Errorf("run %q: %w", r.ID, ErrConflict)
	case known:
		return nil
	}
	s.digestOf[r.ID] = digest
	s.choose(Summarize(r, s.query.Centre), r.Source.Commit)
	return nil
}

func (s *Selector) choose(summary run.Summary, commit string) {
	rank, ok := s.ranks[commit]
	if !ok {
		rank = len(s.query.Commits)
	}
	s.chosen = append(s.chosen, candidate{devctx.Shared(s.query.Context, summary.Context, s.query.Use), rank, summary})
	if len(s.chosen) >= 2*s.query.Limit {
		s.cut()
	}
}

// Summaries are the references among the runs seen so far, in the query's order.
func (s *Selector) Summaries() []run.Summary {
	s.cut()
	out := make([]run.Summary, len(s.chosen))
	for i, c := range s.chosen {
		out[i] = c.summary
	}
	return out
}

func (s *Selector) cut() {
	slices.SortFunc(s.chosen, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(b.similarity, a.similarity),
			cmp.Compare(a.rank, b.rank),
			b.summary.Started.Compare(a.summary.Started),
			strings.Compare(b.summary.ID, a.summary.ID),
		)
	})
	if len(s.chosen) > s.query.Limit {
		clear(s.chosen[s.query.Limit:])
		s.chosen = s.chosen[:s.query.Limit]
	}
}
