package conditions

import (
	"strings"
	"testing"
	"time"
)

// Frames count as drawn for the display's rate if they are within 2 % of it.
func TestRateDoubt(t *testing.T) {
	t.Parallel()
	const at60, at59, at90 = time.Second / 60, time.Second / 59, time.Second / 90
	held := &Rate{Hz: 60}
	for _, interval := range []time.Duration{at60, at59} {
		if got := held.Doubt(interval); got != "" {
			t.Errorf("frames drawn for %v: %q", interval, got)
		}
	}
	if got := held.Doubt(at90); !strings.Contains(got, "held at 60 Hz") || !strings.Contains(got, "drawn for 90 Hz") {
		t.Errorf("frames drawn for 90 Hz: %q", got)
	}
	if got := (&Rate{}).Doubt(at90); got != "" {
		t.Errorf("of a display that is not held: %q", got)
	}
	if got := (&Rate{Hz: 60, warned: true}).Doubt(at90); got != "" {
		t.Errorf("said twice: %q", got)
	}
}
