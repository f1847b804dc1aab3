package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// past is where the runs of the history come from.
type past struct {
	// like gives the runs to compare one with, most similar first.
	like func(run.Run) ([]run.Summary, error)
	// whole gives one of them in full.
	whole func(id string) (run.Run, error)
}

// wholeOf answers from runs that were read.
func wholeOf(history []run.Run) func(id string) (run.Run, error) {
	return func(id string) (run.Run, error) {
		if i := slices.IndexFunc(history, func(r run.Run) bool { return r.ID == id }); i >= 0 {
			return history[i], nil
		}
		return run.Run{}, fmt.Errorf("run %s: %w", id, baseline.ErrNotFound)
	}
}

// wholeFrom answers from a store.
func wholeFrom(ctx context.Context, store baseline.Store) func(id string) (run.Run, error) {
	return func(id string) (run.Run, error) {
		e, err := store.Get(ctx, id)
		return e.Run, err
	}
}

// maxCandidates is among how many of the most similar runs those are looked for
// that energy is set beside.
const maxCandidates = 4 * hotspots.MaxBase

// whereItWent sets the energy of each checked run beside that of the runs that
// are most like it. A run that the history has lost meanwhile is passed over.
func whereItWent(subjects []gate.Subject, whole func(id string) (run.Run, error)) ([]hotspots.Change, error) {
	var out []hotspots.Change
	for _, s := range subjects {
		if s.Run.Energy == nil {
			continue
		}
		var candidates []run.Run
		for _, ref := range s.References {
			if ref.Context[run.EnergyFrom] != s.Run.Energy.Source || ref.ID == s.Run.ID {
				continue
			}
			r, err := whole(ref.ID)
			if errors.Is(err, baseline.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, infrastructure(fmt.Errorf("ask the history for run %s: %w", ref.ID, err))
			}
			if candidates = append(candidates, r); len(candidates) == maxCandidates {
				break
			}
		}
		if change, ok := hotspots.Explain(s.Run, candidates); ok {
			out = append(out, change)
		}
	}
	return out, nil
}

// besideBase sets the energy of each of the head's runs beside the base's.
func besideBase(base, head []run.Run) []hotspots.Change {
	var out []hotspots.Change
	for _, r := range head {
		if change, ok := hotspots.Explain(r, base); ok {
			out = append(out, change)
		}
	}
	return out
}
