package counters

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// battery reads a BatteryCounters. Values that a battery does not report are derived from others:
// its charge from its energy, and its power.
func (r *Reader) battery(at time.Duration, message []byte) {
	b := messages.BatteryOf(message)
	prefix := "batt."
	if name := packets.Name(b.Name); name != "" {
		prefix += name + "."
	}
	put := func(counter string, value float64, has bool) {
		if has {
			r.put(at, value, device("battery_counter", prefix+counter))
		}
	}
	if !b.HasChargeCounterUah && b.HasEnergyCounterUwh && b.VoltageUv > 0 {
		b.ChargeCounterUah, b.HasChargeCounterUah = b.EnergyCounterUwh*1_000_000/b.VoltageUv, true
	}
	put("charge_uah", float64(b.ChargeCounterUah), b.HasChargeCounterUah)
	percent := float64(b.CapacityPercent)
	put("capacity_pct", percent, b.HasCapacityPercent && !math.IsNaN(percent) && !math.IsInf(percent, 0))
	put("current_ua", float64(b.CurrentUa), b.HasCurrentUa)
	put("current.avg_ua", float64(b.CurrentAvgUa), b.HasCurrentAvgUa)
	put("voltage_uv", float64(b.VoltageUv), b.HasVoltageUv)
	// A battery that is used has a current below 0; its power is meant.
	milliwatts := b.CurrentUa * b.VoltageUv / 1_000_000_000
	put("power_mw", math.Abs(float64(milliwatts)), b.HasCurrentUa && b.HasVoltageUv)
}

// device returns a counter of the whole device.
func device(kind, name string) Track {
	return Track{Type: kind, Name: name, Thread: None, Process: None, CPU: None}
}
