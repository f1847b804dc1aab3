package baseline

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

// MaxANRRuns is how many runs a query for what did not respond returns at most, and
// where it names no limit.
const MaxANRRuns = 10_000

// ANRQuery asks for the runs of an app in which something did not respond (run.ANR),
// whatever was decided of them and of whichever scenario, newest first.
type ANRQuery struct {
	Package string
	Limit   int // at most so many runs; 0: MaxANRRuns
}

// Normal returns the query with its defaults filled in, or says what is wrong with it.
func (q ANRQuery) Normal() (ANRQuery, error) {
	if q.Limit < 0 || q.Limit > MaxANRRuns {
		return q, fmt.Errorf("limit is %d, want 0 (for %d) to %d", q.Limit, MaxANRRuns, MaxANRRuns)
	}
	if q.Limit == 0 {
		q.Limit = MaxANRRuns
	}
	return q, nil
}

// ANRRun is what did not respond in one run, and what tells the run from others.
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

// ANRsOf is what an entry says of ANRs.
func ANRsOf(e Entry) ANRRun {
	return ANRRun{
		ID: e.Run.ID, Started: e.Run.Started.UTC(), Session: e.Run.Session, Scenario: e.Run.Scenario,
		Version: e.Run.App.Version, Commit: e.Run.Source.Commit, State: e.Mark.State, ANRs: e.Run.ANRs,
	}
}

// ANRsFromRecords answers the query from entries in full, of which some may be other
// apps' or have no ANRs. What is damaged among them, or why (nil for nothing), makes
// the answer Incomplete.
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

// ANRs are the store's, of the sound runs.
func (s *Sound) ANRs(ctx context.Context, q ANRQuery) ([]ANRRun, error) {
	found, err := s.Store.ANRs(ctx, q)
	var incomplete *Incomplete
	if errors.As(err, &incomplete) {
		s.note(incomplete.Damage...)
		err = nil
	}
	return found, err
}
