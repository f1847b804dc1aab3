package run

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Judged is what a gate said of a run last. It is told of the run by the history that
// keeps it, and is no part of the record that the run's digest is of.
type Judged struct {
	// Outcome is the gate's word: "pass", "improvement", "inconclusive", "regression"
	// or "invalid". A later gate may have others.
	Outcome string `json:"outcome"`
	// At is when it was said. Of two of one run the later counts.
	At time.Time `json:"at"`
}

// maxJudgedValues bounds the values of the section: more than it has.
const maxJudgedValues = 100

// lastJudged is the last year in which a run can be judged, so that there is room for
// an outcome after each.
const lastJudged = 9998

// Over reports whether j counts over what was said before, nil for nothing. Of two at
// one time the greater word counts, so that every reader comes to the same end.
func (j Judged) Over(before *Judged) bool {
	return before == nil || j.At.After(before.At) || j.At.Equal(before.At) && j.Outcome > before.Outcome
}

// Check reports what makes it nothing that a gate says.
func (j Judged) Check() error {
	if !isWord(j.Outcome) {
		return fmt.Errorf("outcome is %q, want a word in lower case", prose.Short(j.Outcome))
	}
	if y := j.At.UTC().Year(); y < 1 || y > lastJudged {
		return fmt.Errorf("at is in the year %d, want 1 to %d", y, lastJudged)
	}
	return nil
}

// Recorded is the run as it is recorded and as its digest has it: without what was said
// of it since.
func (r Run) Recorded() Run {
	r.Judged = nil
	return r
}
