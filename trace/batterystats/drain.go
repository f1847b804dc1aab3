package batterystats

import "fmt"

// Voltages that a phone's or a tablet's battery can have, in mV.
const (
	leastMV = 2000
	mostMV  = 20_000
	// mostSwing is the largest ratio between a battery's voltages when full and when empty: a cell
	// goes from 4.5 to 2.8 V at most.
	mostSwing = 1.75
)

// Energy returns the period's computed drain in joules: mAh × 3.6 C/mAh × V. It returns nil if the
// file does not state both, or contradicts them; the doubts explain an unexpected nil, or what is
// odd about the joules returned.
func (d Dump) Energy(p *Period) (*Energy, []string) {
	mah, stated := p.Stated["computed_mah"]
	if !stated {
		return nil, nil
	}
	if mah == 0 {
		if p.charging() {
			return nil, nil // a warning is there already
		}
		return nil, []string{"the computed drain is 0 mAh: the time on battery was too short, and no energy is given"}
	}
	drain, refused := p.contradiction(mah)
	var doubts []string
	if drain != "" {
		doubts = append(doubts, drain)
	}
	e := Energy{Source: "platform", ComputedMAh: mah}
	var odd string
	if e.VoltageMV, e.VoltageFrom, odd = d.voltage(); odd != "" {
		doubts = append(doubts, odd)
	}
	if odd != "" || refused {
		return nil, doubts
	}
	e.Joules = mah * 3.6 * e.VoltageMV / 1000
	return &e, doubts
}

// voltage returns the mean voltage on battery and its source, or what is wrong with it.
func (d Dump) voltage() (mv float64, from, odd string) {
	mv, from = d.History.VoltageMV, "history"
	low, high := d.History.MinVoltageMV, d.History.MaxVoltageMV
	if mv == 0 && d.Battery != nil && len(d.Battery.Powered) == 0 {
		mv, from = d.Battery.Stated["voltage_mv"], "battery"
		low, high = 0, 0
	}
	switch {
	case mv == 0:
		return 0, "", "no voltage on battery is stated: the drain is given in mAh alone"
	case mv < leastMV || mv > mostMV:
		return 0, "", fmt.Sprintf("the voltage is stated as %.0f mV, which no battery has: the drain is given in mAh alone", mv)
	case swings(low, high):
		return 0, "", fmt.Sprintf("the voltage is stated as %.0f to %.0f mV on battery, which no one battery has: the drain is given in mAh alone", low, high)
	}
	return mv, from, ""
}

// contradiction compares the computed drain with the fall of the battery's level, which Android
// also states, with a tolerance of one step of the level and a quarter. Beyond twice the level's
// drain, or less than half, the drain is refused. A level that did not fall is no evidence.
func (p *Period) contradiction(computed float64) (doubt string, refused bool) {
	const near, far = 1.25, 2
	low, high := p.Stated["actual_min_mah"], p.Stated["actual_max_mah"]
	if high == 0 {
		return "", false
	}
	step := p.Stated["capacity_profile_mah"] / 100
	most, least := high+step, max(low-step, 0)
	switch {
	case computed > most*far || computed*far < least:
		return fmt.Sprintf("the computed drain is %g mAh, but the battery's level fell by %g to %g mAh: no energy is given", computed, low, high), true
	case computed > most*near:
		return fmt.Sprintf("the computed drain is %g mAh, but the battery's level fell by %g to %g mAh: the energy may be too high", computed, low, high), false
	case computed*near < least:
		return fmt.Sprintf("the computed drain is %g mAh, but the battery's level fell by %g to %g mAh: the energy may be too low", computed, low, high), false
	}
	return "", false
}

// Contradicted reports whether the file itself contradicts the period's drain, or its own voltage,
// so much that there is no energy.
func (d Dump) Contradicted(p *Period) bool {
	_, refused := p.contradiction(p.Stated["computed_mah"])
	return refused || swings(d.History.MinVoltageMV, d.History.MaxVoltageMV)
}

// swings reports whether the voltages are further apart than those of one battery can be.
func swings(low, high float64) bool { return low > 0 && high > low*mostSwing }

// charging reports whether a charger was connected all the time.
func (p *Period) charging() bool {
	on, stated := p.Stated["on_battery_ms"]
	return stated && on == 0
}

// doubts returns the warnings about the period as a whole.
func (p *Period) doubts() []string {
	if p.charging() {
		return []string{"the device was on a charger all the time (0 ms on battery): Android counts power, CPU time and wakelocks on battery alone"}
	}
	return nil
}
