package run

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Judged is the latest outcome of a gate for a run. It is stored by the history, and is not part of
// the record whose digest identifies the run.
type Judged struct {
	// Outcome is the gate's outcome: "pass", "improvement", "inconclusive", "regression" or
	// "invalid". A later gate may have others.
	Outcome string `json:"outcome"`
	// At is when the run was judged. Of two outcomes of one run the later counts.
	At time.Time `json:"at"`
}

// maxJudgedValues limits the values of the section: more than it has.
const maxJudgedValues = 100

// lastJudged is the last year in which a run can be judged, so that there is room for an outcome
// after each.
const lastJudged = 9998

// Over reports whether j takes precedence over an earlier outcome, nil for none. Of two at one time
// the greater word counts, so that every reader gets the same result.
func (j Judged) Over(before *Judged) bool {
	return before == nil || j.At.After(before.At) || j.At.Equal(before.At) && j.Outcome > before.Outcome
}

// Check returns an error for an invalid outcome.
func (j Judged) Check() error {
	if !isWord(j.Outcome) {
		return fmt.Errorf("outcome is %q, want a word in lower case", prose.Short(j.Outcome))
	}
	if y := j.At.UTC().Year(); y < 1 || y > lastJudged {
		return fmt.Errorf("at is in the year %d, want 1 to %d", y, lastJudged)
	}
	return nil
}

// Recorded returns the run as it was recorded and as its digest has it: without Judged.
func (r Run) Recorded() Run {
	r.Judged = nil
	return r
}
