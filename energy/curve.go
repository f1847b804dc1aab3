package energy

import (
	"slices"
	"sort"
	"time"

	"github.com/apkgate/apkgate/energy/unmix"
)

// Reading is the power at one instant, on CLOCK_MONOTONIC.
type Reading struct {
	Time  time.Duration
	Watts float64
}

// Count is a counter of energy at one instant, on CLOCK_MONOTONIC.
type Count struct {
	Time   time.Duration
	Joules float64 // since a fixed instant
}

// Curve is power over time, linear between readings. The zero Curve covers nothing.
type Curve struct {
	pieces []piece // in chronological order, without overlap
}

// piece is a linear piece of power over [from, to).
type piece struct {
	from, to   time.Duration
	start, end float64 // W
	reading    int     // the sensor's update that it is derived from
}

// at returns the power at an instant of the piece.
func (p piece) at(t time.Duration) float64 {
	if p.to == p.from {
		return p.start
	}
	return p.start + (p.end-p.start)*float64(t-p.from)/float64(p.to-p.from)
}

// energy returns the area under the piece between two instants, by the trapezoid.
func (p piece) energy(from, to time.Duration) float64 {
	from, to = max(from, p.from), min(to, p.to)
	if to <= from {
		return 0
	}
	return (p.at(from) + p.at(to)) / 2 * (to - from).Seconds()
}

// OfReadings joins readings linearly: the trapezoid rule between the sensor's updates. Readings
// must be in chronological order; one that is not later than those before is left out. Between
// readings that are more than maxGap apart the curve covers nothing; 0 allows any gap.
func OfReadings(readings []Reading, maxGap time.Duration) Curve {
	var c Curve
	last := 0
	for i := 1; i < len(readings); i++ {
		a, b := readings[last], readings[i]
		if b.Time <= a.Time {
			continue
		}
		last = i
		if maxGap <= 0 || b.Time-a.Time <= maxGap {
			c.pieces = append(c.pieces, piece{a.Time, b.Time, a.Watts, b.Watts, len(c.pieces)})
		}
	}
	return c
}

// OfCounts returns the mean power in each interval of a counter. A counter that decreases was
// reset: the interval is not covered. A count that is not later than those before is left out.
func OfCounts(counts []Count) Curve {
	var c Curve
	last := 0
	for i := 1; i < len(counts); i++ {
		a, b := counts[last], counts[i]
		if b.Time <= a.Time {
			continue
		}
		last = i
		if b.Joules >= a.Joules {
			c.Constant(a.Time, b.Time, (b.Joules-a.Joules)/(b.Time-a.Time).Seconds())
		}
	}
	return c
}

// Empty reports whether the curve covers nothing.
func (c Curve) Empty() bool { return len(c.pieces) == 0 }

// Constant appends constant power.
func (c *Curve) Constant(from, to time.Duration, watts float64) {
	if to > from {
		c.pieces = append(c.pieces, piece{from, to, watts, watts, len(c.pieces)})
	}
}

// Span returns the first and the last instant that the curve covers.
func (c Curve) Span() (from, to time.Duration) {
	if len(c.pieces) == 0 {
		return 0, 0
	}
	return c.pieces[0].from, c.pieces[len(c.pieces)-1].to
}

// Energy returns the joules between two instants, and how much of that time the curve covers: the
// rest counts nothing.
func (c Curve) Energy(from, to time.Duration) (joules float64, covered time.Duration) {
	first := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].to > from })
	for _, p := range c.pieces[first:] {
		if p.from >= to {
			break
		}
		joules += p.energy(from, to)
		covered += min(to, p.to) - max(from, p.from)
	}
	return joules, covered
}

// At returns the power at an instant, and the number of the reading that it is derived from:
// instants with the same number share one update of the sensor (EDATA, section 3.5.3.3). ok is
// false if the curve does not cover the instant.
func (c Curve) At(t time.Duration) (watts float64, reading int, ok bool) {
	i := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].to > t })
	if i == len(c.pieces) || c.pieces[i].from > t {
		return 0, 0, false
	}
	return c.pieces[i].at(t), c.pieces[i].reading, true
}

// number sets the reading of each piece to the last update before it.
func (c Curve) number(updates series) {
	n := 0
	for i := range c.pieces {
		for n+1 < len(updates) && updates[n+1].at <= c.pieces[i].from {
			n++
		}
		c.pieces[i].reading = n
	}
}

// Update returns the median time between two readings; 0 if there are none.
func (c Curve) Update() time.Duration {
	var lengths []time.Duration
	for i, p := range c.pieces {
		if i > 0 && p.reading == c.pieces[i-1].reading {
			lengths[len(lengths)-1] += p.to - p.from
			continue
		}
		lengths = append(lengths, p.to-p.from)
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2]
}

// Readings returns the sensor's updates, each with the period that it covers: since the update
// before, but no longer than twice the usual time between updates. Between two updates the curve is
// a ramp from one to the next, so the reported value is its end.
func (c Curve) Readings() []unmix.Reading {
	longest := 2 * c.Update()
	var out []unmix.Reading
	for i, p := range c.pieces {
		if n := len(out) - 1; i > 0 && p.reading == c.pieces[i-1].reading {
			out[n].To, out[n].Watts = p.to, p.end
		} else {
			out = append(out, unmix.Reading{From: p.from, To: p.to, Watts: p.end})
		}
	}
	for i := range out {
		out[i].From = max(out[i].From, out[i].To-longest)
	}
	return out
}

// Mean returns the mean power between two instants over the time that the curve covers; 0 if it
// covers none of it.
func (c Curve) Mean(from, to time.Duration) float64 {
	joules, covered := c.Energy(from, to)
	if covered <= 0 {
		return 0
	}
	return joules / covered.Seconds()
}

// Even spreads joules evenly over an interval.
func Even(joules float64, from, to time.Duration) Curve {
	if to <= from {
		return Curve{}
	}
	var c Curve
	c.Constant(from, to, joules/(to-from).Seconds())
	return c
}

// Sum adds up curves over the time that all of them cover: where one is unknown, so is the sum.
func Sum(curves ...Curve) Curve {
	if len(curves) == 0 {
		return Curve{}
	}
	sum := curves[0]
	for _, c := range curves[1:] {
		sum = add(sum, c)
	}
	return sum
}

// add merges two curves from one end of a piece to the next.
func add(a, b Curve) Curve {
	var sum Curve
	for i, j := 0, 0; i < len(a.pieces) && j < len(b.pieces); {
		p, q := a.pieces[i], b.pieces[j]
		from, to := max(p.from, q.from), min(p.to, q.to)
		if from < to {
			sum.pieces = append(sum.pieces, piece{from, to, p.at(from) + q.at(from), p.at(to) + q.at(to), len(sum.pieces)})
		}
		if p.to <= q.to {
			i++
		}
		if q.to <= p.to {
			j++
		}
	}
	return sum
}
