package powerdata

import (
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// readBattery reads a BatteryCounters (battery_counters.proto), which Android's
// power data source writes, and Linux' sysfs one.
func (d *decoder) readBattery(p packets.Packet, at packets.Stamp) {
	sample := BatterySample{Machine: p.Machine}
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.BatteryChargeCounterUah:
			sample.ChargeUAH = f.Int64()
		case field.BatteryCapacityPercent:
			sample.Percent = f.Float32()
		case field.BatteryCurrentUa:
			sample.CurrentUA = f.Int64()
		case field.BatteryCurrentAvgUa:
			sample.CurrentAverageUA = f.Int64()
		case field.BatteryName:
			sample.Name = f.Text()
		case field.BatteryEnergyCounterUwh:
			sample.EnergyUWH = f.Int64()
		case field.BatteryVoltageUv:
			sample.VoltageUV = f.Int64()
		}
	}
	if d.Room("readings of the battery", len(d.battery), maxSamples) {
		d.battery = append(d.battery, stamped[BatterySample]{at, sample})
	}
}
