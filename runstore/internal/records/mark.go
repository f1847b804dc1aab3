package records

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Markable returns the reason why a run can't be marked so, nil if it can.
func Markable(id string, status run.Status, m runstore.Mark) error {
	if m.State != runstore.Rejected && status != run.Complete {
		return fmt.Errorf("run %q, which is %s, as %s: %w", id, status, m.State, runstore.ErrNotComplete)
	}
	return nil
}

// Dated returns the mark with its time, one for all the runs that get it. latest is the stamp of
// the latest mark of these runs, "" for none.
func Dated(m runstore.Mark, now time.Time, latest string) (runstore.Mark, error) {
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
func (s Starts) Since(m runstore.Mark, subject int64) string {
	switch {
	case m.State != runstore.Rebaselined:
		return ""
	case m.Since.IsZero():
		return s[subject]
	}
	return Stamp(m.Since)
}

// CheckMark checks that the state and level of a run agree with its newest mark.
func CheckMark(state runstore.State, since string, newest runstore.Mark) error {
	if state != newest.State || state == runstore.Rebaselined && since != Stamp(newest.Since) {
		return Damaged(fmt.Errorf("it counts as %q, but its newest mark says %q", state, newest.State))
	}
	return nil
}
