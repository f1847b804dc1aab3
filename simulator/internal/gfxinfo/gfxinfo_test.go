package gfxinfo

import (
	"testing"
	"time"
)

// A real dump counts 33 ms in bucket 34 and 151 ms in bucket 150.
func TestHistogramBuckets(t *testing.T) {
	for ms, want := range map[int]int{1: 5, 5: 5, 16: 16, 32: 32, 33: 34, 34: 34, 48: 48, 50: 53, 133: 133, 151: 150, 199: 150, 200: 200, 9000: 4950} {
		if got := buckets[bucketOf(time.Duration(ms)*time.Millisecond)]; got != want {
			t.Errorf("%d ms is counted at %d ms, want %d", ms, got, want)
		}
	}
}
