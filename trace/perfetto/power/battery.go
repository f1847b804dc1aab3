package power

import "github.com/apkgate/apkgate/trace/perfetto/packets"

// readBattery reads a BatteryCounters (battery_counters.proto), which Android's
// power data source writes, and Linux' sysfs one.
func (d *decoder) readBattery(p packets.Packet, at packets.Stamp) {
	sample := BatterySample{Machine: p.Machine}
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case 1:
			sample.ChargeUAH = f.Int64()
		case 2:
			sample.Percent = f.Float32()
		case 3:
			sample.CurrentUA = f.Int64()
		case 4:
			sample.CurrentAverageUA = f.Int64()
		case 5:
			sample.Name = f.Text()
		case 6:
			sample.EnergyUWH = f.Int64()
		case 7:
			sample.VoltageUV = f.Int64()
		}
	}
	if d.Room("readings of the battery", len(d.battery), MaxSamples) {
		d.battery = append(d.battery, stamped[BatterySample]{at, sample})
	}
}
