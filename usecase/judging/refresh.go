package judging

import (
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
)

// CompletedRefresh fills in what is not saved of a refresh.
func CompletedRefresh(in layout.RefreshInput, catalogue *metric.Catalogue) layout.RefreshInput {
	in.Catalogue, in.Version, in.Hint = catalogue, version.Tool(), refreshHint(in.Refresh)
	if in.Refresh.Simulated {
		in.Notes = []string{simulatedNote}
	}
	return in
}

// refreshHint returns what to do about runs that a refresh did not accept.
func refreshHint(r saved.Refresh) string {
	isWorse := func(x saved.Refusal) bool { return x.Verdict == gate.Regression }
	switch {
	case len(r.Refused) == 0 && r.DriftFails:
		return "find what made the app slower over the quarter (apkgate baseline list); apkgate baseline rebaseline starts a new level with a run, if the change is intended"
	case len(r.Refused) == 0:
		return ""
	case !slices.ContainsFunc(r.Refused, isWorse):
		return "fix what ended the runs that are refused, and refresh again"
	}
	return "look at the runs that are refused (apkgate check); --accept-regression accepts an intended change, and apkgate baseline rebaseline starts a new level with it"
}
