// Package layout lays out an answer as a document: a verdict on runs, a comparison of two builds, a
// refresh of the baseline.
//
// It owns the sentences, the contents of each table, and what is unfolded. The first line answers
// the question and says how sure the answer is; what several runs show is reported once; and the
// rest is there for those who want it. It does not decide anything: the verdict, its directions and
// its order come from package gate, the units of metrics from package metric, explanations from
// packages diagnose and report/causes. It escapes nothing and knows no format: its documents
// contain plain text.
//
// It has more files than other packages: each part of an answer has one.
//
// The reasons are in docs/design/reports.md.
package layout

import (
	"time"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
)

// Input is the input of a report. Only Verdict is required.
type Input struct {
	Verdict gate.Verdict
	// Stranger reports that a stranger may have written the verdict: its texts are shown, and no
	// command in them is one to be copied.
	Stranger bool
	// Runs are the checked runs, found by their ID. Their frames are drawn where they kept any.
	Runs []run.Run
	// Energy is where the energy of checked runs went compared with similar runs, found by the
	// runs' IDs; empty where none was measured.
	Energy []hotspots.Change
	// Causes are the other causes of the findings, of any kind. CausesTotal counts them, including
	// those of energy, where some were left out when they were saved.
	Causes      []diagnose.Cause
	CausesTotal int
	// Kept are the places of the files that were kept with the runs, by digest. A file without an
	// entry is not here.
	Kept map[string]KeptFile
	// Catalogue has the units and titles; nil is the built-in one.
	Catalogue *metric.Catalogue
	// Title is the report's title; "" is the scenario and the app.
	Title string
	// Notes are shown near the top, such as "The devices are simulated."
	Notes []string
	// Why says how to explain a worsening without a known cause; "" where there is no way.
	Why string
	// Next is what the reader can do about the answer, each with the command that does it.
	Next []document.Fact
	Meta Meta
	// Recent are accepted runs of the device whose number got worst, for a picture; nil for none.
	Recent *Recent
}

// Meta identifies what was compared with what, where known.
type Meta struct {
	Repository string // "owner/name"
	BaseCommit string // the commit of the history
	HeadCommit string // the commit that was checked
	// Base is the commit that the base build of the rounds was built from.
	Base Origin
	// Newest is the newest accepted run that a run was compared with.
	Newest Origin
	// Version is the version of apkgate that made the report: "apkgate 0.3.1".
	Version string
}

// Origin is a commit, and when it, or a run of it, was made; both may be unknown.
type Origin struct {
	At     time.Time
	Commit string
}

func (in Input) catalogue() *metric.Catalogue {
	if in.Catalogue == nil {
		return metric.Default()
	}
	return in.Catalogue
}

// OfVerdict returns the input for a saved verdict.
func OfVerdict(v saved.Verdict) Input {
	return Input{Verdict: v.Verdict, Energy: v.Energy, Causes: v.Causes, CausesTotal: v.CausesTotal}
}
