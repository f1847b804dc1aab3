package art

import (
	"slices"
	"strings"
	"time"
)

// platform are the beginnings of the names of classes that are neither an app's own nor a library's
// that it brings along.
var platform = []string{
	"android.", "androidx.", "com.android.", "dalvik.", "java.", "javax.", "jdk.", "kotlin.", "kotlinx.", "libcore.", "sun.",
}

// ofApp reports whether a method is the app's, or a library's that it brings along.
func (m Method) ofApp() bool {
	return m.Class != "" && !slices.ContainsFunc(platform, func(p string) bool { return strings.HasPrefix(m.Class, p) })
}

// interval is a span on the trace's clock.
type interval struct{ from, to time.Duration }

// cover adds a call of the app on the main thread to those that cover its time: an outer call, which
// comes later, replaces those within it.
func (r *recorder) cover(c Call) {
	if c.Thread != uint32(r.t.PID) || c.Method < 0 || !r.t.Methods[c.Method].ofApp() {
		return
	}
	for n := len(r.covered); n > 0 && r.covered[n-1].from >= c.Begin; n = len(r.covered) {
		r.covered = r.covered[:n-1]
	}
	r.covered = append(r.covered, interval{c.Begin, c.Begin + c.Took})
}

// Seen returns how much of a span on CLOCK_MONOTONIC the main thread was in methods of the app, by
// the trace that was added last.
func (c *Collector) Seen(from, to time.Duration) (sum time.Duration) {
	if c.last == nil {
		return 0
	}
	for _, one := range c.last.covered {
		sum += max(0, min(one.to+c.last.rep.Began, to)-max(one.from+c.last.rep.Began, from))
	}
	return sum
}
