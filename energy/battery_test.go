package energy_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/energytest"
)

// load is a true power in W over time.
type load struct {
	name  string
	watts func(t time.Duration) float64
}

// sensor is how a simulated phone reports its battery.
type sensor struct {
	ampere  float64 // A per unit of the current
	flipped bool    // out of the battery is positive
	volt    float64 // V per unit
	ah      float64 // Ah per unit of the counter, 0 for none
	whole   bool    // in whole units
	update  time.Duration
	average time.Duration // the current is the mean over that long instead of the update
	noise   float64       // relative, of the current
	step    float64       // of the counter, in Ah
	power   energy.Power
	spoil   func(i int, r *energy.BatteryReading) // other faults
}

// conforming is a sensor that conforms to the specification.
func conforming() sensor {
	return sensor{ampere: 1e-6, volt: 1e-6, ah: 1e-6, whole: true, update: time.Second, noise: 0.02, step: 0.0005, power: energy.OnBattery}
}

const (
	poll     = 250 * time.Millisecond
	duration = 3 * time.Minute
	capacity = 4.0 // Ah
	level    = 0.6
)

// volts is the voltage of a cell at 60 % under a load.
func volts(w float64) float64 { return 3.85 - 0.03*w }

// simulate reads a simulated phone every poll, and returns the true joules between the first and
// the last reading.
func (s sensor) simulate(l load, rng *rand.Rand) (readings []energy.BatteryReading, joules float64) {
	const tick = 10 * time.Millisecond
	window := max(s.average, s.update)
	var past []float64 // the current at each tick
	var current, charge, lost float64
	for t := time.Duration(0); t <= window+duration; t += tick {
		w := l.watts(t)
		past = append(past, w/volts(w))
		if t%s.update == 0 {
			n := min(int(window/tick), len(past))
			current = 0
			for _, a := range past[len(past)-n:] {
				current += a / float64(n)
			}
			current *= 1 + s.noise*rng.NormFloat64()
		}
		if t < window {
			continue
		}
		if t > window {
			joules += w * tick.Seconds()
			lost += past[len(past)-1] * tick.Hours()
		}
		charge = math.Ceil((capacity*level-lost)/s.step) * s.step
		if t%poll == 0 {
			readings = append(readings, s.report(t, current, volts(w), charge))
		}
	}
	if s.spoil != nil {
		for i := range readings {
			s.spoil(i, &readings[i])
		}
	}
	return readings, joules
}

func (s sensor) report(t time.Duration, amperes, volts, ah float64) energy.BatteryReading {
	unit := func(v, scale float64) *float64 {
		v /= scale
		if s.whole {
			v = math.Round(v)
		}
		return &v
	}
	r := energy.BatteryReading{Time: t, Current: unit(-amperes, s.ampere), Voltage: unit(volts, s.volt), Power: s.power}
	if s.flipped {
		*r.Current = -*r.Current
	}
	if s.ah > 0 {
		r.Charge = unit(ah, s.ah)
	}
	return r
}

func wobble(w float64) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		return w * (1 + 0.1*math.Sin(t.Seconds()/7) + 0.05*math.Sin(t.Seconds()*1.3))
	}
}

func realisticLoads() []load {
	return []load{
		{"idle, 0.05 W", wobble(0.05)},
		{"reading, 0.8 W", wobble(0.8)},
		{"scrolling, 2.5 W", func(t time.Duration) float64 { return 1 + 3*math.Pow(math.Sin(t.Seconds()/5), 2) }},
		{"bursts, 0.2 to 6 W", func(t time.Duration) float64 {
			if math.Mod(t.Seconds()+15, 30) < 10 {
				return 6
			}
			return 0.2
		}},
		{"game, 8 W", wobble(8)},
	}
}

const (
	right   = "right"
	refused = "refused"
	wrong   = "silently wrong"
)

// judge reports whether a correction was within 2 % of the truth, refused, or silently wrong. A
// sensor reports the current of the last update: a difference in power between beginning and end is
// missed or counted for that long.
func judge(t *testing.T, s sensor, l load, facts energy.BatteryFacts, seed uint64) (string, string) {
	t.Helper()
	readings, truth := s.simulate(l, rand.New(rand.NewPCG(seed, 1)))
	c, err := energy.Correct(readings, facts)
	if err != nil {
		return refused, err.Error()
	}
	from, to := readings[0].Time, readings[len(readings)-1].Time
	joules, covered := c.Curve.Energy(from, to)
	if covered < (to-from)*99/100 {
		return refused, "the curve has gaps"
	}
	what := fmt.Sprintf("%s: %.4g J, in truth %.4g J", c, joules, truth)
	late := max(s.update, s.average).Seconds() * math.Abs(l.watts(to)-l.watts(from))
	if math.Abs(joules-truth) > 0.02*truth+late {
		return wrong, what
	}
	return right, what
}

// TestCorrectMisreportingDevices is the table of docs/collection/joules.md: simulated phones that report their
// battery as real ones do (EDATA, section 6.1.1), under loads from idle to a game. None may be
// silently wrong.
func TestCorrectMisreportingDevices(t *testing.T) {
	t.Parallel()
	with := func(change func(*sensor)) sensor {
		s := conforming()
		change(&s)
		return s
	}
	known := energy.BatteryFacts{CapacityMAh: 4000, LevelPercent: 60}
	nothing := energy.BatteryFacts{}
	lit := energy.BatteryFacts{ScreenOn: true}
	garbage := func(values ...float64) func(int, *energy.BatteryReading) {
		return func(i int, r *energy.BatteryReading) {
			if i%180 == 90 {
				r.Current = &values[i/180%len(values)]
			}
		}
	}
	for _, c := range []struct {
		name    string
		sensor  sensor
		facts   energy.BatteryFacts
		refused int   // of the five loads
		why     error // of the refusals
	}{
		{"as specified", conforming(), known, 0, nil},
		{"as specified, nothing else known", conforming(), nothing, 0, nil},
		{"current in mA", with(func(s *sensor) { s.ampere = 1e-3 }), known, 0, nil},
		{"current in mA, nothing else known", with(func(s *sensor) { s.ampere = 1e-3 }), nothing, 0, nil},
		{"current in A with decimals", with(func(s *sensor) { s.ampere, s.whole = 1, false }), known, 0, nil},
		{"current in whole A", with(func(s *sensor) { s.ampere = 1 }), known, 5, energy.ErrNoCurrent},
		{"current in nA", with(func(s *sensor) { s.ampere = 1e-9 }), known, 0, nil},
		{"current in tenths of mA, fine counter", with(func(s *sensor) { s.ampere, s.step = 1e-4, 0.0001 }), known, 0, nil},
		{"sign flipped", with(func(s *sensor) { s.flipped = true }), known, 0, nil},
		{"mA and sign flipped", with(func(s *sensor) { s.ampere, s.flipped = 1e-3, true }), known, 0, nil},
		{"voltage in mV", with(func(s *sensor) { s.volt = 1e-3 }), known, 0, nil},
		{"voltage in V with decimals", with(func(s *sensor) { s.volt, s.whole = 1, false }), known, 0, nil},
		{"voltage in whole V", with(func(s *sensor) { s.volt = 1 }), known, 5, energy.ErrNoVoltage},
		{"charge counter in mAh", with(func(s *sensor) { s.ah = 1e-3 }), known, 0, nil},
		{"charge counter in mAh, nothing else known", with(func(s *sensor) { s.ah = 1e-3 }), nothing, 0, nil},
		{"no charge counter, screen on", with(func(s *sensor) { s.ah = 0 }), lit, 1, energy.ErrUnit},
		{"no charge counter, nothing else known", with(func(s *sensor) { s.ah = 0 }), nothing, 1, energy.ErrUnit},
		{"mA, no charge counter, screen on", with(func(s *sensor) { s.ah, s.ampere = 0, 1e-3 }), lit, 1, energy.ErrUnit},
		{"no charge counter, unit known from before", with(func(s *sensor) { s.ah = 0 }), energy.BatteryFacts{AmperesPerUnit: 1e-6}, 0, nil},
		{"current is a mean of 5 s", with(func(s *sensor) { s.average = 5 * time.Second }), known, 0, nil},
		{"current updated every 4 s", with(func(s *sensor) { s.update = 4 * time.Second }), known, 0, nil},
		{"current with 5 % noise", with(func(s *sensor) { s.noise = 0.05 }), known, 0, nil},
		{"current always 0", with(func(s *sensor) { s.ampere = 1e12 }), known, 5, energy.ErrNoCurrent},
		{"current always the same", with(func(s *sensor) {
			same := -250_000.0
			s.spoil = func(_ int, r *energy.BatteryReading) { r.Current = &same }
		}), known, 5, energy.ErrNoUpdates},
		{"no current (smallest integer)", with(func(s *sensor) {
			none := float64(math.MinInt32)
			s.spoil = func(_ int, r *energy.BatteryReading) { r.Current = &none }
		}), known, 5, energy.ErrNoCurrent},
		{"an outlier a minute", with(func(s *sensor) { s.spoil = garbage(0, math.MaxInt32, -1, 65_535_000) }), known, 0, nil},
		{"voltage 0 now and then", with(func(s *sensor) {
			none := 0.0
			s.spoil = func(i int, r *energy.BatteryReading) {
				if i%40 == 3 {
					r.Voltage = &none
				}
			}
		}), known, 0, nil},
		{"charging, and it reports it", with(func(s *sensor) { s.power = energy.External }), known, 5, energy.ErrCharging},
		{"plugged in for a second, and it reports it", with(func(s *sensor) {
			s.spoil = func(i int, r *energy.BatteryReading) {
				if i/4 == 60 {
					r.Power = energy.External
				}
			}
		}), known, 5, energy.ErrCharging},
		{"charged from the middle on, unnoticed", with(func(s *sensor) {
			s.spoil = func(i int, r *energy.BatteryReading) {
				if i > 360 {
					*r.Current = -*r.Current
				}
			}
		}), known, 5, energy.ErrDirection},
		{"charging throughout, reports no charger", with(func(s *sensor) {
			s.power, s.ah = energy.PowerUnknown, 0
			s.spoil = func(_ int, r *energy.BatteryReading) { *r.Current = -*r.Current }
		}), known, 5, energy.ErrPowerUnknown},
		{"reports no charger", with(func(s *sensor) { s.power = energy.PowerUnknown }), known, 1, energy.ErrPowerUnknown},
		{"reports no charger, counter rises", with(func(s *sensor) {
			s.power = energy.PowerUnknown
			s.spoil = func(_ int, r *energy.BatteryReading) { *r.Charge = 4_800_000 - *r.Charge }
		}), known, 5, nil},
		{"reports being on battery, counter rises", with(func(s *sensor) {
			s.spoil = func(_ int, r *energy.BatteryReading) { *r.Charge = 4_800_000 - *r.Charge }
		}), known, 4, energy.ErrCharging},
		{"a fifth of the readings are 0", with(func(s *sensor) {
			none := 0.0
			s.spoil = func(i int, r *energy.BatteryReading) {
				if i%5 == 0 {
					r.Current = &none
				}
			}
		}), known, 5, energy.ErrUnsteady},
		{"counter reset now and then", with(func(s *sensor) {
			s.spoil = func(i int, r *energy.BatteryReading) { *r.Charge += 30_000 * float64(i/60) }
		}), known, 2, nil},
		{"counter jitters by three steps", with(func(s *sensor) {
			s.spoil = func(i int, r *energy.BatteryReading) { *r.Charge += 500 * float64(i*5%7-3) }
		}), known, 1, energy.ErrUnit},
		{"counter falls three times too fast", with(func(s *sensor) {
			s.spoil = func(_ int, r *energy.BatteryReading) { *r.Charge = 3*(*r.Charge) - 4_800_000 }
		}), known, 4, energy.ErrCounter},
	} {
		counts := map[string]int{}
		for i, l := range realisticLoads() {
			verdict, what := judge(t, c.sensor, l, c.facts, uint64(i))
			counts[verdict]++
			if verdict == wrong {
				t.Errorf("%s, %s: %s", c.name, l.name, what)
			}
			if testing.Verbose() {
				t.Logf("    %s: %s: %s", l.name, verdict, what)
			}
			if verdict == refused && c.why != nil && !strings.Contains(what, c.why.Error()) {
				t.Errorf("%s, %s: refused with %q, want %q", c.name, l.name, what, c.why)
			}
		}
		t.Logf("| %s | %d | %d | %d |", c.name, counts[right], counts[refused], counts[wrong])
		if counts[refused] != c.refused {
			t.Errorf("%s: refused %d of 5 loads, want %d", c.name, counts[refused], c.refused)
		}
	}
}

// TestCorrectIsNeverSilentlyWrong draws true powers and quirks at random: the result is within 2
// % of the truth or refused.
func TestCorrectIsNeverSilentlyWrong(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 2026))
	counts := map[string]int{}
	for i := range 600 {
		s, l, facts := randomPhone(rng)
		verdict, what := judge(t, s, l, facts, uint64(i))
		counts[verdict]++
		if verdict == wrong {
			t.Errorf("phone %d, %s, %+v, %+v: %s", i, l.name, s, facts, what)
		}
	}
	t.Logf("of %d simulated phones %d right, %d refused, %d silently wrong", 600, counts[right], counts[refused], counts[wrong])
	if counts[right] < 400 {
		t.Errorf("only %d of 600 phones are measured: too much is refused", counts[right])
	}
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func randomPhone(rng *rand.Rand) (sensor, load, energy.BatteryFacts) {
	s := conforming()
	s.ampere = pick(rng, 1e-9, 1e-6, 1e-6, 1e-3, 1e-3, 1)
	s.whole = s.ampere < 1
	s.flipped = pick(rng, false, true)
	s.volt = pick(rng, 1e-6, 1e-3)
	s.ah = pick(rng, 0, 1e-6, 1e-6, 1e-3)
	s.update = pick(rng, 250*time.Millisecond, time.Second, 2*time.Second)
	s.average = pick(rng, 0, 0, 2*time.Second)
	s.noise = pick(rng, 0.005, 0.03)
	s.step = pick(rng, 0.0001, 0.001, 0.04) // the last is a whole percent
	s.power = pick(rng, energy.OnBattery, energy.OnBattery, energy.OnBattery, energy.PowerUnknown)
	if s.power == energy.PowerUnknown && rng.IntN(2) == 0 { // charging, and not reported
		s.spoil = func(_ int, r *energy.BatteryReading) {
			*r.Current = -*r.Current
			if r.Charge != nil {
				*r.Charge = 2*capacity*level/s.ah - *r.Charge
			}
		}
	}
	base := 0.05 * math.Pow(160, rng.Float64()) // 0.05 to 8 W
	swing, period, phase := 0.7*rng.Float64(), 5+20*rng.Float64(), 6*rng.Float64()
	l := load{fmt.Sprintf("%.2g W ± %.0f %%", base, 100*swing), func(t time.Duration) float64 {
		return base * (1 + swing*math.Sin(phase+t.Seconds()*2*math.Pi/period))
	}}
	facts := energy.BatteryFacts{ScreenOn: base > 0.5 && rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		facts.CapacityMAh, facts.LevelPercent = 4000*(0.95+0.15*rng.Float64()), 60
	}
	return s, l, facts
}

// TestCorrectCountsShortBursts has a phone that draws 9 W for a second and a half once in twenty,
// and next to nothing else: its bursts are not outliers. A current that is reported a second late
// is multiplied by a voltage that has recovered from the burst, 3.85 V instead of 3.58 V: the
// energy is up to 7.5 % too high.
func TestCorrectCountsShortBursts(t *testing.T) {
	t.Parallel()
	l := load{"short bursts", func(t time.Duration) float64 {
		if math.Mod(t.Seconds()+10, 20) < 1.5 {
			return 9
		}
		return 0.05
	}}
	for _, facts := range []energy.BatteryFacts{{}, {CapacityMAh: 4000, LevelPercent: 60}} {
		readings, truth := conforming().simulate(l, rand.New(rand.NewPCG(1, 1)))
		c, err := energy.Correct(readings, facts)
		if err != nil {
			t.Fatal(err)
		}
		if joules, _ := c.Curve.Energy(0, time.Hour); joules < 0.98*truth || joules > 1.08*truth {
			t.Errorf("%g J, in truth %g J: %s", joules, truth, c)
		}
	}
}

// TestCorrectLeavesGapsUnknown has a gap of half a minute in the readings.
func TestCorrectLeavesGapsUnknown(t *testing.T) {
	t.Parallel()
	readings, _ := conforming().simulate(realisticLoads()[1], rand.New(rand.NewPCG(1, 1)))
	begin := readings[0].Time
	readings = slices.DeleteFunc(readings, func(r energy.BatteryReading) bool {
		return r.Time > begin+60*time.Second && r.Time < begin+90*time.Second
	})
	c, err := energy.Correct(readings, energy.BatteryFacts{})
	if err != nil {
		t.Fatal(err)
	}
	if _, covered := c.Curve.Energy(begin+60*time.Second, begin+90*time.Second); covered > time.Second {
		t.Errorf("%v of the half minute are known", covered)
	}
	if _, covered := c.Curve.Energy(begin, begin+duration); covered < duration-31*time.Second {
		t.Errorf("only %v of the rest are known", covered)
	}
}

// TestCorrectionString compares a correction with its description and with a sum computed by
// hand.
func TestCorrectionString(t *testing.T) {
	t.Parallel()
	// 100, 200, 300, … 600 mA out of the battery as positive mA, a second each, at
	// 4 V: 0.4, 0.8, … 2.4 W. By the trapezoid over five seconds:
	// 0.6 + 1.0 + 1.4 + 1.8 + 2.2 = 7 J.
	var readings []energy.BatteryReading
	for i := range 6 {
		current, voltage := float64(100+100*i), 4000.0
		readings = append(readings, energy.BatteryReading{Time: time.Duration(i) * time.Second, Current: &current, Voltage: &voltage, Power: energy.OnBattery})
	}
	c, err := energy.Correct(readings, energy.BatteryFacts{})
	if err != nil {
		t.Fatal(err)
	}
	if joules, _ := c.Curve.Energy(0, time.Minute); math.Abs(joules-7) > 1e-9 {
		t.Errorf("%g J, want 7", joules)
	}
	const want = "current in mA (× 1000), sign flipped, voltage in mV, no charge counter to check against"
	if c.String() != want {
		t.Errorf("it says %q, want %q", c, want)
	}
	if c.Update != time.Second || c.Updates != 6 {
		t.Errorf("%d updates, one in %v; want 6, one a second", c.Updates, c.Update)
	}
	// The voltage falls to 3 V together with the last current: 1.8 W at 5 s, and (2+1.8)/2 = 1.9 J
	// in place of 2.2 J.
	*readings[5].Voltage = 3000
	if c, err = energy.Correct(readings, energy.BatteryFacts{}); err != nil {
		t.Fatal(err)
	}
	if joules, _ := c.Curve.Energy(0, time.Minute); math.Abs(joules-6.7) > 1e-9 {
		t.Errorf("with a new voltage at the end %g J, want 6.7", joules)
	}
	// The voltage falls to 3 V between two values of the current: 550 mA × 3 V =
	// 1.65 W at 4.5 s, and 1.8 W at 5 s. With 2 W at 4 s: (2+1.65)/2×0.5 +
	// (1.65+1.8)/2×0.5 = 0.9125 + 0.8625 = 1.775 J in place of 2.2 J.
	low := 3000.0
	readings[5].Voltage = &low
	readings = append(readings[:5], energy.BatteryReading{Time: 4500 * time.Millisecond, Voltage: &low, Power: energy.OnBattery}, readings[5])
	if c, err = energy.Correct(readings, energy.BatteryFacts{}); err != nil {
		t.Fatal(err)
	}
	if joules, _ := c.Curve.Energy(0, time.Minute); math.Abs(joules-6.575) > 1e-9 {
		t.Errorf("with a new voltage in between %g J, want 6.575", joules)
	}
}

// steadily reads a battery every second: mA out of it at 4 V, and a counter of whole mAh.
func steadily(milliamperes ...float64) []energy.BatteryReading {
	var readings []energy.BatteryReading
	lost := 0.7 // mAh
	for i, ma := range milliamperes {
		readings = append(readings, energy.BatteryReading{Time: time.Duration(i) * time.Second, Current: ptr(-1000 * ma),
			Voltage: ptr(4_000_000.0), Charge: ptr(1000 * (2000 - math.Floor(lost))), Power: energy.OnBattery})
		lost += ma / 3600
	}
	return readings
}

// TestCorrectHoldsConstantCurrents has 250 mA for twenty seconds before it changes to 1250 mA: 1 W
// until an update before the change, not a slow rise.
func TestCorrectHoldsConstantCurrents(t *testing.T) {
	t.Parallel()
	currents := []float64{250, 260, 250, 260, 250}
	for len(currents) < 25 {
		currents = append(currents, 250)
	}
	c, err := energy.Correct(steadily(append(currents, 1250, 1260)...), energy.BatteryFacts{})
	if err != nil {
		t.Fatal(err)
	}
	// 250 mA from 4 s to 24 s is 1 W × 20 s; from 24 s to 25 s the power rises from
	// 1 W to 5 W.
	joules, _ := c.Curve.Energy(energytest.Seconds(4), energytest.Seconds(24))
	energytest.Near(t, "while it stays", joules, 20)
	joules, _ = c.Curve.Energy(energytest.Seconds(24), energytest.Seconds(25))
	energytest.Near(t, "while it changes", joules, 3)
}

// TestCurveReadingsShareUpdates reads four times a second a value that changes once a second:
// instants of one second have one reading, which others filter by.
func TestCurveReadingsShareUpdates(t *testing.T) {
	t.Parallel()
	var readings []energy.BatteryReading
	for i := range 40 {
		readings = append(readings, energy.BatteryReading{Time: time.Duration(i) * poll, Current: ptr(-250_000 - 1000*float64(i/4)),
			Voltage: ptr(4_000_000.0), Power: energy.OnBattery})
	}
	c, err := energy.Correct(readings, energy.BatteryFacts{})
	if err != nil {
		t.Fatal(err)
	}
	_, first, _ := c.Curve.At(energytest.Seconds(4.1))
	_, same, _ := c.Curve.At(energytest.Seconds(4.9))
	_, next, _ := c.Curve.At(energytest.Seconds(5.1))
	if first != same || next == same || c.Update != time.Second {
		t.Errorf("readings %d, %d and %d, an update in %v", first, same, next, c.Update)
	}
}

// TestCorrectReadsTheCounterToAStep begins in the middle of a step of 1 mAh: 1.2 A move it every
// three seconds, and the charge lost between its first and its last change is that of the current
// to a few percent.
func TestCorrectReadsTheCounterToAStep(t *testing.T) {
	t.Parallel()
	var currents []float64
	for i := range 20 {
		currents = append(currents, 1200+float64(i%2))
	}
	c, err := energy.Correct(steadily(currents...), energy.BatteryFacts{})
	if err != nil || math.Abs(c.CounterRatio-1) > 0.03 {
		t.Errorf("the counter says %g of the current, %v", c.CounterRatio, err)
	}
}

// TestCorrectUsesScreenOnForTheUnit has 8 W that could be 8 mW, and 50 mW, without a counter.
func TestCorrectUsesScreenOnForTheUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		milliamperes float64
		screenOn     bool
		want         error
	}{{2000, false, energy.ErrUnit}, {2000, true, nil}, {13, false, nil}, {13, true, energy.ErrUnit}} {
		var currents []float64
		for i := range 20 {
			currents = append(currents, c.milliamperes*(1+0.01*float64(i%2)))
		}
		readings := steadily(currents...)
		for i := range readings {
			readings[i].Charge = nil
		}
		if _, err := energy.Correct(readings, energy.BatteryFacts{ScreenOn: c.screenOn}); !errors.Is(err, c.want) {
			t.Errorf("%g mA, screen on %v: %v, want %v", c.milliamperes, c.screenOn, err, c.want)
		}
	}
}

func TestCorrectRejectsMissingValues(t *testing.T) {
	t.Parallel()
	one := 1.0
	for name, c := range map[string]struct {
		readings []energy.BatteryReading
		want     error
	}{
		"nothing":    {nil, energy.ErrNoVoltage},
		"no voltage": {[]energy.BatteryReading{{Current: &one}}, energy.ErrNoVoltage},
		"no current": {[]energy.BatteryReading{{Voltage: ptr(4000.0)}}, energy.ErrNoCurrent},
		"NaN":        {[]energy.BatteryReading{{Voltage: ptr(math.NaN()), Current: &one}}, energy.ErrNoVoltage},
	} {
		if _, err := energy.Correct(c.readings, energy.BatteryFacts{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// FuzzCorrect has impossible readings: the power of those that are not rejected is a number, never
// negative and never absurd.
func FuzzCorrect(f *testing.F) {
	f.Add([]byte{1, 200, 100, 50, 0, 2, 210, 100, 50, 0, 3, 205, 99, 49, 0, 4, 207, 99, 49, 0, 5, 201, 99, 49, 0, 6, 202, 98, 48, 0}, 1000.0, 0.04, 4000.0)
	f.Add([]byte{0}, math.Inf(1), math.NaN(), -1.0)
	f.Fuzz(func(t *testing.T, data []byte, amperes, volts, mah float64) {
		var readings []energy.BatteryReading
		now := time.Duration(0)
		for ; len(data) >= 5; data = data[5:] {
			now += time.Duration(data[0]) * 50 * time.Millisecond
			readings = append(readings, energy.BatteryReading{Time: now,
				Current: ptr((float64(data[1]) - 64) * amperes), Voltage: ptr(float64(data[2]) * volts),
				Charge: ptr(float64(data[3]) * amperes), Power: energy.Power(data[4] % 3)})
		}
		c, err := energy.Correct(readings, energy.BatteryFacts{CapacityMAh: mah, LevelPercent: 50})
		if err != nil {
			return
		}
		joules, covered := c.Curve.Energy(0, now)
		if !(joules >= 0 && joules <= 200*covered.Seconds()) {
			t.Errorf("%g J in %v: %s", joules, covered, c)
		}
	})
}
