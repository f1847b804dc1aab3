package runstore

import "time"

// WaitUntold is how long a store waits without reporting it.
const WaitUntold = time.Second

// Waiting is called with what a store waits for, including the timeout, and why; nil is never
// called. It may be called from its own goroutine.
type Waiting func(what string, why error)

// Soon calls it after WaitUntold, or earlier where the timeout is shorter, unless stop is called
// before.
func (w Waiting) Soon(atMost time.Duration, what string, why error) (stop func()) {
	if w == nil {
		return func() {}
	}
	timer := time.AfterFunc(min(WaitUntold, atMost), func() { w(what, why) })
	return func() { timer.Stop() }
}
