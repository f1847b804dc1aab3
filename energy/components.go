package energy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Names of the components of a model.
const (
	PartCPU        = "cpu"
	PartScreen     = "screen"
	PartIdle       = "idle"
	PartWifi       = "wifi"
	PartMobile     = "mobile"
	PartBluetooth  = "bluetooth"
	PartGPS        = "gps"
	PartAudio      = "audio"
	PartVideo      = "video"
	PartCamera     = "camera"
	PartFlashlight = "flashlight"
	PartSensors    = "sensors"
	PartWakelock   = "wakelock"
)

// Components lists joules by name, the largest first, without zeros.
func Components(joules map[string]float64) []run.Component {
	var out []run.Component
	for name, j := range joules {
		if j > 0 {
			out = append(out, run.Component{Name: name, EnergyJ: j})
		}
	}
	slices.SortFunc(out, func(a, b run.Component) int {
		return cmp.Or(cmp.Compare(b.EnergyJ, a.EnergyJ), strings.Compare(a.Name, b.Name))
	})
	return out[:min(len(out), run.MaxComponents)]
}
