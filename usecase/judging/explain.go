package judging

import (
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
)

// maxCandidates is among how many of the most similar runs those are looked for
// that energy is set beside.
const maxCandidates = 4 * hotspots.MaxBase

// whereItWent sets the energy of a checked run beside that of the runs that are
// most like it. nil where there is nothing to tell.
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

// withEnergy are the references nearest to r whose joules are of the same source.
// A run that the history has lost meanwhile is passed over.
func (p Past) withEnergy(r run.Run, refs []run.Summary) (base []run.Run, err error) {
	for _, ref := range refs {
		if ref.Context[metric.EnergyFrom] != r.Energy.Source || ref.ID == r.ID {
			continue
		}
		one, err := p.whole(ref.ID)
		if errors.Is(err, baseline.ErrNotFound) {
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
