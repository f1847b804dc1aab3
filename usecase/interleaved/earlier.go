package interleaved

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// part are the rounds that one job measured at one place before.
type part struct{ base, head run.Run }

// mostParts bounds the parts that are gone on with: of the false alarms hardly anything is
// left for more.
const mostParts = 8

// earlierParts are the rounds of this pair of commits that the history keeps, by the place in
// the verdict, in the order of time: those of a push before, of another job, or of a night.
// Without both commits nobody knows whether the builds are the same, and there are none. What
// can't be read is told, and is none.
func (s Settler) earlierParts(ctx context.Context, v gate.Verdict, places []int, head run.Source) map[int][]part {
	base := s.Base.Source.Commit
	if s.Store == nil || base == "" || head.Commit == "" || base == head.Commit {
		return nil
	}
	runs, err := s.roundsOfCommits(ctx, base, head.Commit)
	if err != nil {
		fmt.Fprintf(s.Stderr, "warning: rounds that were measured before are not gone on with: %s\n", terminal.Plain(err.Error()))
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

// pairUp are the parts that runs of both builds make, at most mostParts: the n-th of each build
// in a session are of one.
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

// roundsOfCommits are the runs of both commits that rounds left in the history, in the order
// of time.
func (s Settler) roundsOfCommits(ctx context.Context, base, head string) ([]run.Run, error) {
	var out []run.Run
	for _, commit := range []string{base, head} {
		for e, err := range s.Store.List(ctx, baseline.Filter{Package: s.Config.App.Package, Commit: commit, States: []baseline.State{baseline.Unmarked}}) {
			if errors.Is(err, baseline.ErrDamaged) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if !MeasuredInTurns(e.Run) {
				continue
			}
			whole, err := s.Store.Get(ctx, e.Run.ID)
			if errors.Is(err, baseline.ErrDamaged) || errors.Is(err, baseline.ErrNotFound) {
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

// sameContext reports whether two runs are of devices that are alike in all that both tell.
func sameContext(a, b map[string]string) bool {
	for name, value := range a {
		if other, has := b[name]; has && other != value {
			return false
		}
	}
	return true
}
