// Package layout says what there is to say of an answer and lays it out as a document:
// of a verdict on runs, of a comparison of two builds, of a refresh of the baseline.
//
// It owns the sentences, what belongs in which table, and what stands open. It
// takes a stand: the first line answers the question and says how sure the answer is,
// the same thing is told once for all runs that show it, and the rest is there for
// those who want it. It does not decide anything: the verdict, its directions and
// its order come from package gate, the units of metrics from package metric, what
// explains a finding from packages diagnose and report/causes. It escapes nothing and
// knows no format: whatever it makes is plain text in a document.
//
// It has more files than other packages: each part of an answer has one.
//
// The reasons are in docs/design/reports.md.
package layout

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
)

// Input is what a report is made of. Only Verdict is required.
type Input struct {
	Verdict gate.Verdict
	// Runs are the runs that were checked, found by their ID. Their frames are
	// drawn where they kept any.
	Runs []run.Run
	// Energy is where the energy of checked runs went beside like runs, found by
	// the runs' IDs; empty where none was measured.
	Energy []hotspots.Change
	// Causes are what else explains the findings, of any kind. CausesTotal is how many
	// there were, with those of energy, where some were left out when they were saved.
	Causes      []diagnose.Cause
	CausesTotal int
	// Kept says where the files are that were kept with the runs, by their digest. One
	// without an entry is not here.
	Kept map[string]KeptFile
	// Catalogue gives units and titles; nil is the built-in one.
	Catalogue *metric.Catalogue
	// Title heads the report; "" is the scenario and the app.
	Title string
	// Notes are said near the top, such as "The devices are simulated."
	Notes []string
	// Why says how to explain what got worse and nothing explains; "" where there is nothing
	// to say.
	Why  string
	Meta Meta
}

// Meta is what was compared with what, where it is known.
type Meta struct {
	Repository string // "owner/name"
	BaseCommit string // the commit that the history stands for
	HeadCommit string // the commit that was checked
	// Version is the apkgate that made the report: "apkgate 0.3.1".
	Version string
}

func (in Input) catalogue() *metric.Catalogue {
	if in.Catalogue == nil {
		return metric.Default()
	}
	return in.Catalogue
}

// OfVerdict is a saved verdict with what was saved of it.
func OfVerdict(v saved.Verdict) Input {
	return Input{Verdict: v.Verdict, Energy: v.Energy, Causes: v.Causes, CausesTotal: v.CausesTotal}
}
