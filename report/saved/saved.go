// Package saved keeps what was found as JSON: verdicts, comparisons of two builds
// and refreshes of the baseline, in three formats with versions (docs/format).
//
// It owns these formats and what is taken for one. It takes a stand: what can be
// written can be read again, lists are never null, and a file is hostile until its
// size, depth and structure have been bounded and its words are known ones. It
// shows nothing.
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

// MaxEnergy bounds the runs whose energy a report tells as JSON: of the largest
// records they take some 25 MB.
const MaxEnergy = 20

// Verdict is apkgate.verdict/1 (docs/format/verdict.md): a verdict, with where the
// energy of its runs went and what explains its findings.
type Verdict struct {
	gate.Verdict
	Energy []hotspots.Change `json:"energy,omitempty"`
	Causes []diagnose.Cause  `json:"causes,omitempty"`
	// CausesTotal counts the causes where the list is cut; 0 where it is whole.
	CausesTotal int `json:"causes_total,omitempty"`
}

// OfVerdict is a verdict to be saved, with the energy of the first MaxEnergy runs and
// the causes that explain most, within what can be read again. of is how many causes
// there were where some of them are gone already, 0 otherwise.
func OfVerdict(v gate.Verdict, energy []hotspots.Change, causes []diagnose.Cause, of int) Verdict {
	kept, total := diagnose.Foremost(causes, of)
	return Verdict{withLists(v), energy[:min(len(energy), MaxEnergy)], kept, total}
}

// Comparison is apkgate.compare/1 (docs/format/compare.md): a comparison of two
// builds, with where the energy of the head's runs went and what explains its findings.
type Comparison struct {
	sidebyside.Verdict
	Energy []hotspots.Change `json:"energy,omitempty"`
	Causes []diagnose.Cause  `json:"causes,omitempty"`
	// CausesTotal counts the causes where the list is cut; 0 where it is whole.
	CausesTotal int `json:"causes_total,omitempty"`
}

// OfComparison is a comparison to be saved, as OfVerdict says.
func OfComparison(v sidebyside.Verdict, energy []hotspots.Change, causes []diagnose.Cause, of int) Comparison {
	kept, total := diagnose.Foremost(causes, of)
	return Comparison{v, energy[:min(len(energy), MaxEnergy)], kept, total}
}

// RefreshFormat is the format and version of what a refresh of the baseline
// prints as JSON (docs/format/refresh.md).
const RefreshFormat = "apkgate.refresh/1"

// Refresh is what a refresh of the baseline did, and how it drifts.
type Refresh struct {
	Format  string       `json:"format"`
	Verdict gate.Outcome `json:"verdict"` // the gate's, on the new runs
	// Lost says what is not here of what was to be measured or compared with, and why; "" where
	// all is.
	Lost string `json:"lost,omitempty"`
	// Accepted are the ids of the new runs that count from now on, Refused those
	// that were kept and do not, with the reason.
	Accepted []string     `json:"accepted"`
	Refused  []Refusal    `json:"refused"`
	Drift    []drift.Line `json:"drift"`
	// DriftFails says that a metric creeps for the worse, and that this was to fail.
	DriftFails bool          `json:"drift_fails,omitempty"`
	Warnings   []run.Warning `json:"warnings"`
	// Simulated says that the devices were.
	Simulated bool `json:"simulated,omitempty"`
}

// Outcome is the gate's on the new runs, or a regression where a drift was to fail and
// does. Where something was lost, only a regression stands.
func (r Refresh) Outcome() gate.Outcome {
	v := gate.Verdict{Verdict: r.Verdict}
	if r.DriftFails {
		v.Verdict = gate.Regression
	}
	return v.Lacking(r.Lost).Verdict
}

// Refusal is a run that was not accepted.
type Refusal struct {
	ID      string       `json:"id"`
	Verdict gate.Outcome `json:"verdict"`
	Reason  string       `json:"reason"`
}

// OfRefresh is a refresh to be saved.
func OfRefresh(r Refresh) Refresh {
	r.Format = RefreshFormat
	fill(&r.Accepted)
	fill(&r.Refused)
	fill(&r.Drift)
	fill(&r.Warnings)
	return r
}

// Render writes what a document says to programs: indented, and ended by one
// newline. A number that JSON can't hold (infinite or not a number) is an error.
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

// withLists returns the verdict with its format set and [] for every missing
// list, so that readers need not know null.
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
