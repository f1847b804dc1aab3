package counters

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// battery reads a BatteryCounters (battery_counters.proto). What a battery does not say
// itself follows from what it says: its charge from its energy, and its power.
func (r *Reader) battery(at time.Duration, message []byte) {
	var name string
	var charge, energy, current, average, voltage *int64
	var percent *float64
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.BatteryName:
			name = f.Text() + "."
		case field.BatteryChargeCounterUah:
			charge = f.Int64()
		case field.BatteryCapacityPercent:
			percent = f.Float32()
		case field.BatteryCurrentUa:
			current = f.Int64()
		case field.BatteryCurrentAvgUa:
			average = f.Int64()
		case field.BatteryEnergyCounterUwh:
			energy = f.Int64()
		case field.BatteryVoltageUv:
			voltage = f.Int64()
		}
	}
	if name == "." {
		name = ""
	}
	put := func(counter string, value float64) {
		r.put(at, value, device("battery_counter", "batt."+name+counter))
	}
	of := func(counter string, value *int64) {
		if value != nil {
			put(counter, float64(*value))
		}
	}
	if charge == nil && energy != nil && voltage != nil && *voltage > 0 {
		from := *energy * 1_000_000 / *voltage
		charge = &from
	}
	of("charge_uah", charge)
	if percent != nil {
		put("capacity_pct", *percent)
	}
	of("current_ua", current)
	of("current.avg_ua", average)
	of("voltage_uv", voltage)
	if current != nil && voltage != nil {
		// A battery that is used has a current below 0; its power is meant.
		milliwatts := *current * *voltage / 1_000_000_000
		put("power_mw", max(float64(milliwatts), -float64(milliwatts)))
	}
}

// device is a counter of the whole device.
func device(kind, name string) Track {
	return Track{Type: kind, Name: name, Thread: None, Process: None, CPU: None}
}
