package powerdata

import (
	"math"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// readBattery reads a BatteryCounters (battery_counters.proto), which Android's
// power data source writes, and Linux' sysfs one.
func (d *decoder) readBattery(p packets.Packet, at packets.Stamp) {
	b := messages.BatteryOf(p.Data)
	sample := BatterySample{
		Machine: p.Machine, Name: packets.Name(b.Name), ChargeUAH: optional(b.ChargeCounterUah, b.HasChargeCounterUah),
		EnergyUWH: optional(b.EnergyCounterUwh, b.HasEnergyCounterUwh), CurrentUA: optional(b.CurrentUa, b.HasCurrentUa),
		CurrentAverageUA: optional(b.CurrentAvgUa, b.HasCurrentAvgUa), VoltageUV: optional(b.VoltageUv, b.HasVoltageUv),
	}
	if percent := float64(b.CapacityPercent); !math.IsNaN(percent) && !math.IsInf(percent, 0) {
		sample.Percent = optional(percent, b.HasCapacityPercent)
	}
	if d.Room("readings of the battery", len(d.battery), maxSamples) {
		d.battery = append(d.battery, stamped[BatterySample]{at, sample})
	}
}

// optional returns a pointer to a value of a message, nil if the message does not have it.
func optional[T any](value T, has bool) *T {
	if !has {
		return nil
	}
	return &value
}
