// Package screen is the screen of a simulated phone: whether it is on, and for how long
// nobody has to touch it; the lock screen before all else; and the rates that its display
// can have, of which it takes what the settings say.
//
// What it draws is the frames' (package pipeline), and what it costs is in the phone's books
// (package account).
package screen

import (
	"strconv"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
)

// Phone is whose screen it is.
type Phone struct {
	*account.Account
	Keyguard  string        // the lock screen: "", "swipe" or "pin"
	RateTakes time.Duration // how long the display takes to change its rate
	// Setting reads one: "system screen_off_timeout".
	Setting func(key string) (value string, there bool)
	// TimedOut is called when the screen went off because nobody touched it.
	TimedOut func()
}

// Screen is the screen of one phone.
type Screen struct {
	Phone
	Locked bool // the lock screen shows

	activeAt time.Duration     // the last sign of somebody who looks
	looksAt  time.Duration     // when it is looked whether the screen goes off
	rates    map[string]string // settings of the display's rate that it follows
}

// New is the screen of a phone that has started.
func New(p Phone) *Screen {
	return &Screen{Phone: p, Locked: p.Keyguard != "", rates: map[string]string{}}
}

// Restart is what a restart of the phone does to the screen.
func (s *Screen) Restart() {
	s.Turn(true)
	s.Locked = s.Keyguard != ""
}

// setting is a setting's value, "" where there is none.
func (s *Screen) setting(key string) string {
	value, _ := s.Setting(key)
	return value
}

// Turn turns the screen on or off, which locks it.
func (s *Screen) Turn(on bool) {
	s.Locked = s.Locked || !on && s.Keyguard != ""
	s.SetScreen(account.Screen{On: on, Brightness: s.Screen().Brightness})
	s.UserActivity()
}

// UserActivity is a touch, a key or whatever else the power manager takes for a sign
// of somebody who looks: the screen stays on for its time-out from then on.
func (s *Screen) UserActivity() {
	s.activeAt = s.Clock.Now()
	s.Watch()
}

// Watch looks again when the screen's time is over, if nothing does before.
func (s *Screen) Watch() {
	now := s.Clock.Now()
	due := max(s.activeAt+s.timeout(), now)
	if s.looksAt > now && s.looksAt <= due {
		return
	}
	s.looksAt = due
	s.Clock.At(due, func() {
		switch {
		case !s.Screen().On || s.StaysOn():
		case s.Clock.Now() < s.activeAt+s.timeout():
			s.Watch()
		default:
			s.timeOut()
		}
	})
}

// timeOut turns the screen off.
func (s *Screen) timeOut() {
	s.Turn(false)
	s.TimedOut()
}

// timeout is the setting screen_off_timeout; Android's default is a minute.
func (s *Screen) timeout() time.Duration {
	ms, err := strconv.Atoi(s.setting("system screen_off_timeout"))
	if err != nil || ms < 0 {
		return time.Minute
	}
	return time.Duration(ms) * time.Millisecond
}

// PlugTypes are android.os.BatteryManager's BATTERY_PLUGGED.
var PlugTypes = map[string]int{"ac": 1, "usb": 2, "wireless": 4}

// StaysOn reports whether the screen stays on for a charger's sake.
func (s *Screen) StaysOn() bool {
	with, _ := strconv.Atoi(s.setting("global stay_on_while_plugged_in"))
	return with&PlugTypes[s.Plugged()] != 0
}

// goingAway is how long the lock screen takes to go.
const goingAway = 400 * time.Millisecond

// DismissKeyguard takes away a lock screen that asks for nothing; another one asks.
func (s *Screen) DismissKeyguard() {
	if s.Keyguard != "swipe" {
		return
	}
	s.Clock.At(s.Clock.Now()+goingAway, func() { s.Locked = s.Locked && !s.Screen().On })
}

// Hidden says why nothing of an app is to be seen, "" where it is.
func (s *Screen) Hidden() string {
	switch {
	case !s.Screen().On:
		return "the screen is off"
	case s.Locked:
		return "the lock screen shows"
	}
	return ""
}

// SetBrightness takes the setting screen_brightness, 0 to 255.
func (s *Screen) SetBrightness(value string) {
	b, err := strconv.Atoi(value)
	if err != nil {
		return
	}
	s.SetScreen(account.Screen{On: s.Screen().On, Brightness: min(max(b, 0), 255)})
}

// PowerKey is what a key of the phone's side does to the screen; false for
// other keys.
func (s *Screen) PowerKey(key string) bool {
	switch key {
	case "26", "KEYCODE_POWER":
		s.Turn(!s.Screen().On)
	case "223", "KEYCODE_SLEEP":
		s.Turn(false)
	case "224", "KEYCODE_WAKEUP":
		s.Turn(true)
	case "82", "KEYCODE_MENU": // KeyguardHostView: the menu key unlocks
		if !s.Locked {
			return false
		}
		s.DismissKeyguard()
	default:
		return false
	}
	return true
}
