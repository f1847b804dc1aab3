package baseline

import "time"

// WaitUntold is for how long a store waits without saying so.
const WaitUntold = time.Second

// Waiting is told what a store waits for, with how long it will at most, and why; nil is
// nobody. It may be called from a goroutine of its own.
type Waiting func(what string, why error)

// Soon tells it once WaitUntold is over, or sooner where that is all the time there is,
// unless stop is called before.
func (w Waiting) Soon(atMost time.Duration, what string, why error) (stop func()) {
	if w == nil {
		return func() {}
	}
	timer := time.AfterFunc(min(WaitUntold, atMost), func() { w(what, why) })
	return func() { timer.Stop() }
}
