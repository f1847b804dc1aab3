package energy

import "github.com/apkgate/apkgate/trace/perfetto/powerdata"

// RailsOf returns the counters of a trace's power rails, only those of the traced device.
func RailsOf(t *powerdata.Trace) []Rail {
	rails := make([]Rail, 0, len(t.Rails))
	for _, r := range t.Rails {
		if r.Machine != 0 {
			continue
		}
		out := Rail{Name: r.Name, Subsystem: r.Subsystem, Derived: r.Supply == powerdata.DerivedSupply}
		for _, s := range r.Samples {
			out.Counts = append(out.Counts, Count{Time: s.Time, Joules: float64(s.MicroWattSeconds) / 1e6})
		}
		rails = append(rails, out)
	}
	return rails
}

// BatteryOf returns the readings of a trace's battery; power is the state of the chargers during
// the trace (PowerOf). It returns none for a device with several batteries: the current of one is
// not that of the device.
func BatteryOf(t *powerdata.Trace, power Power) []BatteryReading {
	var out []BatteryReading
	var first *string
	for _, s := range t.Battery {
		if s.Machine != 0 {
			continue
		}
		if name := &s.Name; first == nil {
			first = name
		} else if *name != *first {
			return nil
		}
		out = append(out, BatteryReading{
			Time: s.Time, Current: number(s.CurrentUA), Voltage: number(s.VoltageUV), Charge: number(s.ChargeUAH),
			Percent: s.Percent, Power: power,
		})
	}
	return out
}

func number(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// PowerOf returns the state of the chargers in a trace.
func PowerOf(t *powerdata.Trace) Power {
	powered, known := t.Powered()
	switch {
	case !known:
		return PowerUnknown
	case powered:
		return External
	}
	return OnBattery
}
