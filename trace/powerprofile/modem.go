package powerprofile

import (
	"strconv"

	"github.com/apkgate/apkgate/trace"
)

// ModemState is the current of the modem in one state, from the element <modem> (since Android 13).
// The older modem.controller.… are items.
type ModemState struct {
	State string `json:"state"` // sleep, idle, receive, transmit
	// RAT is the radio access technology of an active state: DEFAULT, LTE, NR.
	RAT string `json:"rat,omitempty"`
	// NRFrequency is the range of NR: DEFAULT, LOW, MID, HIGH, MMWAVE.
	NRFrequency string  `json:"nr_frequency,omitempty"`
	Level       int     `json:"level"` // of transmission, 0 to 4
	PowerMA     float64 `json:"power_ma"`
}

// endModem reads an element within <modem>.
func (r *reader) endModem(name string) {
	state := ModemState{State: name}
	switch name {
	case "active":
		r.active = ModemState{}
		return
	case "sleep", "idle":
	case "receive", "transmit":
		state.RAT, state.NRFrequency = r.active.RAT, r.active.NRFrequency
		level := attribute(r.path[len(r.path)-1], "level")
		n, err := strconv.ParseUint(level, 10, 8)
		if name == "transmit" && err != nil {
			r.warnings.Addf(r.line(), "the level of transmit is %q, want a number: it is not read", trace.Name(level))
			return
		}
		state.Level = int(n)
	default:
		r.warnings.Addf(r.line(), "the element %q is not known in modem: it is not read", trace.Name(name))
		return
	}
	v, ok := r.number("modem " + name)
	if !ok || len(r.profile.Modem) == maxItems {
		return
	}
	state.PowerMA = v
	r.profile.Modem = append(r.profile.Modem, state)
}
