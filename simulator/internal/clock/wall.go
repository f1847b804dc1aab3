package clock

import "time"

// Boot is where a phone's clock stands when it is made. CLOCK_BOOTTIME is ahead of
// CLOCK_MONOTONIC by what the phone once slept.
const (
	Boot  = 10 * time.Minute
	Slept = 137*time.Second + 250*time.Millisecond
)

// Epoch is the wall clock when CLOCK_BOOTTIME was zero.
var Epoch = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// Boottime is CLOCK_BOOTTIME at a time of CLOCK_MONOTONIC.
func Boottime(monotonic time.Duration) time.Duration { return monotonic + Slept }

// Wall is CLOCK_REALTIME at a time of CLOCK_MONOTONIC.
func Wall(monotonic time.Duration) time.Time { return Epoch.Add(Boottime(monotonic)) }
