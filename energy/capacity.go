package energy

// NominalVolts is the voltage of a phone's lithium cell at half charge, which converts charges to
// joules if no voltage is known.
const NominalVolts = 3.85

// joulesPerMAhVolt converts mAh × V to J: one mAh is 3.6 C.
const joulesPerMAhVolt = 3.6

// The capacities that a phone or a tablet can have, in mAh: less than a factor of 1000 apart, so
// that µAh are never taken for mAh.
const (
	leastMAh = 200
	mostMAh  = 60_000
)

// FullBattery returns the energy of a full battery in joules; 0 if the capacity is 0. A voltage of
// 0 stands for NominalVolts.
func FullBattery(capacityMAh, volts float64) float64 {
	if volts <= 0 {
		volts = NominalVolts
	}
	return max(capacityMAh, 0) * joulesPerMAhVolt * volts
}

// Capacity returns the first of the stated capacities that a battery can have, in mAh; 0 if none
// can. A capacity in µAh, such as charge_full_design, is recognized.
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
