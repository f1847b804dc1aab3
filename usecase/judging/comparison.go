package judging

import (
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/settings"
)

// Compare compares the runs of two builds, with what a report needs in addition to the verdict.
func Compare(base, head []run.Run, set settings.Settings) (layout.ComparisonInput, error) {
	catalogue, err := run.Catalogue(set.Catalogue, slices.Concat(base, head)...)
	if err != nil {
		return layout.ComparisonInput{}, exit.Usage(err, "")
	}
	in := layout.ComparisonInput{Verdict: sidebyside.Compare(set.Policy, catalogue, base, head), Energy: besideBase(base, head)}
	in.Verdict.FailOn = set.Fails()
	in.Causes = whyBesideBase(in.Verdict, base, head, ProblemsOf(set.Config))
	return CompletedComparison(in, catalogue, Simulated(base) || Simulated(head)), nil
}

// CompletedComparison fills in what is not saved of a comparison.
func CompletedComparison(in layout.ComparisonInput, catalogue *metric.Catalogue, simulated bool) layout.ComparisonInput {
	in.Catalogue, in.Version = catalogue, version.Tool()
	if simulated {
		in.Notes = []string{simulatedNote}
	}
	return in
}

// OnSimulatedDevices reports whether a comparison was made on simulated devices.
func OnSimulatedDevices(v sidebyside.Verdict) bool {
	return slices.ContainsFunc(v.Scenarios, func(s sidebyside.Scenario) bool {
		return slices.ContainsFunc(s.Contexts, func(x sidebyside.Context) bool { return x.Context[devctx.Simulated] != "" })
	})
}
