package interleaved

import (
	"context"
	"errors"
	"fmt"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

const (
	// mostNights is the number of accepted runs of a context whose repetitions are compared one by
	// one.
	mostNights = 12
	// mostListed limits among how many of the newest accepted runs of a scenario they are searched.
	mostListed = 200
)

// readWander gives the trial the correlation of successive repetitions at its places, by the newest
// accepted runs of their contexts. If they can't be read, there is a warning, and repetitions are
// assumed to be independent.
func (s Settler) readWander(ctx context.Context, trial *rounds.Trial, v gate.Verdict, places []int) {
	if s.Store == nil {
		return
	}
	for _, place := range places {
		accepted, err := s.newestLike(ctx, v.Runs[place])
		if err != nil {
			fmt.Fprintf(s.Stderr, "warning: how repetitions follow on each other is not known: %s\n", terminal.Plain(err.Error()))
			return
		}
		trial.LearnAutocorrelation(place, accepted)
	}
}

// newestLike returns the newest accepted runs of a run's scenario and context, at most mostNights.
func (s Settler) newestLike(ctx context.Context, at gate.RunVerdict) ([]run.Run, error) {
	filter := runstore.Filter{
		Package: s.Config.App.Package, Scenario: at.Scenario, Level: true, Limit: mostListed,
		States: []runstore.State{runstore.Accepted, runstore.Rebaselined},
	}
	var out []run.Run
	for e, err := range s.Store.List(ctx, filter) {
		switch {
		case errors.Is(err, runstore.ErrDamaged):
			continue
		case err != nil:
			return nil, err
		case !devctx.Same(e.Run.Context, at.Context, s.Set.Policy.Use):
			continue
		}
		whole, err := s.Store.Get(ctx, e.Run.ID)
		if errors.Is(err, runstore.ErrDamaged) || errors.Is(err, runstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if out = append(out, whole.Run); len(out) == mostNights {
			break
		}
	}
	return out, nil
}
