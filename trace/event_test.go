package trace

import (
	"testing"
	"time"
)

func TestEventAt(t *testing.T) {
	t.Parallel()
	events := []Event{{"tap", 10}, {"scroll", 20}, {"tap", 20}}
	for at, want := range map[time.Duration]string{0: "start", 9: "start", 10: "tap", 19: "tap", 20: "tap", 1000: "tap"} {
		if got := EventAt(events, at); got != want {
			t.Errorf("at %d: %q, want %q", at, got, want)
		}
	}
	if got := EventAt(events[:2], 25); got != "scroll" {
		t.Errorf("after the last event: %q", got)
	}
	if got := EventAt(nil, 5); got != "" {
		t.Errorf("without events: %q", got)
	}
}

func TestNamesWithoutCounters(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"pool-3-thread-12":          {"pool-#-thread-#", "pool-3-thread-12"},
		"dex2oat64":                 {"dex2oat64", "dex2oat64"},
		"Choreographer#doFrame 123": {"Choreographer#doFrame #", "Choreographer#doFrame #"},
		"type=3 of 20251":           {"type=# of #", "type=3 of #"},
		"AsyncTask #7":              {"AsyncTask ##", "AsyncTask ##"},
	} {
		if folded, uncounted := Folded(in), Uncounted(in); folded != want[0] || uncounted != want[1] {
			t.Errorf("%q: %q and %q, want %q", in, folded, uncounted, want)
		}
	}
}
