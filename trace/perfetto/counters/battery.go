package counters

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// reading is a BatteryCounters (battery_counters.proto): nil is what it does not say.
type reading struct {
	name                                      string
	charge, energy, current, average, voltage *int64
	percent                                   *float64
}

func readingOf(message []byte) reading {
	var b reading
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.BatteryName:
			b.name = f.Text()
		case field.BatteryChargeCounterUah:
			b.charge = f.Int64()
		case field.BatteryCapacityPercent:
			b.percent = f.Float32()
		case field.BatteryCurrentUa:
			b.current = f.Int64()
		case field.BatteryCurrentAvgUa:
			b.average = f.Int64()
		case field.BatteryEnergyCounterUwh:
			b.energy = f.Int64()
		case field.BatteryVoltageUv:
			b.voltage = f.Int64()
		}
	}
	return b
}

// battery reads a BatteryCounters. What a battery does not say itself follows from what it
// says: its charge from its energy, and its power.
func (r *Reader) battery(at time.Duration, message []byte) {
	b := readingOf(message)
	prefix := "batt."
	if b.name != "" {
		prefix += b.name + "."
	}
	put := func(counter string, value float64) { r.put(at, value, device("battery_counter", prefix+counter)) }
	of := func(counter string, value *int64) {
		if value != nil {
			put(counter, float64(*value))
		}
	}
	if b.charge == nil && b.energy != nil && b.voltage != nil && *b.voltage > 0 {
		from := *b.energy * 1_000_000 / *b.voltage
		b.charge = &from
	}
	of("charge_uah", b.charge)
	if b.percent != nil {
		put("capacity_pct", *b.percent)
	}
	of("current_ua", b.current)
	of("current.avg_ua", b.average)
	of("voltage_uv", b.voltage)
	if b.current != nil && b.voltage != nil {
		// A battery that is used has a current below 0; its power is meant.
		milliwatts := *b.current * *b.voltage / 1_000_000_000
		put("power_mw", math.Abs(float64(milliwatts)))
	}
}

// device is a counter of the whole device.
func device(kind, name string) Track {
	return Track{Type: kind, Name: name, Thread: None, Process: None, CPU: None}
}
