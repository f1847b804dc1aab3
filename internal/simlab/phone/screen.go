package phone

import (
	"strconv"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/account"
)

// setScreen turns the screen on or off, which locks it.
func (p *Phone) setScreen(on bool) {
	p.state.locked = p.state.locked || !on && p.options.Keyguard != ""
	p.power.SetScreen(account.Screen{On: on, Brightness: p.power.Screen().Brightness})
	p.userActivity()
}

// userActivity is a touch, a key or whatever else the power manager takes for a sign
// of somebody who looks: the screen stays on for its time-out from then on.
func (p *Phone) userActivity() {
	p.state.activeAt = p.clock.Now()
	p.watchTimeout()
}

// watchTimeout looks again when the screen's time is over, if nothing does before.
func (p *Phone) watchTimeout() {
	now := p.clock.Now()
	due := max(p.state.activeAt+p.screenTimeout(), now)
	if p.state.looksAt > now && p.state.looksAt <= due {
		return
	}
	p.state.looksAt = due
	p.clock.At(due, func() {
		switch {
		case !p.power.Screen().On || p.staysOn():
		case p.clock.Now() < p.state.activeAt+p.screenTimeout():
			p.watchTimeout()
		default:
			p.timeOut()
		}
	})
}

// timeOut turns the screen off; nothing is drawn any more.
func (p *Phone) timeOut() {
	p.setScreen(false)
	if pr := p.state.running[p.state.foreground]; pr != nil {
		pr.draws.Stop(p.clock.Now())
	}
}

// screenTimeout is the setting screen_off_timeout; Android's default is a minute.
func (p *Phone) screenTimeout() time.Duration {
	ms, err := strconv.Atoi(p.state.settings["system screen_off_timeout"])
	if err != nil || ms < 0 {
		return time.Minute
	}
	return time.Duration(ms) * time.Millisecond
}

// plugTypes are android.os.BatteryManager's BATTERY_PLUGGED.
var plugTypes = map[string]int{"ac": 1, "usb": 2, "wireless": 4}

// staysOn reports whether the screen stays on for a charger's sake.
func (p *Phone) staysOn() bool {
	with, _ := strconv.Atoi(p.state.settings["global stay_on_while_plugged_in"])
	return with&plugTypes[p.power.Plugged()] != 0
}

// goingAway is how long the lock screen takes to go.
const goingAway = 400 * time.Millisecond

// dismissKeyguard takes away a lock screen that asks for nothing; another one asks.
func (p *Phone) dismissKeyguard() {
	if p.options.Keyguard != "swipe" {
		return
	}
	p.clock.At(p.clock.Now()+goingAway, func() { p.state.locked = p.state.locked && !p.power.Screen().On })
}

// hidden says why nothing of an app is to be seen, "" where it is.
func (p *Phone) hidden() string {
	switch {
	case !p.power.Screen().On:
		return "the screen is off"
	case p.state.locked:
		return "the lock screen shows"
	}
	return ""
}

// setBrightness takes the setting screen_brightness, 0 to 255.
func (p *Phone) setBrightness(value string) {
	b, err := strconv.Atoi(value)
	if err != nil {
		return
	}
	p.power.SetScreen(account.Screen{On: p.power.Screen().On, Brightness: min(max(b, 0), 255)})
}

// powerKey is what a key of the phone's side does to the screen; false for
// other keys.
func (p *Phone) powerKey(key string) bool {
	switch key {
	case "26", "KEYCODE_POWER":
		p.setScreen(!p.power.Screen().On)
	case "223", "KEYCODE_SLEEP":
		p.setScreen(false)
	case "224", "KEYCODE_WAKEUP":
		p.setScreen(true)
	case "82", "KEYCODE_MENU": // KeyguardHostView: the menu key unlocks
		if !p.state.locked {
			return false
		}
		p.dismissKeyguard()
	default:
		return false
	}
	return true
}
