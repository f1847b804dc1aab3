package jank

import "time"

// Shown reports whether a frame known only by its buffer was janky (Android 11): it was shown later
// than it was due, so that over is positive, and its buffer was not ready when the compositor
// should have taken it.
func Shown(over time.Duration, ready bool) bool { return over > 0 && !ready }
