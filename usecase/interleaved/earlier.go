package interleaved

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// part are the rounds that one earlier job measured at one place.
type part struct{ base, head run.Run }

// mostParts limits the parts that are resumed: hardly any of the allowed false alarms are left for
// more.
const mostParts = 8

// earlierParts returns the rounds of this pair of commits that the history has, by the place in the
// verdict, sorted by time: those of an earlier push, of another job, or of a night. There are none
// unless both commits are known, since the builds may differ. Unreadable ones are skipped with a
// warning.
func (s Settler) earlierParts(ctx context.Context, v gate.Verdict, places []int, head run.Source) map[int][]part {
	base := s.Base.Source.Commit
	if s.Store == nil || base == "" || head.Commit == "" || base == head.Commit {
		return nil
	}
	runs, err := s.roundsOfCommits(ctx, base, head.Commit)
	if err != nil {
		fmt.Fprintf(s.Stderr, "warning: earlier rounds are not resumed: %s\n", terminal.Plain(err.Error()))
		return nil
	}
	out := map[int][]part{}
	for _, place := range places {
		at := v.Runs[place]
		its := slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool {
			return r.Scenario != at.Scenario || !sameContext(r.Context, at.Context) || len(r.Iterations) == 0
		})
		if parts := pairUp(its, base); len(parts) > 0 {
			out[place] = parts
		}
	}
	return out
}

// pairUp pairs the runs of both builds to parts, at most mostParts: the n-th of each build in a
// session belong together.
func pairUp(runs []run.Run, base string) []part {
	type nth struct {
		session string
		n       int
	}
	var order []nth
	parts, seen := map[nth]*part{}, map[[2]string]int{}
	for _, r := range runs {
		build := [2]string{r.Session, r.Source.Commit}
		at := nth{r.Session, seen[build]}
		seen[build]++
		if parts[at] == nil {
			order, parts[at] = append(order, at), &part{}
		}
		if r.Source.Commit == base {
			parts[at].base = r
		} else {
			parts[at].head = r
		}
	}
	var out []part
	for _, at := range order {
		if p := *parts[at]; len(p.base.Iterations) > 0 && len(p.head.Iterations) > 0 && len(out) < mostParts {
			out = append(out, p)
		}
	}
	return out
}

// roundsOfCommits returns the runs of both commits that rounds left in the history, sorted by time.
func (s Settler) roundsOfCommits(ctx context.Context, base, head string) ([]run.Run, error) {
	var out []run.Run
	for _, commit := range []string{base, head} {
		for e, err := range s.Store.List(ctx, runstore.Filter{Package: s.Config.App.Package, Commit: commit, States: []runstore.State{runstore.Unmarked}}) {
			if errors.Is(err, runstore.ErrDamaged) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if !MeasuredInTurns(e.Run) {
				continue
			}
			whole, err := s.Store.Get(ctx, e.Run.ID)
			if errors.Is(err, runstore.ErrDamaged) || errors.Is(err, runstore.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, whole.Run)
		}
	}
	slices.SortStableFunc(out, func(a, b run.Run) int { return a.Started.Compare(b.Started) })
	return out, nil
}

// sameContext reports whether two runs are of devices that are alike in all properties that both
// have.
func sameContext(a, b map[string]string) bool {
	for name, value := range a {
		if other, has := b[name]; has && other != value {
			return false
		}
	}
	return true
}
