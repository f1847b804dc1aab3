package unmix_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy/unmix"
)

const (
	ms     = time.Millisecond
	floorW = 0.5
)

// world is a device on which one thread alternates between sources every 50 ms, or sleeps.
type world struct {
	above   []float64 // W of each source above the floor
	sleep   float64
	noise   float64 // W of a reading
	update  time.Duration
	seconds int
	// together mixes all sources in equal parts into each turn.
	together bool
	period   time.Duration // of a sample
	smooth   float64       // of the reading before, in the next
	late     time.Duration
	// wander is the standard deviation of the floor, W: three quarters of it persist from one
	// reading to the next.
	wander float64
}

func plain() world {
	return world{above: []float64{0.6, 1.5}, sleep: 0.4, noise: 0.005, update: 500 * ms, seconds: 60, period: 2 * ms}
}

// recorded is the recording of the world by a sensor and a sampler.
func (w world) recorded(seed uint64) unmix.Recording {
	r := rand.New(rand.NewPCG(seed, 1))
	const turn = 50 * ms
	var out unmix.Recording
	turns := w.seconds * int(time.Second/turn)
	watts := make([]float64, turns)
	for i := range turns {
		watts[i] = floorW
		if r.Float64() < w.sleep {
			continue
		}
		from := time.Duration(i) * turn
		source := r.IntN(len(w.above))
		for at := from; at < from+turn; at += w.period {
			if w.together {
				source = (source + 1) % len(w.above)
			}
			out.Spells = append(out.Spells, unmix.Spell{From: at, To: at + w.period, Seconds: w.period.Seconds(), Source: source})
			watts[i] += w.above[source] * w.period.Seconds() / turn.Seconds()
		}
	}
	shown, wandered := -1.0, 0.0
	per, late := int(w.update/turn), int(w.late/turn)
	for i := per + late; i <= turns; i += per {
		sum := 0.0
		for _, v := range watts[i-per-late : i-late] {
			sum += v / float64(per)
		}
		wandered = 0.75*wandered + math.Sqrt(1-0.75*0.75)*w.wander*r.NormFloat64()
		sum += w.noise*r.NormFloat64() + wandered
		if shown >= 0 {
			sum = (1-w.smooth)*sum + w.smooth*shown
		}
		shown = sum
		out.Readings = append(out.Readings, unmix.Reading{From: time.Duration(i-per) * turn, To: time.Duration(i) * turn, Watts: sum})
	}
	return out
}

func fitted(t *testing.T, w world) *unmix.Model {
	t.Helper()
	m, ok := unmix.Fit([]unmix.Recording{w.recorded(1), w.recorded(2)}, len(w.above), w.period.Seconds())
	if !ok {
		t.Fatal("the fit failed")
	}
	return m
}

// spread is the standard deviation of the joules of a second of a source.
func spread(m *unmix.Model, source int) float64 {
	var w unmix.Work
	m.Add(&w, source, 1, 1)
	return math.Sqrt(m.Variance(w))
}

// Sleep is not averaged into the sources, nor one source into another, whatever the sensor's
// response.
func TestFitSeparatesFloorAndSources(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"a mean since the last":    func(*world) {},
		"hardly any sleep":         func(w *world) { w.sleep = 0.05 },
		"mostly asleep":            func(w *world) { w.sleep = 0.9 },
		"half a reading late":      func(w *world) { w.late = 250 * ms },
		"a whole reading late":     func(w *world) { w.late = 500 * ms },
		"smoothed":                 func(w *world) { w.smooth = 0.55 },
		"smoothed for long":        func(w *world) { w.smooth = 0.88 },
		"without any noise":        func(w *world) { w.noise = 0 },
		"two threads' worth of it": func(w *world) { w.above = []float64{1.2, 3} },
	} {
		w := plain()
		change(&w)
		m := fitted(t, w)
		if math.Abs(m.FloorW-floorW) > 0.06 {
			t.Errorf("%s: the floor is %.3f W, want %.3f", name, m.FloorW, floorW)
		}
		for source, above := range w.above {
			got := m.AboveW(source)
			if math.Abs(got-above) > 0.12*above || math.Abs(got+m.FloorW-above-floorW) > 4*spread(m, source)+0.02 {
				t.Errorf("%s: source %d draws %.3f W above the floor (± %.3f), want %.3f", name, source, got, spread(m, source), above)
			}
		}
	}
}

// Other work on the device varies more slowly than readings. It is not counted as new in each
// reading, and the stated uncertainty is right.
func TestFitWithAWanderingFloor(t *testing.T) {
	t.Parallel()
	w := plain()
	w.above, w.wander, w.seconds = []float64{1}, 0.1, 120
	const runs = 40
	wrong, held := 0.0, 0
	for seed := range uint64(runs) {
		m, ok := unmix.Fit([]unmix.Recording{w.recorded(seed)}, 1, w.period.Seconds())
		if !ok {
			t.Fatal("the fit failed")
		}
		var idle unmix.Work
		m.Add(&idle, 0, 1, 0)
		off := math.Abs(m.FloorW - floorW)
		wrong += off / runs
		if off <= 1.96*math.Sqrt(m.Variance(idle)) {
			held++
		}
	}
	// Counted as new, it would be taken for a sensor that smooths, and the floor would be off by
	// 0.17 W.
	if wrong > 0.04 || held < runs*8/10 {
		t.Errorf("the floor is off by %.4f W in the mean, and %d of %d intervals hold it", wrong, held, runs)
	}
}

// Of sources with the same share in every reading only the sum is known: neither is estimated to
// draw more, and either may.
func TestFitOfInseparableSources(t *testing.T) {
	t.Parallel()
	w := plain()
	w.together = true
	m := fitted(t, w)
	mean := (w.above[0] + w.above[1]) / 2
	for source, above := range w.above {
		if got := m.AboveW(source); math.Abs(got-mean) > 0.1*mean {
			t.Errorf("source %d draws %.3f W, want about the mean of both, %.3f", source, got, mean)
		}
		if sd := spread(m, source); sd < 0.15*mean || math.Abs(above-mean) > 4*sd {
			t.Errorf("source %d is sure to %.3f W, %.3f W are not known", source, sd, math.Abs(above-mean))
		}
	}
	var both unmix.Work
	m.Add(&both, 0, 0.5, 0.5)
	m.Add(&both, 1, 0.5, 0.5)
	if sd := math.Sqrt(m.Variance(both)); sd > 0.05*mean {
		t.Errorf("both together are sure to %.3f W only, want far less than %.3f", sd, spread(m, 0))
	}
}

// Counts of few samples differ by chance. Taken at face value they would make all sources alike,
// with false certainty.
func TestFitIgnoresSamplingNoise(t *testing.T) {
	t.Parallel()
	w := plain()
	w.above = []float64{0.6, 1.5, 1, 1}
	recording := w.recorded(1)
	const every = 50 // a sample in 100 ms, two turns
	r := rand.New(rand.NewPCG(3, 3))
	var few []unmix.Spell
	for i := 0; i+every <= len(recording.Spells); i += every {
		hit := recording.Spells[i+r.IntN(every)]
		few = append(few, unmix.Spell{From: recording.Spells[i].From, To: recording.Spells[i+every-1].To, Seconds: every * w.period.Seconds(), Source: hit.Source})
	}
	recording.Spells = few
	m, ok := unmix.Fit([]unmix.Recording{recording}, len(w.above), every*w.period.Seconds())
	if !ok {
		t.Fatal("the fit failed")
	}
	for source, above := range w.above {
		if got, sd := m.AboveW(source), spread(m, source); math.Abs(got-above) > 3*sd {
			t.Errorf("source %d draws %.2f W ± %.2f, truly %.2f", source, got, sd, above)
		}
	}
}

// Without sleep the floor is unknown, and with an app that always runs it is not needed: the
// running threads draw what is read.
func TestFitWithoutSleep(t *testing.T) {
	t.Parallel()
	w := plain()
	w.sleep, w.above = 0, []float64{1.1}
	m := fitted(t, w)
	if got := m.FloorW + m.AboveW(0); math.Abs(got-1.6) > 0.01 || spread(m, 0) > 0.01 {
		t.Errorf("it draws %.3f W (± %.3f), want 1.6", got, spread(m, 0))
	}
	var idle unmix.Work
	m.Add(&idle, 0, 1, 0)
	if sd := math.Sqrt(m.Variance(idle)); sd < 0.1 {
		t.Errorf("the floor is sure to %.3f W, and nothing tells it", sd)
	}
}

func TestFitOfTooLittleData(t *testing.T) {
	t.Parallel()
	w := plain()
	recording := w.recorded(1)
	short := unmix.Recording{Readings: recording.Readings[:unmix.MinReadings-1], Spells: recording.Spells}
	for name, r := range map[string]unmix.Recording{
		"too few readings": short, "no readings": {Spells: recording.Spells}, "no spells": {Readings: recording.Readings}, "nothing": {},
		"no time":  {Readings: recording.Readings, Spells: []unmix.Spell{{From: 0, To: time.Minute}}},
		"no power": {Readings: make([]unmix.Reading, 50), Spells: recording.Spells},
	} {
		if _, ok := unmix.Fit([]unmix.Recording{r}, 2, 0.002); ok {
			t.Errorf("%s: the fit succeeded", name)
		}
	}
}

// Sources and readings beyond the limits are joined, and none is lost.
func TestFitJoinsManySourcesAndReadings(t *testing.T) {
	t.Parallel()
	w := plain()
	w.above = make([]float64, 3*unmix.MaxSources)
	for i := range w.above {
		w.above[i] = 1
	}
	w.update, w.seconds, w.period = 50*ms, 300, 10*ms
	m := fitted(t, w)
	for source := range w.above {
		if got := m.FloorW + m.AboveW(source); math.Abs(got-1.5) > 0.1 {
			t.Fatalf("source %d draws %.3f W, want 1.5", source, got)
		}
	}
}

// Constant readings and an app that never sleeps give no information to weigh.
func TestFitOfConstantReadings(t *testing.T) {
	t.Parallel()
	var r unmix.Recording
	for i := range 40 {
		from := time.Duration(i) * time.Second
		r.Readings = append(r.Readings, unmix.Reading{From: from, To: from + time.Second, Watts: 1.6})
		r.Spells = append(r.Spells, unmix.Spell{From: from, To: from + time.Second, Seconds: 1, Source: i % 2})
	}
	m, ok := unmix.Fit([]unmix.Recording{r}, 2, 1)
	if !ok {
		t.Fatal("the fit failed")
	}
	for source := range 2 {
		if got := m.FloorW + m.AboveW(source); math.Abs(got-1.6) > 0.01 || spread(m, source) > 0.2 {
			t.Errorf("source %d draws %.3f W (± %.3f), want 1.6", source, got, spread(m, source))
		}
	}
}

// A device that draws less while the app runs is outside the model: its floor is at most the mean
// power, and the result is a number.
func TestFitOfADecreaseWhileRunning(t *testing.T) {
	t.Parallel()
	w := plain()
	w.above = []float64{-0.3}
	m := fitted(t, w)
	if mean := 0.5 - 0.6*0.3; !(m.FloorW > 0.8*mean) || m.FloorW > 1.05*mean || math.Abs(m.AboveW(0)) > 0.1 {
		t.Errorf("the floor is %.3f W, and %+.3f W above it draws what runs, want %.3f and about nothing", m.FloorW, m.AboveW(0), mean)
	}
}

// Once recognized, a sensor that smooths leaves small residuals.
func TestLeftWOfASmoothingSensor(t *testing.T) {
	t.Parallel()
	w := plain()
	w.smooth = 0.8
	recording := w.recorded(1)
	m, ok := unmix.Fit([]unmix.Recording{recording}, 2, w.period.Seconds())
	if !ok {
		t.Fatal("the fit failed")
	}
	sum := 0.0
	for _, r := range recording.Readings {
		sum += math.Abs(m.LeftW(0, r.From+ms)) / float64(len(recording.Readings))
	}
	if sum > 0.02 {
		t.Errorf("%.3f W are left of a reading in the mean, whose noise is %.3f W", sum, w.noise)
	}
}

// The residual of a reading is found at its time, and is zero where there is no reading.
func TestLeftW(t *testing.T) {
	t.Parallel()
	w := plain()
	recording := w.recorded(1)
	odd := &recording.Readings[40]
	odd.Watts += 3
	m, ok := unmix.Fit([]unmix.Recording{recording}, 2, w.period.Seconds())
	if !ok {
		t.Fatal("the fit failed")
	}
	if got := m.LeftW(0, odd.From+ms); math.Abs(got-3) > 0.5 {
		t.Errorf("%.2f W are left of a reading that is 3 W too high", got)
	}
	if a, b := m.LeftW(0, time.Hour), m.LeftW(1, odd.From); a != 0 || b != 0 {
		t.Errorf("%g and %g W are left where nothing was read", a, b)
	}
}
