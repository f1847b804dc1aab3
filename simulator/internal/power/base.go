package power

import (
	"math"
	"time"
)

// Slot is how long the noise of the base load is constant.
const Slot = 200 * time.Millisecond

// Idle is the base load of a phone: a level for the session, which rises as the phone gets
// warm, and noise.
type Idle struct {
	Seed   uint64
	Factor float64 // of the session
	Noise  float64 // standard deviation of a slot, as a share
	Gain   float64 // see Hardware.HeatGain
	Warm   time.Duration
}

// warmUp is the time constant of the drift.
const warmUp = 4 * time.Minute

// Joules returns the energy of a load of the given power, with noise and drift.
func (i Idle) Joules(watts float64, from, to time.Duration) float64 {
	j := 0.0
	for at := from; at < to; {
		slot := at / Slot
		end := min((slot+1)*Slot, to)
		j += watts * i.factor(slot) * (end - at).Seconds()
		at = end
	}
	return j
}

func (i Idle) factor(slot time.Duration) float64 {
	age := (slot*Slot - i.Warm).Seconds() / warmUp.Seconds()
	drift := i.Gain * (1 - math.Exp(-max(age, 0)))
	return i.Factor * (1 + drift) * (1 + i.Noise*normal(i.Seed, uint64(slot)))
}

// mix returns a hash of the words (splitmix64).
func mix(words ...uint64) uint64 {
	x := uint64(0x9e3779b97f4a7c15)
	for _, w := range words {
		x += w + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// normal returns an approximately normal number: the sum of twelve uniform ones, minus six.
func normal(words ...uint64) float64 {
	x, sum := mix(words...), -6.0
	for range 12 {
		x = mix(x)
		sum += float64(x>>11) / (1 << 53)
	}
	return sum
}
