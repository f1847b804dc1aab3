package runstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
)

// MaxANRRuns is the largest limit of a query for ANRs, and its default.
const MaxANRRuns = 10_000

// ANRQuery selects the runs of an app with ANRs (run.ANR), in any state and of any scenario, newest
// first.
type ANRQuery struct {
	Package string
	Limit   int // maximum number of runs; 0: MaxANRRuns
}

// Normal returns the query with its defaults filled in, or an error where it is invalid.
func (q ANRQuery) Normal() (ANRQuery, error) {
	if q.Limit < 0 || q.Limit > MaxANRRuns {
		return q, fmt.Errorf("limit is %d, want 0 (for %d) to %d", q.Limit, MaxANRRuns, MaxANRRuns)
	}
	if q.Limit == 0 {
		q.Limit = MaxANRRuns
	}
	return q, nil
}

// ANRRun is the ANRs of one run, with the run's identity.
type ANRRun struct {
	ID       string
	Started  time.Time
	Session  string
	Scenario string
	Version  string // of the app
	Commit   string
	State    State
	ANRs     []run.ANR // one or more
}

// ANRsOf returns the ANRs of an entry.
func ANRsOf(e Entry) ANRRun {
	return ANRRun{
		ID: e.Run.ID, Started: e.Run.Started.UTC(), Session: e.Run.Session, Scenario: e.Run.Scenario,
		Version: e.Run.App.Version, Commit: e.Run.Source.Commit, State: e.Mark.State, ANRs: e.Run.ANRs,
	}
}

// ANRsFromRecords answers the query from complete entries, some of which may be of other apps or
// have no ANRs. Damage among them, or why (nil for none), makes the answer Incomplete.
func ANRsFromRecords(entries iter.Seq2[Entry, error], q ANRQuery, why error) ([]ANRRun, error) {
	var out []ANRRun
	var incomplete Incomplete
	if why != nil {
		incomplete.Damage = append(incomplete.Damage, Damage{Problem: why.Error()})
	}
	for e, err := range entries {
		var damaged *DamagedRun
		switch {
		case errors.As(err, &damaged):
			incomplete.Damage = append(incomplete.Damage, damaged.damage())
		case err != nil:
			return nil, err
		case e.Run.App.Package == q.Package && len(e.Run.ANRs) > 0:
			out = append(out, ANRsOf(e))
		}
	}
	slices.SortFunc(out, func(a, b ANRRun) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(b.ID, a.ID))
	})
	out = out[:min(len(out), q.Limit)]
	if len(incomplete.Damage) > 0 {
		return out, &incomplete
	}
	return out, nil
}

// ANRs returns those of the store's sound runs.
func (s *Sound) ANRs(ctx context.Context, q ANRQuery) ([]ANRRun, error) {
	found, err := s.Store.ANRs(ctx, q)
	var incomplete *Incomplete
	if errors.As(err, &incomplete) {
		s.note(incomplete.Damage...)
		err = nil
	}
	return found, err
}
