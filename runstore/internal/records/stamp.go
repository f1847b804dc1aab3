package records

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// stampLayout is the layout of stored times: UTC and of fixed width, so that they sort as text.
const stampLayout = "2006-01-02T15:04:05.000000000Z"

// The limits of a stamp. JSON has no times beyond them, except for the offset of the zone.
const (
	firstStamp = "0000-01-01T00:00:00.000000000Z"
	lastStamp  = "9999-12-31T23:59:59.999999999Z"
)

// AfterAll sorts after every stamp.
const AfterAll = "~"

// Stamp returns the time as text.
func Stamp(t time.Time) string {
	t = t.UTC()
	switch {
	case t.Year() < 0:
		return firstStamp
	case t.Year() > 9999:
		return lastStamp
	}
	return t.Format(stampLayout)
}

// ParseStamp parses a stamp. Anything else is damage.
func ParseStamp(s string) (time.Time, error) {
	t, err := time.Parse(stampLayout, s)
	if err != nil {
		return time.Time{}, Damaged(fmt.Errorf("a time is %.40q", s))
	}
	return t, nil
}

// Times parses the stamps of a mark: when it was made, and the start of its level, which may be "".
func Times(at, since string) (time.Time, time.Time, error) {
	a, err := ParseStamp(at)
	if err != nil || since == "" {
		return a, time.Time{}, err
	}
	b, err := ParseStamp(since)
	return a, b, err
}

// JudgedOf returns the outcome of a run with its parsed stamp; nil where it was never judged.
func JudgedOf(outcome, at string) (*run.Judged, error) {
	if outcome == "" {
		return nil, nil
	}
	t, err := ParseStamp(at)
	if err != nil {
		return nil, err
	}
	j := run.Judged{Outcome: outcome, At: t}
	if err := j.Check(); err != nil {
		return nil, Damaged(err)
	}
	return &j, nil
}

// Damaged wraps an error as damage of the history.
func Damaged(err error) error {
	return &runstore.Error{
		Err:    fmt.Errorf("%w: %w", runstore.ErrDamaged, err),
		Advice: "See what is damaged with apkgate baseline verify; save what can be read with apkgate baseline export.",
	}
}
