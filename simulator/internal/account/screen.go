package account

import "time"

// maxChanges limits the history of the screen and of the supply.
const maxChanges = 10_000

// Screen is the state of the screen from a time on.
type Screen struct {
	at         time.Duration
	On         bool
	Brightness int // 0 to 255
}

// SetScreen changes the screen now.
func (a *Account) SetScreen(s Screen) {
	if s.at = a.Clock.Now(); len(a.screens) == maxChanges {
		a.Settle()
		a.screens = append(a.screens[:0], a.screens[maxChanges/2:]...)
	}
	a.screens = append(a.screens, s)
}

// Screen returns the current state of the screen.
func (a *Account) Screen() Screen { return a.screens[len(a.screens)-1] }

// eachScreen calls f for each span between two instants in which the screen does not change.
func (a *Account) eachScreen(from, to time.Duration, f func(s Screen, from, to time.Duration)) {
	for i, s := range a.screens {
		begin, end := max(s.at, from), to
		if i+1 < len(a.screens) {
			end = min(end, a.screens[i+1].at)
		}
		if begin < end {
			f(s, begin, end)
		}
	}
}

// screenOff returns how long the screen was off between two instants.
func (a *Account) screenOff(from, to time.Duration) (off time.Duration) {
	a.eachScreen(from, to, func(s Screen, from, to time.Duration) {
		if !s.On {
			off += to - from
		}
	})
	return off
}
