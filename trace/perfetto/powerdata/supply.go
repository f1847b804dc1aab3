package powerdata

import "regexp"

// Supply is the place of a rail in the device's power supply, which determines whether another rail
// can include it. A rail is measured where it leaves the power management chip: a switching
// regulator ("buck") is fed by the system's voltage, a linear one (LDO) usually by a buck, so that
// the LDO's energy is included in the buck's.
//
// Source: the names of rails on Pixels (MapToFriendlyPowerRailName in perfetto's
// android_probes_parser.cc), and Linux' gs101-pixel-common.dtsi (Pixel 6), where each LDO is fed by
// a buck and no numbered buck by another.
type Supply string

// The places in the supply.
const (
	// UnknownSupply is the place of a rail whose name does not show it.
	UnknownSupply Supply = ""
	// SystemSupply is a rail fed by the battery or the system's voltage, directly or through a
	// buck. No other such rail includes it.
	SystemSupply Supply = "system"
	// DerivedSupply is the rail of an LDO; a SystemSupply rail may include it.
	DerivedSupply Supply = "derived"
	// BatterySupply is the battery itself, which includes all others.
	BatterySupply Supply = "battery"
)

var supplies = []struct {
	names  *regexp.Regexp
	supply Supply
}{
	{regexp.MustCompile(`^(PPVAR_)?(VSYS|VPH)_(PWR_)?VBATT(_|$)`), BatterySupply},
	{regexp.MustCompile(`^(PPVAR_)?(VSYS|VPH)_`), SystemSupply}, // a load at the system's voltage
	{regexp.MustCompile(`^S[0-9]+[A-Z]_`), SystemSupply},        // a buck: S2M_VDD_CPUCL2
	{regexp.MustCompile(`^L[0-9]+[A-Z]_`), DerivedSupply},       // an LDO: L2S_VDD_AOC_RET
}

func supplyOf(name string) Supply {
	for _, s := range supplies {
		if s.names.MatchString(name) {
			return s.supply
		}
	}
	return UnknownSupply
}

// Apart returns the rails of the traced device whose energies may be added up, since none includes
// another. ok is false if a rail's place is unknown, or the rails have no readings: then no sum is
// valid. The sum is of what is measured; it does not include components without a rail.
func (t *Trace) Apart() (apart []Rail, ok bool) {
	type source struct {
		machine uint32
		session uint64
	}
	sources := map[source]bool{}
	for _, r := range t.Rails {
		if len(r.Samples) < 2 {
			continue
		}
		sources[source{r.Machine, r.Session}] = true
		switch r.Supply {
		case SystemSupply:
			apart = append(apart, r)
		case UnknownSupply:
			return nil, false
		}
	}
	// Two concurrent data sources read the same rails, and two machines are not one device.
	if len(sources) > 1 {
		return nil, false
	}
	return apart, len(apart) > 0
}
