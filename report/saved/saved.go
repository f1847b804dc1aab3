// Package saved reads and writes findings as JSON: verdicts, comparisons of two builds and
// refreshes of the baseline, in three formats with versions (docs/format).
//
// It owns these formats and their validation. What can be written can be read again, lists are
// never null, and a file is hostile until its size, depth and structure have been limited and its
// words are known. The package shows nothing.
package saved

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/run"
)

// MaxEnergy limits the runs whose energy is in a report as JSON: the largest records take some 25
// MB.
const MaxEnergy = 20

// Verdict is apkgate.verdict/1 (docs/format/verdict.md): a verdict, with where the energy of its
// runs went and the causes of its findings.
type Verdict struct {
	gate.Verdict
	Energy []hotspots.Change `json:"energy,omitempty"`
	Causes []diagnose.Cause  `json:"causes,omitempty"`
	// CausesTotal counts the causes where the list is cut; 0 where it is complete.
	CausesTotal int `json:"causes_total,omitempty"`
}

// OfVerdict returns a verdict to be saved, with the energy of the first MaxEnergy runs and the main
// causes, within what can be read again. of is the total number of causes where some have already
// been left out, 0 otherwise.
func OfVerdict(v gate.Verdict, energy []hotspots.Change, causes []diagnose.Cause, of int) Verdict {
	kept, total := diagnose.Foremost(causes, of)
	return Verdict{withLists(v), energy[:min(len(energy), MaxEnergy)], kept, total}
}

// Comparison is apkgate.compare/1 (docs/format/compare.md): a comparison of two builds, with where
// the energy of the head's runs went and the causes of its findings.
type Comparison struct {
	sidebyside.Verdict
	Energy []hotspots.Change `json:"energy,omitempty"`
	Causes []diagnose.Cause  `json:"causes,omitempty"`
	// CausesTotal counts the causes where the list is cut; 0 where it is complete.
	CausesTotal int `json:"causes_total,omitempty"`
}

// OfComparison returns a comparison to be saved, as OfVerdict does.
func OfComparison(v sidebyside.Verdict, energy []hotspots.Change, causes []diagnose.Cause, of int) Comparison {
	kept, total := diagnose.Foremost(causes, of)
	return Comparison{v, energy[:min(len(energy), MaxEnergy)], kept, total}
}

// RefreshFormat is the format and version of the JSON of a refresh of the baseline
// (docs/format/refresh.md).
const RefreshFormat = "apkgate.refresh/1"

// Refresh is the result of a refresh of the baseline, and its drift.
type Refresh struct {
	Format  string       `json:"format"`
	Verdict gate.Outcome `json:"verdict"` // the gate's, on the new runs
	// Lost describes what is missing of the planned measurements or comparisons, and why; "" where
	// nothing is.
	Lost string `json:"lost,omitempty"`
	// Accepted are the ids of the new runs that count from now on, Refused those that were stored
	// but do not count, with the reason.
	Accepted []string     `json:"accepted"`
	Refused  []Refusal    `json:"refused"`
	Drift    []drift.Line `json:"drift"`
	// DriftFails is set where a metric drifts for the worse, and fail-on is drift.
	DriftFails bool          `json:"drift_fails,omitempty"`
	Warnings   []run.Warning `json:"warnings"`
	// Simulated is set where the devices were simulated.
	Simulated bool `json:"simulated,omitempty"`
}

// Outcome returns the gate's outcome of the new runs, or a regression where a drift fails. Where
// something was lost, only a regression stands.
func (r Refresh) Outcome() gate.Outcome {
	v := gate.Verdict{Verdict: r.Verdict}
	if r.DriftFails {
		v.Verdict = gate.Regression
	}
	return v.WithLoss(r.Lost).Verdict
}

// Refusal is a run that was not accepted.
type Refusal struct {
	ID      string       `json:"id"`
	Verdict gate.Outcome `json:"verdict"`
	Reason  string       `json:"reason"`
}

// OfRefresh returns a refresh to be saved.
func OfRefresh(r Refresh) Refresh {
	r.Format = RefreshFormat
	fill(&r.Accepted)
	fill(&r.Refused)
	fill(&r.Drift)
	fill(&r.Warnings)
	return r
}

// Render writes a document's data for programs: indented, and ended by one newline. A number that
// JSON can't represent (infinite or not a number) is an error.
func Render(w io.Writer, d document.Document, _ document.Options) error {
	data, err := json.MarshalIndent(d.Data, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the %s as JSON: %w", d.Kind, err)
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write the %s as JSON: %w", d.Kind, err)
	}
	return nil
}

// withLists returns the verdict with its format set and [] for every missing list, so that readers
// never see null.
func withLists(v gate.Verdict) gate.Verdict {
	v.Format = gate.Format
	v.Runs = slices.Clone(v.Runs)
	fill(&v.Runs)
	fill(&v.Rules)
	fill(&v.Warnings)
	for i := range v.Runs {
		r := &v.Runs[i]
		if r.Context == nil {
			r.Context = map[string]string{}
		}
		fill(&r.Labels)
		fill(&r.Reference)
		fill(&r.Deviations)
		fill(&r.Comparisons)
		fill(&r.Warnings)
	}
	return v
}

func fill[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
