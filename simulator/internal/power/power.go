// Package power models a simulated phone's power: its hardware, the loads of its apps, and its
// battery's readings.
//
// It owns the physics. It does not know apps, commands or files (package phone does), and it
// measures nothing: it provides the truth with which measurements are compared. The truth is a
// sum of loads, each with its watts, its beginning and its end, so that the energy of any
// interval is exact. A sensor is a distorted view of it, never a second model.
//
// All numbers are invented; none is a measurement of a real phone.
package power

import "time"

// Part is a part of the phone that draws power.
type Part string

// The parts of a phone.
const (
	Base      Part = "base" // always on: memory, the idle modem, regulators
	Screen    Part = "screen"
	Big       Part = "cpu.big"
	Little    Part = "cpu.little"
	GPU       Part = "gpu"
	Awake     Part = "awake" // the system kept from sleeping by a wakelock while the screen is off
	Wifi      Part = "wifi"
	Mobile    Part = "mobile"
	GPS       Part = "gps"
	Audio     Part = "audio"
	Camera    Part = "camera"
	Bluetooth Part = "bluetooth"
	Torch     Part = "torch"
	Sensors   Part = "sensors" // the accelerometer and similar ones
)

// Parts returns all parts, in display order.
func Parts() []Part {
	return []Part{Base, Screen, Big, Little, GPU, Awake, Wifi, Mobile, GPS, Audio, Camera, Bluetooth, Torch, Sensors}
}

// Hardware is the power of each state of a phone.
type Hardware struct {
	AwakeW   float64 // awake, with the CPU idle and the screen off
	AsleepW  float64
	DarkW    float64 // added by the screen at brightness 0
	BrightW  float64 // the screen at brightness 255
	GPUW     float64 // while a frame is rendered
	Little   Cluster
	Big      Cluster
	Battery  Battery
	SupplyW  float64 // the maximum from a USB port
	HeatGain float64 // the share by which the power rises while the phone is awake for long
}

// Cluster is a group of identical CPUs.
type Cluster struct {
	First, Count int
	Steps        []Step // slowest first
}

// Step is one frequency of a cluster.
type Step struct {
	KHz   int
	Watts float64 // of one busy CPU
}

// Middle returns the step for short work, Top the fastest.
func (c Cluster) Middle() int { return len(c.Steps) / 2 }

// Held returns the step to which a hot phone limits the cluster: about half the frequency for
// short work.
func (c Cluster) Held() int {
	const least = 0.45
	for i, s := range c.Steps {
		if float64(s.KHz) >= least*float64(c.Steps[c.Middle()].KHz) {
			return i
		}
	}
	return 0
}

// Top returns the fastest step.
func (c Cluster) Top() int { return len(c.Steps) - 1 }

// steps returns the steps from the slowest to the fastest, with watts by f·V², where the
// voltage rises from 60 % to 100 %.
func steps(most float64, khz ...int) []Step {
	out := make([]Step, len(khz))
	fastest := float64(khz[len(khz)-1])
	for i, f := range khz {
		share := float64(f) / fastest
		volts := 0.6 + 0.4*share
		out[i] = Step{KHz: f, Watts: most * share * volts * volts}
	}
	return out
}

// HardwareOf returns the hardware of a phone by its slowness: below 0.9 a fast phone, above
// 1.2 a low-end one.
func HardwareOf(slowness float64) Hardware {
	h := Hardware{
		AwakeW: 0.21, AsleepW: 0.02, DarkW: 0.28, BrightW: 0.95, GPUW: 0.24,
		Little:   Cluster{0, 4, steps(0.22, 300_000, 691_200, 1_056_000, 1_401_600, 1_670_400)},
		Big:      Cluster{4, 4, steps(1.1, 652_800, 1_056_000, 1_420_800, 1_804_800, 2_208_000)},
		Battery:  Battery{CapacityMAh: 3800, FullV: 4.25, EmptyV: 3.55, Ohm: 0.06},
		SupplyW:  2.3,
		HeatGain: 0.04,
	}
	switch {
	case slowness < 0.9:
		h.Little.Steps = steps(0.3, 300_000, 738_000, 1_197_000, 1_598_000, 1_803_000)
		h.Big.Steps = steps(2.1, 500_000, 1_106_000, 1_582_000, 2_048_000, 2_507_000, 2_802_000)
		h.BrightW, h.Battery.CapacityMAh = 1.15, 4355
	case slowness > 1.2:
		h.Little.Steps = steps(0.16, 300_000, 600_000, 998_400)
		h.Big = Cluster{4, 2, steps(0.55, 598_000, 998_400, 1_300_000)}
		h.Battery.CapacityMAh, h.Battery.Ohm = 2500, 0.1
	}
	return h
}

// OnLittle returns the slowdown of frames on the little CPUs, which do less per cycle than the
// big ones.
func (h Hardware) OnLittle() float64 {
	const perTick = 1.7
	return perTick * float64(h.Big.Steps[h.Big.Middle()].KHz) / float64(h.Little.Steps[h.Little.Top()].KHz)
}

// HeldDown returns the slowdown with limited frequencies of the big CPUs.
func (h Hardware) HeldDown() float64 {
	return float64(h.Big.Steps[h.Big.Middle()].KHz) / float64(h.Big.Steps[h.Big.Held()].KHz)
}

// Watts of parts that are either on or off.
var onWatts = map[Part]float64{
	Wifi: 0.65, Mobile: 1.05, GPS: 0.17, Audio: 0.08, Camera: 0.9, Bluetooth: 0.06, Torch: 0.55,
}

// OnWatts returns the power of a part while it is on; 0 for parts with more states.
func OnWatts(p Part) float64 { return onWatts[p] }

// Load is a power draw over a time.
type Load struct {
	From, To time.Duration
	Part     Part
	Watts    float64
}

// Joules returns the energy of the load between two instants.
func (l Load) Joules(from, to time.Duration) float64 {
	return l.Watts * Overlap(l.From, l.To, from, to).Seconds()
}

// Overlap returns the length of the intersection of two intervals.
func Overlap(a, b, c, d time.Duration) time.Duration { return max(0, min(b, d)-max(a, c)) }

// Sum is energy by part, in joules.
type Sum map[Part]float64

// Add adds another sum.
func (s Sum) Add(other Sum) {
	for part, j := range other {
		s[part] += j
	}
}

// Total returns the energy of all parts.
func (s Sum) Total() float64 {
	total := 0.0
	for _, part := range Parts() { // in order, so that rounding is reproducible
		total += s[part]
	}
	return total
}
