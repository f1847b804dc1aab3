package methods_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// load is the law by which a simulated app spends its time: EDATA's Algorithm 1 (section 4.3), with
// complications.
type load struct {
	shares []float64 // of each method, of the time awake
	sleep  float64   // the probability that a slot is sleep
	slot   time.Duration
	length time.Duration
	watts  []float64 // of the device while each method runs
	idle   float64   // of the device while the app sleeps
	// stay is the probability that a slot repeats the one before: 0 in the paper.
	stay float64
	// turned reverses the shares from the middle of the run on: a phase that every run has.
	turned bool
	// uneven is how much the share of the first method differs from run to run, at most and
	// relative to the share.
	uneven float64
	// heat is the standard deviation of a factor on a whole run's power.
	heat float64
}

// sensor is how the device reports its power, in readings with noise: the mean since the last one,
// like a gauge that counts charge, or over less, like one that converts the instantaneous current
// (MAX17055: over 176 ms). The value may be late, and smoothed over many readings, like registers
// of the average current.
type sensor struct {
	update time.Duration
	noise  float64       // relative standard deviation of a reading
	over   time.Duration // that a reading averages over; 0: since the last one
	late   float64       // as a part of an update
	keep   float64       // the part of the shown value that is kept in the next one
}

// The power also varies with other work on the device: by wander (relative standard deviation),
// correlated over wanderFor.
const (
	wander    = 0.03
	wanderFor = 2 * time.Second
)

// newLoad draws a load as in the paper: six methods with random shares of one kind of work, here at
// random power.
func newLoad(r *rand.Rand, slot, length time.Duration) load {
	l := load{sleep: 0.3, slot: slot, length: length, idle: 0.5, shares: make([]float64, 6), watts: make([]float64, 6)}
	for i := range l.shares {
		l.shares[i] = r.Float64()
		l.watts[i] = 1.6 * (0.75 + 0.5*r.Float64())
	}
	scale(l.shares, 1)
	return l
}

// withRare adds a method with a small share.
func (l load) withRare(share float64) load {
	scale(l.shares, 1-share)
	l.shares = append(l.shares, share)
	l.watts = append(l.watts, 1.6)
	return l
}

// scale makes values sum up to total.
func scale(values []float64, total float64) {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	for i := range values {
		values[i] *= total / sum
	}
}

// truth is the true values of one iteration, by method.
type truth struct {
	shares   []float64
	seconds  []float64 // of CPU time
	joules   []float64 // as far as the sensor's slowness lets the samples show
	consumed []float64 // the energy of the device while the method runs
}

// expected returns the law's expectation: the mean of many runs.
func (l load) expected(s sensor) truth {
	own := l.ownPart(s.update)
	t := truth{}
	for range l.shares {
		t.shares, t.seconds = append(t.shares, 0), append(t.seconds, 0)
		t.joules, t.consumed = append(t.joules, 0), append(t.consumed, 0)
	}
	variants := l.variants()
	part := 1 / float64(len(variants))
	for _, shares := range variants {
		mean := l.sleep * l.idle
		for i, p := range shares {
			mean += (1 - l.sleep) * p * l.watts[i]
		}
		for i, p := range shares {
			seconds := (1 - l.sleep) * p * l.length.Seconds() * part
			t.shares[i] += p * part
			t.seconds[i] += seconds
			t.joules[i] += seconds * (mean + own*(l.watts[i]-mean))
			t.consumed[i] += seconds * l.watts[i]
		}
	}
	return t
}

// variants returns the shares that each hold for an equal part of the time: in the halves of each
// run, or each in as many runs.
func (l load) variants() [][]float64 {
	out := [][]float64{l.shares}
	if l.turned {
		turned := slices.Clone(l.shares)
		slices.Reverse(turned)
		out = append(out, turned)
	}
	if l.uneven > 0 {
		out = nil
		for step := -10; step <= 10; step++ {
			first := min(0.95, l.shares[0]*(1+l.uneven*float64(step)/10))
			others := slices.Clone(l.shares[1:])
			scale(others, 1-first)
			out = append(out, append([]float64{first}, others...))
		}
	}
	return out
}

// ownPart returns how much of a sample's power is that of its own slot; the rest is the mean of all
// slots. A sample at the part u of the time between two readings gets (1-u) of the first and u of
// the second, each the mean over the time before it.
func (l load) ownPart(update time.Duration) float64 {
	const steps = 400
	sum := 0.0
	for i := range steps {
		u := (float64(i) + 0.5) / steps
		for j := range steps {
			v := (float64(j) + 0.5) / steps
			sum += u*l.same(math.Abs(v-u)*update.Seconds()) + (1-u)*l.same(math.Abs(v-1-u)*update.Seconds())
		}
	}
	return sum / steps / steps
}

// same returns the probability that nothing was drawn between two instants so many seconds apart.
// Slots begin at any time, so it decreases linearly from one slot's length to the next.
func (l load) same(apart float64) float64 {
	slots := apart / l.slot.Seconds()
	whole := math.Floor(slots)
	return math.Pow(l.stay, whole) * (1 - (slots-whole)*(1-l.stay))
}

// piece is a realized slot.
type piece struct {
	start, stop time.Duration
	method      int // -1: slept
	watts       float64
}

// iteration is one simulated run: a recording at some rate, and the true CPU time of each method.
type iteration struct {
	trace   methods.Trace
	seconds []float64
}

// simulate runs the load once. The app alternates between sleep and work; every 1/hz of its CPU
// time the kernel takes a sample; the sensor is read independently.
func simulate(r *rand.Rand, l load, s sensor, hz float64) iteration {
	margin := 2 * s.update
	pieces := l.pieces(r, margin)
	curve := energy.OfReadings(s.readings(r, pieces), 0)
	it := iteration{trace: emptyTrace(len(l.shares), hz), seconds: make([]float64, len(l.shares))}
	it.trace.Readings = curve.Readings()
	period := time.Duration(float64(time.Second) / hz)
	left := period
	for _, p := range pieces {
		start, stop := max(p.start, margin), min(p.stop, margin+l.length)
		if p.method < 0 || stop <= start {
			continue
		}
		it.seconds[p.method] += (stop - start).Seconds()
		at := start
		for ; stop-at >= left; left = period {
			at += left
			w, reading, _ := curve.At(at)
			it.trace.Samples = append(it.trace.Samples, methods.Sample{
				Time: at, Period: period, Chain: []int{p.method + 3, p.method % 2, 2}, Watts: w, Reading: reading,
			})
		}
		left -= stop - at
	}
	return it
}

// emptyTrace has the frames of two callers, of the loop that calls these, and of the methods, which
// the callers call alternately.
func emptyTrace(count int, hz float64) methods.Trace {
	t := methods.Trace{Event: "task-clock", Hz: hz, Threads: []methods.Thread{{PID: 1, TID: 1, Name: "simulated"}}}
	for _, name := range []string{"even", "odd", "loop"} {
		t.Frames = append(t.Frames, methods.Frame{Name: name, Kind: simpleperf.AOT})
	}
	for i := range count {
		t.Frames = append(t.Frames, methods.Frame{Name: methodName(i), Kind: simpleperf.AOT})
	}
	return t
}

func methodName(i int) string { return "method" + string(rune('A'+i)) }

// pieces returns the slots of a run and of a margin before and after it. The work checks the clock
// now and then, so a slot is up to 2 % longer than requested.
func (l load) pieces(r *rand.Rand, margin time.Duration) []piece {
	heat := 1 + l.heat*r.NormFloat64()
	wandered := wander * r.NormFloat64()
	keep := math.Exp(-l.slot.Seconds() / wanderFor.Seconds())
	variants := l.variants()
	shares := variants[r.IntN(len(variants))]
	var out []piece
	last := -2
	for at := time.Duration(0); at < l.length+2*margin; {
		if l.turned {
			shares = variants[0]
			if at > margin+l.length/2 {
				shares = variants[1]
			}
		}
		method := last
		if last == -2 || r.Float64() >= l.stay {
			method = l.draw(r, shares)
		}
		watts := l.idle
		if method >= 0 {
			watts = l.watts[method]
		}
		wandered = keep*wandered + math.Sqrt(1-keep*keep)*wander*r.NormFloat64()
		stop := at + time.Duration(float64(l.slot)*(1+0.02*r.Float64()))
		out = append(out, piece{at, stop, method, watts * heat * (1 + wandered)})
		at, last = stop, method
	}
	return out
}

// draw returns a slot's method, -1 for sleep.
func (l load) draw(r *rand.Rand, shares []float64) int {
	if r.Float64() < l.sleep {
		return -1
	}
	x := r.Float64()
	for i, p := range shares {
		if x -= p; x < 0 {
			return i
		}
	}
	return len(shares) - 1
}

// readings returns the sensor's readings of the pieces' power.
func (s sensor) readings(r *rand.Rand, pieces []piece) []energy.Reading {
	over := s.over
	if over == 0 {
		over = s.update
	}
	late := time.Duration(s.late * float64(s.update))
	var out []energy.Reading
	first, shown := 0, -1.0
	next := s.update + late + time.Duration(r.Float64()*float64(s.update))
	for ; next <= pieces[len(pieces)-1].stop; next += s.update {
		from, to := next-late-over, next-late
		for pieces[first].stop <= from {
			first++
		}
		joules := 0.0
		for _, p := range pieces[first:] {
			if p.start >= to {
				break
			}
			joules += (min(to, p.stop) - max(from, p.start)).Seconds() * p.watts
		}
		watts := joules / over.Seconds() * (1 + s.noise*r.NormFloat64())
		if shown >= 0 {
			watts = (1-s.keep)*watts + s.keep*shown
		}
		shown = watts
		out = append(out, energy.Reading{Time: next, Watts: max(0, watts)})
	}
	return out
}
