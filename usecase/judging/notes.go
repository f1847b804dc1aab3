package judging

import (
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/collect/loss"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

// simulatedNote begins every report on simulated devices.
const simulatedNote = "The devices are simulated."

// NotesOn returns the notes that must be read with a verdict, and precede it.
func NotesOn(v gate.Verdict) (notes []string) {
	bySimulation, ended := false, 0
	for _, r := range v.Runs {
		bySimulation = bySimulation || r.Context[devctx.Simulated] != ""
		if r.Verdict == gate.Invalid {
			continue // its reason says so
		}
		for _, w := range r.Warnings {
			if loss.EndedByItself(w) {
				ended++
			}
		}
	}
	if bySimulation {
		notes = append(notes, simulatedNote)
	}
	if ended > 0 {
		notes = append(notes, fmt.Sprintf("The app or its test failed in %d %s, which had to be measured again: the warnings say how.", ended, prose.Plural(ended, "repetition", "repetitions")))
	}
	return notes
}

// Simulated reports whether a run was made on simulated devices.
func Simulated(runs []run.Run) bool {
	return slices.ContainsFunc(runs, func(r run.Run) bool { return r.Context[devctx.Simulated] != "" })
}

// MetaOf returns what a report states of the checked runs' origin.
func MetaOf(runs []run.Run) layout.Meta {
	m := layout.Meta{Version: version.Tool()}
	for _, r := range runs {
		m.Repository, m.HeadCommit, m.BaseCommit = r.Source.Repository, r.Source.Commit, r.Source.Base
	}
	return m
}
