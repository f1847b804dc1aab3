package records

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

// Markable says why a run can't be marked so, nil where it can.
func Markable(id string, status run.Status, m baseline.Mark) error {
	if m.State != baseline.Rejected && status != run.Complete {
		return fmt.Errorf("run %q, which is %s, as %s: %w", id, status, m.State, baseline.ErrNotComplete)
	}
	return nil
}

// Dated is the mark with its date, one for all the runs that get it, of whose marks the
// latest has that stamp ("": they have none).
func Dated(m baseline.Mark, now time.Time, latest string) (baseline.Mark, error) {
	var last time.Time
	if latest != "" {
		var err error
		if last, err = ParseStamp(latest); err != nil {
			return m, err
		}
	}
	return m.Dated(now, last), nil
}

// Starts are the earliest starts, as stamps, of runs that are marked together, by their subjects.
type Starts map[int64]string

// Note notes the start of a run.
func (s Starts) Note(subject int64, started string) {
	if first, ok := s[subject]; !ok || started < first {
		s[subject] = started
	}
}

// Since is the stamp of the level that the mark begins for a subject, "" where it begins none.
func (s Starts) Since(m baseline.Mark, subject int64) string {
	switch {
	case m.State != baseline.Rebaselined:
		return ""
	case m.Since.IsZero():
		return s[subject]
	}
	return Stamp(m.Since)
}

// CheckMark checks that what counts of a run is what its newest mark says.
func CheckMark(state baseline.State, since string, newest baseline.Mark) error {
	if state != newest.State || state == baseline.Rebaselined && since != Stamp(newest.Since) {
		return Damaged(fmt.Errorf("it counts as %q, but its newest mark says %q", state, newest.State))
	}
	return nil
}
