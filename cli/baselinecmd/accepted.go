package baselinecmd

import (
	"context"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// driftRuns limits the accepted runs of a scenario from which a drift is computed.
const driftRuns = 2000

// acceptedBefore returns the newest accepted runs of the same scenarios as the new ones, on the
// present level, and those of them that the last refresh accepted.
func acceptedBefore(ctx context.Context, store runstore.Store, now []run.Run) (last, before []run.Run, err error) {
	isNew, seen := map[string]bool{}, map[[2]string]bool{}
	for _, r := range now {
		isNew[r.ID] = true
	}
	for _, r := range now {
		key := [2]string{r.App.Package, r.Scenario}
		if seen[key] {
			continue
		}
		seen[key] = true
		ofLast, all, err := acceptedOf(ctx, store, key, isNew)
		if err != nil {
			return nil, nil, err
		}
		if len(all) == 0 {
			continue
		}
		for r, err := range runstore.Runs(store.Export(ctx, runstore.Filter{IDs: all})) {
			if err != nil {
				return nil, nil, err
			}
			before = append(before, r)
			if ofLast[r.ID] {
				last = append(last, r)
			}
		}
	}
	return last, before, nil
}

// acceptedOf lists the ids of an app's scenario, and which of them the last refresh accepted.
func acceptedOf(ctx context.Context, store runstore.Store, of [2]string, isNew map[string]bool) (last map[string]bool, all []string, err error) {
	var newest runstore.Mark // of a refresh
	batch := map[string]string{}
	filter := runstore.Filter{
		Package: of[0], Scenario: of[1], Status: run.Complete, Limit: driftRuns, Level: true,
		States: []runstore.State{runstore.Accepted, runstore.Rebaselined},
	}
	for e, err := range store.List(ctx, filter) {
		if err != nil {
			return nil, nil, err
		}
		if isNew[e.Run.ID] {
			continue
		}
		all = append(all, e.Run.ID)
		batch[e.Run.ID] = e.Mark.Batch
		if strings.HasPrefix(e.Mark.Batch, refreshBatch) && !e.Mark.At.Before(newest.At) {
			newest = e.Mark
		}
	}
	last = map[string]bool{}
	for id, of := range batch {
		last[id] = of == newest.Batch && newest.Batch != ""
	}
	return last, all, nil
}
