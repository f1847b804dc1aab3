package perfetto

// readBattery reads a BatteryCounters (battery_counters.proto), which Android's
// power data source writes, and Linux' sysfs one.
func (d *decoder) readBattery(p packet, at stamp) {
	sample := BatterySample{Machine: p.machine}
	for f := fieldsOf(p.data); f.next(); {
		switch f.number {
		case 1:
			sample.ChargeUAH = f.int64()
		case 2:
			sample.Percent = f.float32()
		case 3:
			sample.CurrentUA = f.int64()
		case 4:
			sample.CurrentAverageUA = f.int64()
		case 5:
			sample.Name = f.text()
		case 6:
			sample.EnergyUWH = f.int64()
		case 7:
			sample.VoltageUV = f.int64()
		}
	}
	if d.room("readings of the battery", len(d.battery), MaxSamples) {
		d.battery = append(d.battery, stamped[BatterySample]{at, sample})
	}
}
