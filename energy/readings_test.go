package energy_test

import (
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/energytest"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// varied is a current of so many mA that changes slightly each second.
func varied(milliamperes float64, seconds int) []float64 {
	out := make([]float64, seconds)
	for i := range out {
		out[i] = milliamperes * (1 + 0.01*float64(i%2))
	}
	return out
}

// TestCorrectDoesNotBridgeImpossibleCurrents has ten seconds of two minutes in which the battery
// reports no current, or an impossible one: the power is unknown then, whatever else was read.
func TestCorrectDoesNotBridgeImpossibleCurrents(t *testing.T) {
	t.Parallel()
	for name, current := range map[string]*float64{"none": nil, "0": ptr(0.0), "the smallest integer": ptr(float64(math.MinInt32))} {
		readings := steadily(varied(250, 120)...)
		for i := 60; i < 70; i++ {
			readings[i].Current = current
		}
		c, err := energy.Correct(readings, energy.BatteryFacts{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, covered := c.Curve.Energy(energytest.Seconds(59), energytest.Seconds(70)); covered != 0 {
			t.Errorf("%s: %v of the time without a current count as known", name, covered)
		}
		if _, covered := c.Curve.Energy(0, energytest.Seconds(119)); covered != 108*time.Second {
			t.Errorf("%s: %v are known, want 108 s: 0 to 59 and 70 to 119", name, covered)
		}
	}
}

// TestCorrectIgnoresTheLevelNearEmpty has a phone at 1 % of 4 Ah whose counter, which includes the
// phone's reserve, is at 320 mAh. Ten times the charge of 1 % is no reason to assume another unit.
func TestCorrectIgnoresTheLevelNearEmpty(t *testing.T) {
	t.Parallel()
	readings := steadily(varied(1200, 30)...) // moves the counter by 10 mAh
	for i := range readings {
		*readings[i].Charge -= 1_680_000
	}
	c, err := energy.Correct(readings, energy.BatteryFacts{CapacityMAh: 4000, LevelPercent: 1})
	if err != nil {
		t.Fatal(err)
	}
	// 1.206 A on average at 4 V, for 29 s.
	if joules, _ := c.Curve.Energy(0, time.Hour); math.Abs(joules-1.206*4*29) > 0.5 {
		t.Errorf("%g J: %s", joules, c)
	}
}

// TestCorrectUsesTheFirstLevel drains a tenth of a small battery from 12 % down to 2 %:
// later counter readings are no evidence against its unit at the beginning.
func TestCorrectUsesTheFirstLevel(t *testing.T) {
	t.Parallel()
	readings := steadily(varied(1200, 900)...) // 301.5 mAh
	for i := range readings {
		*readings[i].Charge -= 1_640_000 // begins at 360 mAh, 12 % of 3 Ah
	}
	c, err := energy.Correct(readings, energy.BatteryFacts{CapacityMAh: 3000, LevelPercent: 12})
	if err != nil || c.AmperesPerUnit != 1e-6 || math.Abs(c.CounterRatio-1) > 0.03 {
		t.Errorf("%s, %v", c, err)
	}
}

// TestCorrectPrefersTheReadingsLevel has 40 % of 4 Ah left when the measurement begins, and had 90
// % when the phone was queried long before.
func TestCorrectPrefersTheReadingsLevel(t *testing.T) {
	t.Parallel()
	readings := steadily(varied(1200, 30)...)
	for i := range readings {
		*readings[i].Charge -= 400_000 // begins at 1600 mAh
		readings[i].Percent = ptr(40.0)
	}
	c, err := energy.Correct(readings, energy.BatteryFacts{CapacityMAh: 4000, LevelPercent: 90})
	if err != nil || math.Abs(c.CounterRatio-1) > 0.1 {
		t.Errorf("the counter says %g of the current, %v", c.CounterRatio, err)
	}
}

// TestCorrectCountsOnlyUpdatesOfTheCurrent has a voltage that differs at each of four readings a
// second, while the current updates once: instants of one second still share an update.
func TestCorrectCountsOnlyUpdatesOfTheCurrent(t *testing.T) {
	t.Parallel()
	var readings []energy.BatteryReading
	for i := range 40 {
		readings = append(readings, energy.BatteryReading{Time: time.Duration(i) * poll, Current: ptr(-250_000 - 1000*float64(i/4)),
			Voltage: ptr(4_000_000 + float64(i%3)), Power: energy.OnBattery})
	}
	c, err := energy.Correct(readings, energy.BatteryFacts{})
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[int]bool{}
	for at := time.Duration(0); at < 9750*time.Millisecond; at += 125 * time.Millisecond {
		_, reading, ok := c.Curve.At(at)
		if !ok {
			t.Fatalf("nothing is known at %v", at)
		}
		numbers[reading] = true
	}
	if len(numbers) != 10 {
		t.Errorf("%d readings in ten seconds, want 10", len(numbers))
	}
	if c.Curve.Update() != time.Second {
		t.Errorf("an update in %v, want 1 s", c.Curve.Update())
	}
}

// TestCorrectOfARarelyChangingCurrent alternates between 250 mA and 1250 mA every ten seconds,
// without noise: 1 W and 5 W at 4 V, with a second between them in which the power goes from one to
// the other.
func TestCorrectOfARarelyChangingCurrent(t *testing.T) {
	t.Parallel()
	var currents []float64
	for i := range 200 {
		ma := 250.0
		switch i % 20 {
		case 9, 19:
			ma = 750 // half of that second
		case 10, 11, 12, 13, 14, 15, 16, 17, 18:
			ma = 1250
		}
		currents = append(currents, ma)
	}
	readings := steadily(currents...)
	c, err := energy.Correct(readings, energy.BatteryFacts{})
	if err != nil {
		t.Fatal(err)
	}
	joules, _ := c.Curve.Energy(energytest.Seconds(20), energytest.Seconds(28))
	energytest.Near(t, "at rest", joules, 8)
	joules, _ = c.Curve.Energy(energytest.Seconds(30), energytest.Seconds(38))
	energytest.Near(t, "at work", joules, 40)
}

// TestBatteryOfSeveralBatteries has a device whose two batteries are read alternately: half of its
// current is not its power.
func TestBatteryOfSeveralBatteries(t *testing.T) {
	t.Parallel()
	trace := &powerdata.Trace{}
	for i := range 40 {
		trace.Battery = append(trace.Battery, powerdata.BatterySample{Time: time.Duration(i) * poll, Name: []string{"BAT0", "BAT1"}[i%2],
			CurrentUA: ptr(int64(-250_000 - i)), VoltageUV: ptr(int64(4_000_000))})
	}
	if got := energy.BatteryOf(trace, energy.OnBattery); len(got) != 0 {
		t.Errorf("%d readings of two batteries, want none", len(got))
	}
	trace.Battery = append(trace.Battery[:1], trace.Battery[2])
	if got := energy.BatteryOf(trace, energy.OnBattery); len(got) != 2 {
		t.Errorf("%d readings of one battery, want 2", len(got))
	}
}
