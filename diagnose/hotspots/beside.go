package hotspots

import (
	"cmp"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
)

// beside selects the runs to compare a head with: similar ones, the most similar by context first
// (by the number of equal properties), then the newest. Where the head's methods were sampled, only
// those with methods, and where there are runs of the same device and Android, only those, if there
// are any.
func beside(head run.Run, candidates []run.Run) []run.Run {
	like := slices.DeleteFunc(slices.Clone(candidates), func(r run.Run) bool { return !alike(head, r) })
	if head.Energy.Methods != nil {
		like = preferred(like, func(r run.Run) bool { return r.Energy.Methods != nil })
	}
	like = preferred(like, func(r run.Run) bool { return sameDevice(head, r) && r.Context["sdk"] == head.Context["sdk"] })
	shared := map[string]int{}
	for _, r := range like {
		shared[r.ID] = devctx.Shared(head.Context, r.Context, nil)
	}
	slices.SortStableFunc(like, func(a, b run.Run) int {
		return cmp.Or(cmp.Compare(shared[b.ID], shared[a.ID]), b.Started.Compare(a.Started))
	})
	return like[:min(len(like), MaxBase)]
}

// preferred returns the runs that have something, or all where none has it.
func preferred(runs []run.Run, has func(run.Run) bool) []run.Run {
	if !slices.ContainsFunc(runs, has) {
		return runs
	}
	return slices.DeleteFunc(runs, func(r run.Run) bool { return !has(r) })
}

func sameDevice(a, b run.Run) bool {
	return a.Context["manufacturer"] == b.Context["manufacturer"] && a.Context["model"] == b.Context["model"]
}

// alike reports whether joules of two runs can be compared: the same app, scenario and source.
// Measured joules also depend on the device's model.
func alike(head, r run.Run) bool {
	switch {
	case r.Energy == nil || r.Energy.Source != head.Energy.Source,
		r.App.Package != head.App.Package || r.Scenario != head.Scenario,
		r.ID != "" && r.ID == head.ID,
		r.Status == run.Failed:
		return false
	case strings.HasPrefix(head.Energy.Source, "model"):
		return true
	}
	return sameDevice(head, r)
}
