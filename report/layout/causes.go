package layout

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/wording"
)

// explained is what explains an answer: where the energy went, the most important run first, and
// the causes of every kind.
type explained struct {
	energy []hotspots.Change
	causes.Story
}

// explainAll combines the explanations of the findings of runs: flagged returns the findings of a
// cause's run.
func explainAll(energy []hotspots.Change, others []diagnose.Cause, catalogue *metric.Catalogue, flagged func(run, scenario string) []diagnose.Finding) explained {
	sorted, told := hotspots.Tell(energy, catalogue, func(c hotspots.Change) []diagnose.Finding { return flagged(c.Run, c.Scenario) })
	return explained{energy: sorted, Story: causes.Story{Sections: diagnose.Sections(append(told, diagnose.Explain(others)...))}}
}

// explainedRuns returns what explains a verdict on runs.
func explainedRuns(in Input) explained {
	runs := map[string]*gate.RunVerdict{}
	for i := range in.Verdict.Runs {
		runs[in.Verdict.Runs[i].ID] = &in.Verdict.Runs[i]
	}
	out := explainAll(in.Energy, in.Causes, in.catalogue(), func(run, _ string) (found []diagnose.Finding) {
		if r := runs[run]; r != nil {
			for _, d := range r.Deviations {
				found = append(found, diagnose.Finding{Event: d.Event, Metric: d.Metric, Direction: d.Direction})
			}
		}
		return found
	})
	several := severalScenarios(in.Verdict)
	out.Title = func(e diagnose.Explanation) string {
		if r := runs[e.Run]; r != nil {
			return runTitle(*r, in.Verdict)
		}
		return wording.Name(e.Run)
	}
	out.Where = func(c diagnose.Cause) string { return causeTitle(c, in.catalogue(), several) }
	out.Open = openAt(in.Kept)
	return out
}

// explainedBuilds returns what explains a comparison of two builds, whose input has a catalogue.
func explainedBuilds(in ComparisonInput) explained {
	out := explainAll(in.Energy, in.Causes, in.Catalogue, func(_, scenario string) (found []diagnose.Finding) {
		for _, s := range in.Verdict.Scenarios {
			for _, d := range s.Comparisons {
				if s.Scenario == scenario {
					found = append(found, diagnose.Finding{Event: d.Event, Metric: d.Metric, Direction: d.Direction})
				}
			}
		}
		return found
	})
	several := len(in.Verdict.Scenarios) > 1
	out.Title = func(e diagnose.Explanation) string {
		where := prose.Clip(wording.Context(e.Device), 100)
		if where == "" {
			where = "run " + wording.Name(e.Run)
		}
		if several {
			return wording.Name(e.Scenario) + " on " + where
		}
		return where
	}
	out.Where = func(c diagnose.Cause) string { return causeTitle(c, in.Catalogue, several) }
	return out
}

// causeTitle names what a cause explains: "E2: frames rendered".
func causeTitle(c diagnose.Cause, catalogue *metric.Catalogue, scenarios bool) string {
	m, _ := catalogue.Lookup(c.Metric)
	return finding{cell: cell{c.Scenario, c.Event, c.Metric}, Metric: m, scenarios: scenarios}.what()
}

// causes returns the causes to save: for energy those of the runs whose change is saved too.
func (e explained) causes() []diagnose.Cause {
	var out []diagnose.Cause
	for _, s := range e.Sections {
		for i, x := range s.Runs {
			if s.Name != hotspots.Family.Name || i < saved.MaxEnergy {
				out = append(out, x.Causes...)
			}
		}
	}
	return out
}
