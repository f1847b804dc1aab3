// Package powerprofile reads power_profile.xml, in which the manufacturer of a device states how
// much current each component draws: every item and array with its unit, the CPU's clusters in each
// of their layouts, and the modem's states.
//
// It owns the file and its meaning. It does not multiply currents by times (package energy does),
// and knows no device but the one in the file.
//
// A profile is a small document of a known structure. A document type definition, a custom entity
// or a deep tree rejects the whole file; an invalid value drops only that value.
//
// Sources: https://source.android.com/docs/core/power/values and
// frameworks/base/core/java/com/android/internal/os/PowerProfile.java.
package powerprofile

import (
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Profile is one power_profile.xml.
type Profile struct {
	Device   string // the name attribute of <device>, "Android" in most
	Items    []Item // in the order of the file, including repeated ones
	CPU      []Cluster
	Policies []Policy
	Layout   Layout
	Modem    []ModemState
	Warnings []run.Warning
}

// Item is one <item> or <array>.
type Item struct {
	Name   string    `json:"name"`
	Line   int       `json:"line"`
	Unit   Unit      `json:"unit"`
	Array  bool      `json:"array,omitempty"`
	Values []float64 `json:"values"` // one unless Array
}

// Unit is the unit of a value.
type Unit string

// The units of a profile.
const (
	MilliAmpere     Unit = "mA"
	MilliAmpereHour Unit = "mAh"
	MilliVolt       Unit = "mV"
	KiloHertz       Unit = "kHz"
	Count           Unit = "" // CPU cores, indices of power brackets
)

// UnitOf returns the unit of the item with that name; items not listed are in mA.
func UnitOf(name string) Unit {
	switch {
	case name == "battery.capacity", name == "battery.typical.capacity":
		return MilliAmpereHour
	case strings.HasSuffix(name, ".voltage"):
		return MilliVolt
	case strings.HasPrefix(name, "cpu.speeds"), strings.HasPrefix(name, "cpu.core_speeds"):
		return KiloHertz
	case name == "cpu.clusters.cores", strings.HasPrefix(name, "cpu.power_brackets"):
		return Count
	}
	return MilliAmpere
}

// find returns the last item with that name, as Android does; nil if there is none.
func (p Profile) find(name string, array bool) *Item {
	for i := len(p.Items) - 1; i >= 0; i-- {
		if p.Items[i].Name == name && p.Items[i].Array == array {
			return &p.Items[i]
		}
	}
	return nil
}

// Value returns the value of an <item>, in UnitOf(name).
func (p Profile) Value(name string) (float64, bool) {
	if item := p.find(name, false); item != nil {
		return item.Values[0], true
	}
	return 0, false
}

// Values returns the values of an <array>, in UnitOf(name); nil if there is none.
func (p Profile) Values(name string) []float64 {
	if item := p.find(name, true); item != nil {
		return item.Values
	}
	return nil
}

// Placeholder reports whether the screen's currents are the 0.1 mA of Android's own file, whose
// comment states that its values are wrong on purpose.
func (p Profile) Placeholder() bool {
	const wrongOnPurpose = 0.1 // mA
	for _, display := range []string{"", ".display0"} {
		on, okOn := p.Value("screen.on" + display)
		full, okFull := p.Value("screen.full" + display)
		if okOn && okFull {
			return on == wrongOnPurpose && full == wrongOnPurpose
		}
	}
	return false
}
