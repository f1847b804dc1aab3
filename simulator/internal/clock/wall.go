package clock

import "time"

// Boot is the initial CLOCK_MONOTONIC of a phone. CLOCK_BOOTTIME is ahead of it by Slept, the
// time that the phone slept.
const (
	Boot  = 10 * time.Minute
	Slept = 137*time.Second + 250*time.Millisecond
)

// Epoch is the wall clock at CLOCK_BOOTTIME 0.
var Epoch = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// Boottime converts CLOCK_MONOTONIC to CLOCK_BOOTTIME.
func Boottime(monotonic time.Duration) time.Duration { return monotonic + Slept }

// Wall converts CLOCK_MONOTONIC to CLOCK_REALTIME.
func Wall(monotonic time.Duration) time.Time { return Epoch.Add(Boottime(monotonic)) }
