package cli

import (
	"fmt"

	"github.com/apkgate/apkgate/collect/loss"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/words"
)

// simulatedNote stands at the head of every report on simulated devices.
const simulatedNote = "The devices are simulated."

// notesOn are what has to be read with a verdict, and stand at its head.
func notesOn(v gate.Verdict) (notes []string) {
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
		notes = append(notes, simulatedNote)
	}
	if ended > 0 {
		notes = append(notes, fmt.Sprintf("The app or its test failed in %d %s, which had to be measured again: the warnings say how.", ended, words.Plural(ended, "repetition", "repetitions")))
	}
	return notes
}
