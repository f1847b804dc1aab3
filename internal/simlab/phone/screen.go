package phone

import (
	"strconv"
	"time"
)

// maxChanges bounds what is remembered of the screen and of the supply.
const maxChanges = 10_000

// setScreen turns the screen on or off.
func (p *Phone) setScreen(on bool) {
	last := p.screenNow()
	p.changeScreen(screen{on: on, brightness: last.brightness})
}

// setBrightness takes the setting screen_brightness, 0 to 255.
func (p *Phone) setBrightness(value string) {
	b, err := strconv.Atoi(value)
	if err != nil {
		return
	}
	p.changeScreen(screen{on: p.screenNow().on, brightness: min(max(b, 0), 255)})
}

func (p *Phone) changeScreen(s screen) {
	ps := &p.state.power
	if s.at = p.clock.Now(); len(ps.screens) == maxChanges {
		p.settle()
		ps.screens = append(ps.screens[:0], ps.screens[maxChanges/2:]...)
	}
	ps.screens = append(ps.screens, s)
}

func (p *Phone) screenNow() screen { return p.state.power.screens[len(p.state.power.screens)-1] }

// eachScreen calls f for each stretch between two instants in which the screen
// stays the same.
func (p *Phone) eachScreen(from, to time.Duration, f func(s screen, from, to time.Duration)) {
	list := p.state.power.screens
	for i, s := range list {
		begin, end := max(s.at, from), to
		if i+1 < len(list) {
			end = min(end, list[i+1].at)
		}
		if begin < end {
			f(s, begin, end)
		}
	}
}

// screenOff is how long the screen was off between two instants.
func (p *Phone) screenOff(from, to time.Duration) (off time.Duration) {
	p.eachScreen(from, to, func(s screen, from, to time.Duration) {
		if !s.on {
			off += to - from
		}
	})
	return off
}

// powerKey is what a key of the phone's side does to the screen; false for
// other keys.
func (p *Phone) powerKey(key string) bool {
	switch key {
	case "26", "KEYCODE_POWER":
		p.setScreen(!p.screenNow().on)
	case "223", "KEYCODE_SLEEP":
		p.setScreen(false)
	case "224", "KEYCODE_WAKEUP":
		p.setScreen(true)
	default:
		return false
	}
	return true
}
