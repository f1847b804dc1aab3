package power

import (
	"math"
	"testing"
	"time"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s is %.6g, want %.6g ± %.2g", what, got, want, tolerance)
	}
}

// twoCores returns hardware with round numbers: 1 W at full speed, 0.4 W in the middle.
func twoCores() Hardware {
	return Hardware{
		GPUW:   0.5,
		Big:    Cluster{4, 2, []Step{{1000, 0.1}, {2000, 0.4}, {3000, 1}}},
		Little: Cluster{0, 4, []Step{{500, 0.05}, {800, 0.1}}},
	}
}

// add makes a thread run on the big cluster at a step, in runs of the maximum length.
func add(w *Work, r Run) {
	for to := r.To; r.From < to; r.From = r.To {
		r.To = min(r.From+MaxRun, to)
		w.Add(r)
	}
}

func TestWorkJoules(t *testing.T) {
	w := Work{Hardware: twoCores(), Factor: 1}
	add(&w, Run{From: 0, To: 100 * time.Millisecond, Part: Big, Step: 1, Kind: Frame, Method: System})
	for at := 200 * time.Millisecond; at < 1200*time.Millisecond; at += MaxRun {
		w.Add(Run{From: at, To: at + MaxRun, Part: Big, Step: 2, Kind: Block, Method: System})
		if at < 400*time.Millisecond {
			w.Add(Run{From: at, To: at + MaxRun, Thread: 1, Part: Little, Step: 1, Kind: Other, Method: System})
		}
	}
	got := w.Joules(0, 2*time.Second)
	near(t, "the big cluster", got[Big], 0.1*0.4+1*1, 1e-9)
	near(t, "the little cluster", got[Little], 0.2*0.1, 1e-9)
	near(t, "the GPU", got[GPU], 0.1*0.5, 1e-9)
	near(t, "the CPU time in s", w.CPU(0, 2*time.Second).Seconds(), 0.1+1+0.2, 1e-9)
	near(t, "a part of it", w.Joules(375*time.Millisecond, 525*time.Millisecond)[Big], 0.15, 1e-9)
}

func TestMethodsByShareAndHunger(t *testing.T) {
	w := Work{Hardware: twoCores(), Factor: 1, Seed: 7, Methods: []Method{{Share: 0.5, Hunger: 1}, {Share: 0.2, Hunger: 3}}}
	add(&w, Run{From: 0, To: 200 * time.Second, Part: Big, Step: 2, Kind: Block, Method: Mixed})
	cpu := map[int]float64{}
	w.Slices(0, 200*time.Second, func(s Slice) { cpu[s.Method] += (s.To - s.From).Seconds() })
	// 100,000 turns: the standard deviation of a share of a half is 0.16 %.
	near(t, "the first method's seconds", cpu[0], 100, 2)
	near(t, "the second method's", cpu[1], 40, 2)
	near(t, "the system's", cpu[System], 60, 2)
	near(t, "the energy", w.Joules(0, 200*time.Second)[Big], cpu[0]+3*cpu[1]+cpu[System], 1e-6)
	// The parts of an interval add up, however it is split.
	parts := w.Joules(0, 33333*time.Microsecond)[Big] + w.Joules(33333*time.Microsecond, 200*time.Second)[Big]
	near(t, "the sum of two parts", parts, w.Joules(0, 200*time.Second)[Big], 1e-9)
}

// A thread that does four fifths of the work to which the shares refer runs the methods more
// often.
func TestSharesReferToTheWholeWork(t *testing.T) {
	w := Work{Hardware: twoCores(), Factor: 1, Seed: 7, Methods: []Method{{Share: 0.4, Hunger: 1}}}
	add(&w, Run{From: 0, To: 200 * time.Second, Part: Big, Step: 2, Method: Mixed, Share: 0.8})
	ran := 0.0
	w.Slices(0, 200*time.Second, func(s Slice) {
		if s.Method == 0 {
			ran += (s.To - s.From).Seconds()
		}
	})
	near(t, "the method's seconds", ran, 200/0.8*0.4, 2)
}

func TestBattery(t *testing.T) {
	b := HardwareOf(1).Battery
	near(t, "a full battery's charge", b.ChargeMAh(b.FullJ()), b.CapacityMAh, 1e-6)
	near(t, "an empty battery's charge", b.ChargeMAh(0), 0, 1e-9)
	for _, watts := range []float64{0.5, 3, -2} {
		volts, amperes := b.Reads(b.CapacityMAh/2, watts)
		near(t, "volts × amperes", -volts*amperes, watts, 1e-9)
		open := (b.FullV + b.EmptyV) / 2
		near(t, "the voltage under load", volts, open+amperes*b.Ohm, 1e-9)
	}
	// The charge drawn is the energy divided by the voltage: 1 % of the battery's energy near
	// its end is drawn at about 3.56 V.
	part := b.FullJ() / 100
	near(t, "the charge of the last hundredth", b.ChargeMAh(part), part/3.6/3.556, 0.05)
}

func TestIdleMean(t *testing.T) {
	i := Idle{Seed: 3, Factor: 1, Noise: 0.03}
	// 18,000 slots of 3 %: the mean's deviation is 0.02 %.
	near(t, "an hour at 2 W", i.Joules(2, 0, time.Hour)/3600, 2, 0.003)
	i = Idle{Seed: 3, Factor: 1, Gain: 0.04}
	near(t, "a warm phone", i.Joules(2, time.Hour, time.Hour+time.Second), 2*1.04, 1e-4)
	near(t, "a cold phone", i.Joules(2, 0, time.Second), 2, 1e-3)
}

// A gauge with a smoothing of one half approaches a new power over several updates: for 2 W
// that begin now it shows 1, 1.5 and 1.75 W.
func TestSmoothGaugeIsLate(t *testing.T) {
	b := HardwareOf(1).Battery
	draw := func(from, _ time.Duration) float64 {
		if from >= time.Minute {
			return 2
		}
		return 0
	}
	for updates, want := range map[time.Duration][2]float64{1: {2, 1}, 2: {2, 1.5}, 3: {2, 1.75}} {
		for i, smooth := range []float64{0, 0.5} {
			near(t, "the power shown", smoothed(time.Minute+updates*time.Second, time.Second, smooth, draw), want[i], 0.003)
		}
	}
	r := b.Gauge(time.Hour, time.Second, 0.5, 1, func(time.Duration) float64 { return b.FullJ() / 2 }, func(time.Duration, time.Duration) float64 { return 2 })
	near(t, "a steady power", -r.CurrentUA*r.VoltageUV/1e12, 2, 0.03)
}
