package record

import (
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/logcat"
)

// TestBucketOfAgainstAPlainCount compares the search with counting.
func TestBucketOfAgainstAPlainCount(t *testing.T) {
	t.Parallel()
	var m Measurement
	for _, at := range []time.Duration{5, 5, 8, 13, 13, 13, 40} {
		m.Events = append(m.Events, logcat.Event{Time: at})
	}
	for at := time.Duration(0); at < 50; at++ {
		want := 0
		for _, e := range m.Events {
			if e.Time <= at {
				want++
			}
		}
		if got := m.bucketOf(at); got != want {
			t.Errorf("at %d: bucket %d, want %d", at, got, want)
		}
	}
}

// Frames are sorted however far apart they are: further, in ns, than 32 bits count.
func TestPictureIsSorted(t *testing.T) {
	t.Parallel()
	var m Measurement
	for _, s := range []int64{9, 1, 5, 3, 7} {
		m.Frames = append(m.Frames, jank.Frame{At: time.Duration(s) * time.Second, Took: time.Duration(s) * time.Millisecond})
	}
	var got []float64
	for _, f := range m.picture() {
		got = append(got, f.DurationMS)
	}
	if want := []float64{1, 3, 5, 7, 9}; !slices.Equal(got, want) {
		t.Errorf("durations %v, want %v", got, want)
	}
}

// Watching is much if it took more than 2 % of the app's own CPU time and 5 % of one CPU.
func TestDoubtsOfMuchWatching(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for what, c := range map[string]struct {
		all  watched
		want bool
	}{
		"of an app that works":             {watched{watching: 600 * time.Millisecond, own: 30 * time.Second, lasted: minute}, false},
		"of an app that does little":       {watched{watching: 600 * time.Millisecond, own: time.Second, lasted: minute}, false},
		"on a phone with slow processes":   {watched{watching: 3100 * time.Millisecond, own: 30 * time.Second, lasted: minute}, true},
		"slow, of an app that works a lot": {watched{watching: 3100 * time.Millisecond, own: 160 * time.Second, lasted: minute}, false},
		"of what is not known":             {watched{watching: 3100 * time.Millisecond, lasted: minute}, false},
	} {
		if got := c.all.much(); got != c.want {
			t.Errorf("watching %s is much: %v", what, got)
		}
	}
}
