// Package screen simulates a phone's screen: whether it is on, its timeout, the lock screen,
// and the refresh rates of its display, chosen by the settings.
//
// Its contents are frames (package pipeline), and its energy is in the phone's account
// (package account).
package screen

import (
	"strconv"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
)

// Phone is the phone that the screen belongs to.
type Phone struct {
	*account.Account
	Keyguard  string        // the lock screen: "", "swipe" or "pin"
	RateTakes time.Duration // how long a change of the refresh rate takes
	// Setting returns a setting: "system screen_off_timeout".
	Setting func(key string) (value string, there bool)
	// TimedOut is called when the screen has timed out.
	TimedOut func()
}

// Screen is the screen of one phone.
type Screen struct {
	Phone
	Locked bool // the lock screen is shown

	activeAt time.Duration     // the last user activity
	looksAt  time.Duration     // when the timeout is checked
	rates    map[string]string // settings that the display's rate follows
}

// New returns the screen of a phone that has started.
func New(p Phone) *Screen {
	return &Screen{Phone: p, Locked: p.Keyguard != "", rates: map[string]string{}}
}

// Restart resets the screen for a restart of the phone.
func (s *Screen) Restart() {
	s.Turn(true)
	s.Locked = s.Keyguard != ""
}

// setting returns the value of a setting, "" for none.
func (s *Screen) setting(key string) string {
	value, _ := s.Setting(key)
	return value
}

// Turn turns the screen on, or off, which locks it.
func (s *Screen) Turn(on bool) {
	s.Locked = s.Locked || !on && s.Keyguard != ""
	s.SetScreen(account.Screen{On: on, Brightness: s.Screen().Brightness})
	s.UserActivity()
}

// UserActivity is a touch, a key or anything else that the power manager counts as user
// activity: it restarts the screen's timeout.
func (s *Screen) UserActivity() {
	s.activeAt = s.Clock.Now()
	s.Watch()
}

// Watch schedules the check of the timeout, unless one is scheduled earlier.
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

// timeout returns the setting screen_off_timeout; Android's default is a minute.
func (s *Screen) timeout() time.Duration {
	ms, err := strconv.Atoi(s.setting("system screen_off_timeout"))
	if err != nil || ms < 0 {
		return time.Minute
	}
	return time.Duration(ms) * time.Millisecond
}

// PlugTypes are android.os.BatteryManager's BATTERY_PLUGGED.
var PlugTypes = map[string]int{"ac": 1, "usb": 2, "wireless": 4}

// StaysOn reports whether the screen stays on because of a charger.
func (s *Screen) StaysOn() bool {
	with, _ := strconv.Atoi(s.setting("global stay_on_while_plugged_in"))
	return with&PlugTypes[s.Plugged()] != 0
}

// goingAway is how long the lock screen takes to disappear.
const goingAway = 400 * time.Millisecond

// DismissKeyguard dismisses an insecure lock screen; a secure one stays.
func (s *Screen) DismissKeyguard() {
	if s.Keyguard != "swipe" {
		return
	}
	s.Clock.At(s.Clock.Now()+goingAway, func() { s.Locked = s.Locked && !s.Screen().On })
}

// Hidden describes why no app is visible, "" if one is.
func (s *Screen) Hidden() string {
	switch {
	case !s.Screen().On:
		return "the screen is off"
	case s.Locked:
		return "the lock screen shows"
	}
	return ""
}

// SetBrightness applies the setting screen_brightness, 0 to 255.
func (s *Screen) SetBrightness(value string) {
	b, err := strconv.Atoi(value)
	if err != nil {
		return
	}
	s.SetScreen(account.Screen{On: s.Screen().On, Brightness: min(max(b, 0), 255)})
}

// PowerKey handles a hardware key; false for keys that do not affect the screen.
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
