package device

import (
	"regexp"
	"strings"
)

// Screen is the state of a screen.
type Screen int

// The states of a screen. A dozing screen shows the time on an otherwise dark display.
const (
	ScreenNotReported Screen = iota
	ScreenOff
	ScreenDozes
	ScreenOn
)

// The screen's state: Android 5 and later (Display.STATE_*), 4.2 and later, 4.1
// (where a line of its own names the bits).
var (
	displayState = regexp.MustCompile(`Display Power: state=(\w+)`)
	wakefulness  = regexp.MustCompile(`mWakefulness=(\w+)`)
	powerState   = regexp.MustCompile(`(?m)^\s*(mPowerState=[A-Z_ ]*)$`)
)

// ReadScreen parses the state of the screen in the output of `dumpsys power`; said is how the
// device words it.
func ReadScreen(text string) (screen Screen, said string) {
	if state := first(displayState, text); state != "" {
		said = "the display is " + state
		switch state {
		case "ON", "VR", "ON_SUSPEND":
			return ScreenOn, said
		case "DOZE", "DOZE_SUSPEND":
			return ScreenDozes, said
		case "OFF":
			return ScreenOff, said
		}
		return ScreenNotReported, said
	}
	if state := first(wakefulness, text); state != "" {
		said = "the device is " + state
		switch state {
		case "Awake", "Dreaming": // a screen saver is drawn like anything else
			return ScreenOn, said
		case "Dozing":
			return ScreenDozes, said
		case "Asleep":
			return ScreenOff, said
		}
		return ScreenNotReported, said
	}
	switch bits := first(powerState, text); {
	case bits == "":
		return ScreenNotReported, notReported
	case strings.Contains(bits, "SCREEN_ON_BIT"):
		return ScreenOn, "screen on: true"
	}
	return ScreenOff, "screen on: false"
}
