package account

import "time"

// maxChanges bounds what is remembered of the screen and of the supply.
const maxChanges = 10_000

// Screen says how the screen is from a time on.
type Screen struct {
	at         time.Duration
	On         bool
	Brightness int // 0 to 255
}

// SetScreen notes that the screen changes now.
func (a *Account) SetScreen(s Screen) {
	if s.at = a.Clock.Now(); len(a.screens) == maxChanges {
		a.Settle()
		a.screens = append(a.screens[:0], a.screens[maxChanges/2:]...)
	}
	a.screens = append(a.screens, s)
}

// Screen is how the screen is now.
func (a *Account) Screen() Screen { return a.screens[len(a.screens)-1] }

// eachScreen calls f for each stretch between two instants in which the screen
// stays the same.
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

// screenOff is how long the screen was off between two instants.
func (a *Account) screenOff(from, to time.Duration) (off time.Duration) {
	a.eachScreen(from, to, func(s Screen, from, to time.Duration) {
		if !s.On {
			off += to - from
		}
	})
	return off
}
