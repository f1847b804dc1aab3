package batterystats

import (
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// Battery is the state in `dumpsys battery`.
type Battery struct {
	Line int `json:"line"`
	// Powered lists the connected chargers: "AC", "USB", "Wireless", "Dock".
	Powered    []string           `json:"powered,omitempty"`
	Technology string             `json:"technology,omitempty"`
	Stated     map[string]float64 `json:"stated"`
}

// batteryKeys are the lines of `dumpsys battery`: the name of the stated value and the factor that
// it is multiplied by.
var batteryKeys = map[string]struct {
	name  string
	scale float64
}{
	"level":                {"level", 1},
	"scale":                {"scale", 1},
	"status":               {"status", 1},
	"health":               {"health", 1},
	"voltage":              {"voltage_mv", 1},
	"temperature":          {"temperature_c", 0.1},
	"Charge counter":       {"charge_counter_uah", 1},
	"Max charging current": {"max_charging_current_ua", 1},
	"Max charging voltage": {"max_charging_voltage_uv", 1},
}

func (b *Battery) read(text string) {
	key, value, _ := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	if source, found := strings.CutSuffix(key, " powered"); found {
		if value == "true" && len(b.Powered) < 8 {
			b.Powered = append(b.Powered, trace.Name(source))
		}
		return
	}
	if key == "technology" && b.Technology == "" {
		b.Technology = trace.Name(value)
	}
	known, ok := batteryKeys[key]
	if !ok {
		return
	}
	// Temperature and charge may be negative.
	if v, err := strconv.ParseInt(value, 10, 50); err == nil {
		stateIn(b.Stated, known.name, float64(v)*known.scale)
	}
}
