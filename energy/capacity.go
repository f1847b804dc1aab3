package energy

// NominalVolts is the voltage of a phone's lithium cell halfway through its
// charge, at which charges are turned into joules where no voltage is known.
const NominalVolts = 3.85

// joulesPerMAhVolt turns mAh × V into J: one mAh is 3.6 C.
const joulesPerMAhVolt = 3.6

// The capacities that a phone or a tablet can have, in mAh: less than a factor
// of 1000 apart, so that µAh are never taken for mAh.
const (
	leastMAh = 200
	mostMAh  = 60_000
)

// FullBattery is what a full battery holds, in joules; 0 where the capacity is 0.
// The voltage is NominalVolts where it is 0.
func FullBattery(capacityMAh, volts float64) float64 {
	if volts <= 0 {
		volts = NominalVolts
	}
	return max(capacityMAh, 0) * joulesPerMAhVolt * volts
}

// Capacity is the first of the stated capacities that a battery can have, in
// mAh; 0 where none can. One in µAh, as charge_full_design is, is recognised.
func Capacity(stated ...float64) float64 {
	for _, v := range stated {
		for _, mah := range []float64{v, v / 1000} {
			if mah >= leastMAh && mah <= mostMAh {
				return mah
			}
		}
	}
	return 0
}
