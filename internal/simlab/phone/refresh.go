package phone

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// modes are the rates that the display can have, in Hz.
func (p *Phone) modes() []int {
	return slices.Compact([]int{min(60, p.profile.Hz), p.profile.Hz})
}

// changesRate has the display follow a setting of its rate, once it has changed its mode.
func (p *Phone) changesRate(key string) {
	if !strings.Contains(key, "refresh_rate") {
		return
	}
	p.clock.At(p.clock.Now()+p.options.RateTakes, func() {
		if value, there := p.state.settings[key]; there {
			p.state.rates[key] = value
		} else {
			delete(p.state.rates, key)
		}
	})
}

// hz is the display's rate now: the fastest that the settings allow
// (DisplayModeDirector's SettingsObserver). Samsung's phones look at a setting of their
// own. Android 9 and older knows of none.
func (p *Phone) hz() int {
	modes := p.modes()
	fastest := modes[len(modes)-1]
	if p.profile.API < 29 {
		return fastest
	}
	if p.profile.Manufacturer == "Samsung" {
		if p.state.rates["secure refresh_rate_mode"] == "0" {
			return modes[0]
		}
		return fastest
	}
	peak, err := strconv.ParseFloat(p.state.rates["system peak_refresh_rate"], 64)
	if err == nil && peak > 0 && peak < float64(fastest) {
		return modes[0]
	}
	return fastest
}

// period is the time between two vsyncs now, where something moves.
func (p *Phone) period() time.Duration { return time.Second / time.Duration(p.hz()) }

// still is the time between two vsyncs where nothing moves, 0 where the display keeps to
// its rate: it can't do otherwise, or is told to.
func (p *Phone) still() time.Duration {
	least, err := strconv.ParseFloat(p.state.rates["system min_refresh_rate"], 64)
	modes := p.modes()
	pinned := err == nil && least > float64(modes[0])
	if p.profile.Manufacturer == "Samsung" {
		pinned = p.state.rates["secure refresh_rate_mode"] == "2"
	}
	if !p.profile.Adaptive || pinned {
		return 0
	}
	return time.Second / time.Duration(modes[0])
}

// shownHz is the rate at which the display shows what there is now.
func (p *Phone) shownHz() float64 {
	period := max(p.period(), p.still())
	if pr := p.state.running[p.state.foreground]; pr != nil {
		p.advance()
		period = pr.draws.Period(p.clock.Now())
	}
	return float64(time.Second) / float64(period)
}
