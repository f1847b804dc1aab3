package screen

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Modes returns the display's refresh rates, in Hz.
func (s *Screen) Modes() []int {
	return slices.Compact([]int{min(60, s.Profile.Hz), s.Profile.Hz})
}

// Follow applies a setting of the refresh rate to the display, after the mode change.
func (s *Screen) Follow(key string) {
	if !strings.Contains(key, "refresh_rate") {
		return
	}
	s.Clock.At(s.Clock.Now()+s.RateTakes, func() {
		if value, there := s.Setting(key); there {
			s.rates[key] = value
		} else {
			delete(s.rates, key)
		}
	})
}

// Hz returns the display's current refresh rate: the fastest that the settings allow
// (DisplayModeDirector's SettingsObserver). Samsung's phones have a setting of their own;
// Android 9 and older have none.
func (s *Screen) Hz() int {
	modes := s.Modes()
	fastest := modes[len(modes)-1]
	if s.Profile.API < 29 {
		return fastest
	}
	if s.Profile.Manufacturer == "Samsung" {
		if s.rates["secure refresh_rate_mode"] == "0" {
			return modes[0]
		}
		return fastest
	}
	peak, err := strconv.ParseFloat(s.rates["system peak_refresh_rate"], 64)
	if err == nil && peak > 0 && peak < float64(fastest) {
		return modes[0]
	}
	return fastest
}

// Period returns the current time between two vsyncs while something moves.
func (s *Screen) Period() time.Duration { return time.Second / time.Duration(s.Hz()) }

// Still returns the time between two vsyncs while nothing moves, 0 if the display keeps its
// rate, by design or by a setting.
func (s *Screen) Still() time.Duration {
	least, err := strconv.ParseFloat(s.rates["system min_refresh_rate"], 64)
	modes := s.Modes()
	pinned := err == nil && least > float64(modes[0])
	if s.Profile.Manufacturer == "Samsung" {
		pinned = s.rates["secure refresh_rate_mode"] == "2"
	}
	if !s.Profile.Adaptive || pinned {
		return 0
	}
	return time.Second / time.Duration(modes[0])
}
