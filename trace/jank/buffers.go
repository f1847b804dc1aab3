package jank

import "time"

// Shown reports whether a frame that is known by its buffer alone was janky (Android 11): it was
// shown later than it was due, over above 0, and its buffer was not ready when the compositor
// should have taken it.
func Shown(over time.Duration, ready bool) bool { return over > 0 && !ready }
