package judging

import (
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/collect/loss"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

// SimulatedNote stands at the head of every report on simulated devices.
const SimulatedNote = "The devices are simulated."

// NotesOn are what has to be read with a verdict, and stand at its head.
func NotesOn(v gate.Verdict) (notes []string) {
	simulated, ended := false, 0
	for _, r := range v.Runs {
		simulated = simulated || r.Context[devctx.Simulated] != ""
		if r.Verdict == gate.Invalid {
			continue // its reason tells
		}
		for _, w := range r.Warnings {
			if loss.EndedByItself(w) {
				ended++
			}
		}
	}
	if simulated {
		notes = append(notes, SimulatedNote)
	}
	if ended > 0 {
		notes = append(notes, fmt.Sprintf("The app or its test failed in %d %s, which had to be measured again: the warnings say how.", ended, words.Plural(ended, "repetition", "repetitions")))
	}
	return notes
}

// Simulated reports whether a run was made on simulated devices.
func Simulated(runs []run.Run) bool {
	return slices.ContainsFunc(runs, func(r run.Run) bool { return r.Context[devctx.Simulated] != "" })
}

// RefreshHint is what to do about runs that a refresh did not accept.
func RefreshHint(r layout.Refresh) string {
	isWorse := func(x layout.Refusal) bool { return x.Verdict == gate.Regression }
	switch {
	case len(r.Refused) == 0:
		return ""
	case !slices.ContainsFunc(r.Refused, isWorse):
		return "fix what ended the runs that are refused, and refresh again"
	}
	return "look at the runs that are refused (apkgate check); --accept-regression accepts a change that is wanted, and apkgate baseline rebaseline starts a new level with it"
}
