package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy/methods"
)

// taken is a setting in which methods are compared with the joules that the device really took
// while they ran.
type taken struct {
	name   string
	load   func(l load) load // nil: as in the paper, of two minutes
	slot   time.Duration
	hz     float64
	sleep  float64
	sensor sensor
	// The percentage of the intervals of separated joules that must cover the truth, at least and
	// at most.
	least, most float64
	gain        float64 // the largest error relative to that of the joules as read, with sleep
	few         bool    // it is in the smaller version
}

// takens returns the settings of docs/evaluation/methods.md.
func takens() []taken {
	var out []taken
	second, fifth := sensor{update: time.Second, noise: 0.03}, sensor{update: 200 * ms, noise: 0.03}
	for _, s := range []struct {
		slot time.Duration
		hz   float64
	}{{10 * ms, 2}, {10 * ms, 10}, {10 * ms, 100}, {100 * ms, 10}, {100 * ms, 100}, {100 * ms, 500}, {3 * time.Second, 100}} {
		for _, sensor := range []sensor{second, fifth} {
			for _, sleep := range []float64{0, 0.3, 0.6} {
				out = append(out, taken{
					name: fmt.Sprintf("%v slots, %v Hz, sensor %v", s.slot, s.hz, sensor.update), slot: s.slot, hz: s.hz, sleep: sleep, sensor: sensor, least: 92, most: 100, gain: 1.05,
					few: sensor == second && sleep == 0.6 && s.slot == 100*ms && s.hz == 100,
				})
			}
		}
	}
	for i, s := range out {
		switch {
		case s.sleep == 0.6 && s.slot == 10*ms && s.hz >= 10:
			out[i].gain = 0.5
		case s.sleep == 0.6 && s.slot == 100*ms && s.hz >= 100:
			out[i].gain = 0.6
		}
	}
	add := func(name string, least, most float64, few bool, sensor sensor, change func(load) load) {
		for _, sleep := range []float64{0.3, 0.6} {
			out = append(out, taken{name: name, load: change, slot: 100 * ms, hz: 100, sleep: sleep, sensor: sensor, least: least, most: most, gain: 1.05, few: few && sleep == 0.3})
		}
	}
	shows := func(s sensor, change func(*sensor)) sensor { change(&s); return s }
	add("the power of 20 ms every 200 ms", 89, 100, false, shows(fifth, func(s *sensor) { s.over = 20 * ms }), nil)
	add("the power of 20 ms every second", 93, 100, false, shows(second, func(s *sensor) { s.over = 20 * ms }), nil)
	add("a quarter of a second late", 93, 100, false, shows(second, func(s *sensor) { s.late = 0.25 }), nil)
	add("a second late", 93, 100, true, shows(second, func(s *sensor) { s.late = 1 }), nil)
	add("smoothed over 2.5 readings of 1 s", 93, 100, false, shows(second, func(s *sensor) { s.keep = 0.6 }), nil)
	add("smoothed over 10 readings of 1 s", 93, 100, false, shows(second, func(s *sensor) { s.keep = 0.9 }), nil)
	add("bursts of 2 s", 90, 100, false, second, func(l load) load { l.stay = 0.95; return l })
	add("two phases", 93, 100, false, second, func(l load) load { l.turned = true; return l })
	add("a seventh method of 2 %", 93, 100, false, second, func(l load) load { return l.withRare(0.02) })
	add("powers that differ by up to 60 %", 92, 100, false, second, differing(0.6))
	add("20 s", 90, 100, true, fifth, func(l load) load { l.length = 20 * time.Second; return l })
	for _, sleep := range []float64{0.3, 0.6} {
		out = append(out, taken{name: "powers that differ by up to 60 %, in slots of 10 ms", load: differing(0.6), slot: 10 * ms, hz: 100, sleep: sleep, sensor: second, least: 55, most: 90, gain: 1.15})
	}
	return out
}

// differing makes the methods' powers differ by this part, up and down.
func differing(part float64) func(load) load {
	return func(l load) load {
		for i := range l.watts {
			l.watts[i] = 1.6 + (l.watts[i]-1.6)*part/0.25
		}
		return l
	}
}

// TestTrueJoules compares methods with the energy that the device really took while they ran,
// rather than with the part that a slow sensor shows: by the readings at the samples, as in EDATA,
// and as separated. All of it, with the table of docs/evaluation/methods.md, is
//
//	APKGATE_FULL=1 go test ./energy/methods -run TrueJoules -v
func TestTrueJoules(t *testing.T) {
	t.Parallel()
	full := os.Getenv("APKGATE_FULL") != ""
	settings := takens()
	rows := make([]string, len(settings))
	t.Run("", func(t *testing.T) {
		for i, s := range settings {
			if !full && !s.few {
				continue
			}
			t.Run(fmt.Sprintf("%s, sleep %v", s.name, s.sleep), func(t *testing.T) {
				t.Parallel()
				runs := 12
				if full {
					runs = 200
				}
				x := measureTaken(t, s, runs)
				rows[i] = fmt.Sprintf("| %s | %.0f %% | %s |\n", s.name, 100*s.sleep, x)
				x.check(t, s, full)
			})
		}
	})
	t.Logf("| setting | sleep | MMRE | blurred truth | true joules as read | told apart | error as read | told apart | half-width as read | told apart |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n%s", strings.Join(rows, ""))
}

// compared is the quality of the joules as read and as separated.
type compared struct {
	mmre        mean
	blurred     coverage // as read, of the part that the sensor shows
	read, apart struct {
		held          coverage
		wrong, halves mean // relative to the true joules
	}
}

type mean struct{ sum, n float64 }

func (m *mean) add(v float64)  { m.sum, m.n = m.sum+v, m.n+1 }
func (m *mean) value() float64 { return m.sum / m.n }

func (c *compared) String() string {
	return fmt.Sprintf("%.3f | %v | %v | %v | %.3f | %.3f | %.2f | %.2f", c.mmre.value(), &c.blurred, &c.read.held, &c.apart.held,
		c.read.wrong.value(), c.apart.wrong.value(), c.read.halves.value(), c.apart.halves.value())
}

func (c *compared) check(t *testing.T, s taken, full bool) {
	t.Helper()
	least, most := s.least/100, s.most/100
	if !full {
		slack := 4 * c.apart.held.standardError()
		least, most = least-slack, most+slack
	}
	if got := c.apart.held.mean(); got < least || got > most {
		t.Errorf("intervals of the separated joules cover the truth in %.1f %%, want %.1f to %.1f %%", 100*got, 100*least, 100*most)
	}
	if s.slot > s.sensor.update {
		return // the sensor is faster than the methods
	}
	if c.apart.held.mean() < c.read.held.mean()-0.03 {
		t.Errorf("intervals cover the truth in %v %% as separated, in %v %% as read", &c.apart.held, &c.read.held)
	}
	if read, apart := c.read.wrong.value(), c.apart.wrong.value(); s.sleep > 0 && apart > s.gain*read {
		t.Errorf("joules are off by %.3f as separated, by %.3f as read: want %.2f of that at most", apart, read, s.gain)
	}
	// EDATA's limit for sufficient accuracy, exceeded by a long sleep at 2 Hz.
	if got := c.mmre.value(); got > 0.25 && (s.hz > 2 || s.sleep < 0.5) {
		t.Errorf("shares of time are off by %.3f in the mean, want 0.25 at most", got)
	}
}

// measureTaken simulates a setting runs times.
func measureTaken(t *testing.T, s taken, runs int) *compared {
	t.Helper()
	out := &compared{}
	for n := range runs {
		r := rand.New(rand.NewPCG(uint64(n), 5))
		l := newLoad(r, s.slot, 2*time.Minute)
		l.sleep = s.sleep
		if s.load != nil {
			l = s.load(l)
		}
		it := simulate(r, l, s.sensor, s.hz)
		law := l.expected(s.sensor)
		out.add(attribute(t, methods.Options{Measured: true, AsRead: true}, it.trace), attribute(t, methods.Options{Measured: true}, it.trace), law, it.seconds)
	}
	return out
}

func (c *compared) add(read, apart methods.Result, law truth, seconds []float64) {
	asRead := map[string]methods.Cost{}
	for _, m := range read.Methods {
		asRead[m.Name] = m.Local
	}
	toldApart := map[string]methods.Cost{}
	for _, m := range apart.Methods {
		toldApart[m.Name] = m.Local
	}
	total := 0.0
	for _, s := range seconds {
		total += s
	}
	for i, consumed := range law.consumed {
		was, is := asRead[methodName(i)], toldApart[methodName(i)]
		if really := seconds[i] / total; really > 0 {
			c.mmre.add(math.Abs(was.Share.Value-really) / really)
		}
		if !was.EnergyJ.Bounded() || !is.EnergyJ.Bounded() {
			continue // never sampled: no estimate
		}
		c.blurred.add(was.EnergyJ, law.joules[i])
		c.read.held.add(was.EnergyJ, consumed)
		c.apart.held.add(is.EnergyJ, consumed)
		c.read.wrong.add(math.Abs(was.EnergyJ.Value-consumed) / consumed)
		c.apart.wrong.add(math.Abs(is.EnergyJ.Value-consumed) / consumed)
		c.read.halves.add((was.EnergyJ.High - was.EnergyJ.Low) / 2 / consumed)
		c.apart.halves.add((is.EnergyJ.High - is.EnergyJ.Low) / 2 / consumed)
	}
	for _, held := range []*coverage{&c.blurred, &c.read.held, &c.apart.held} {
		held.endRun()
	}
}
