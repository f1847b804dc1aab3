package records

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

// Markable returns the reason why a run can't be marked so, nil if it can.
func Markable(id string, status run.Status, m baseline.Mark) error {
	if m.State != baseline.Rejected && status != run.Complete {
		return fmt.Errorf("run %q, which is %s, as %s: %w", id, status, m.State, baseline.ErrNotComplete)
	}
	return nil
}

// Dated returns the mark with its time, one for all the runs that get it. latest is the stamp of
// the latest mark of these runs, "" for none.
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

// Starts are the earliest starts, as stamps, of the runs that are marked together, by subject.
type Starts map[int64]string

// Note records the start of a run.
func (s Starts) Note(subject int64, started string) {
	if first, ok := s[subject]; !ok || started < first {
		s[subject] = started
	}
}

// Since returns the stamp of the level that the mark starts for a subject, "" if it starts none.
func (s Starts) Since(m baseline.Mark, subject int64) string {
	switch {
	case m.State != baseline.Rebaselined:
		return ""
	case m.Since.IsZero():
		return s[subject]
	}
	return Stamp(m.Since)
}

// CheckMark checks that the state and level of a run agree with its newest mark.
func CheckMark(state baseline.State, since string, newest baseline.Mark) error {
	if state != newest.State || state == baseline.Rebaselined && since != Stamp(newest.Since) {
		return Damaged(fmt.Errorf("it counts as %q, but its newest mark says %q", state, newest.State))
	}
	return nil
}
