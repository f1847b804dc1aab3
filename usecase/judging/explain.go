package judging

import (
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
)

// maxCandidates is among how many of the most similar runs those with comparable energy are
// searched.
const maxCandidates = 4 * hotspots.MaxBase

// whereItWent compares the energy of a checked run with that of the most similar runs. nil if there
// is no difference to show.
func (p Past) whereItWent(r run.Run, refs []run.Summary) (*hotspots.Change, error) {
	if r.Energy == nil {
		return nil, nil
	}
	base, err := p.withEnergy(r, refs)
	if err != nil {
		return nil, err
	}
	change, ok := hotspots.Explain(r, base)
	if !ok {
		return nil, nil
	}
	return &change, nil
}

// withEnergy returns the references nearest to r whose joules are of the same source. Runs that the
// history has lost since are skipped.
func (p Past) withEnergy(r run.Run, refs []run.Summary) (base []run.Run, err error) {
	for _, ref := range refs {
		if ref.Context[metric.EnergyFrom] != r.Energy.Source || ref.ID == r.ID {
			continue
		}
		one, err := p.whole(ref.ID)
		if errors.Is(err, runstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, exit.Infrastructure(fmt.Errorf("ask the history for run %s: %w", ref.ID, err))
		}
		if base = append(base, one); len(base) == maxCandidates {
			break
		}
	}
	return base, nil
}

// besideBase compares the energy of each of the head's runs with the base's.
func besideBase(base, head []run.Run) []hotspots.Change {
	var out []hotspots.Change
	for _, r := range head {
		if change, ok := hotspots.Explain(r, base); ok {
			out = append(out, change)
		}
	}
	return out
}
