package runstore_test

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
)

// A mark dated by the store comes after those that the runs have, and one from elsewhere keeps its
// time.
func TestMarksAreDatedInTheirOrder(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	elsewhere := noon.Add(-time.Hour).In(time.FixedZone("", 3600))
	for what, test := range map[string]struct{ at, now, last, want time.Time }{
		"no mark before":                  {now: noon, want: noon},
		"an earlier mark":                 {now: noon, last: noon.Add(-time.Nanosecond), want: noon},
		"a mark of this instant":          {now: noon, last: noon, want: noon.Add(time.Nanosecond)},
		"a mark of a clock that is ahead": {now: noon, last: noon.Add(10 * time.Minute), want: noon.Add(10*time.Minute + 1)},
		"made elsewhere":                  {at: elsewhere, now: noon, last: noon, want: elsewhere},
	} {
		m := runstore.Mark{State: runstore.Accepted, At: test.at}.Dated(test.now, test.last)
		if !m.At.Equal(test.want) || m.At.Location() != time.UTC || m.State != runstore.Accepted {
			t.Errorf("%s: %+v, want it at %v in UTC", what, m, test.want)
		}
	}
}
