package methods

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/energy/unmix"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// hit is one counted sample.
type hit struct {
	batch   int
	seconds float64 // of CPU time
	known   bool    // the power is
	reading int     // counted over all traces
	joules  float64
	// If power is separated, method is the innermost method, and floor the seconds of the floor.
	method int
	floor  float64
}

// tally sums the hits of a method, and what their spread over the batches requires: squares and
// products of each batch's sums. Hits come batch by batch.
type tally struct {
	samples, readings int
	reading           int // the last one
	seconds           float64
	squares           float64 // Σ seconds² of the hits
	known             float64 // seconds with a known power
	joules            float64
	work              unmix.Work // of hits with a known power, if it is separated
	stretches         int        // at a time: see stretches

	batch, batches int
	in             struct{ seconds, known, joules float64 } // the current batch

	secondsSquared  float64 // Σ seconds²
	secondsOfAll    float64 // Σ seconds · the batch's seconds of all samples
	knownSquared    float64
	joulesSquared   float64
	joulesTimeKnown float64
}

func (c *tally) add(h hit, p *plan) {
	if c.batches > 0 && h.batch != c.batch {
		c.flush(p)
	}
	if c.batches == 0 || h.batch != c.batch {
		c.batch = h.batch
		c.batches++
	}
	c.samples++
	c.seconds += h.seconds
	c.squares += h.seconds * h.seconds
	c.in.seconds += h.seconds
	if !h.known {
		return
	}
	if c.readings == 0 || c.reading != h.reading {
		c.readings++
		c.reading = h.reading
	}
	c.known += h.seconds
	c.joules += h.joules
	if p.split != nil {
		p.split.model.Add(&c.work, h.method, h.floor, h.seconds)
	}
	c.in.known += h.seconds
	c.in.joules += h.joules
}

// flush ends the current batch.
func (c *tally) flush(p *plan) {
	in := c.in
	if c.batches > 0 {
		c.secondsOfAll += in.seconds * p.seconds[c.batch]
	}
	c.secondsSquared += in.seconds * in.seconds
	c.knownSquared += in.known * in.known
	c.joulesSquared += in.joules * in.joules
	c.joulesTimeKnown += in.joules * in.known
	c.in.seconds, c.in.known, c.in.joules = 0, 0, 0
}

// watts returns the mean power of the hits, weighted by time.
func (c *tally) watts() float64 {
	if c.known == 0 {
		return 0
	}
	return c.joules / c.known
}

// relativeVariance returns that of a sum over n batches, from the sum and the sum of its squares.
func relativeVariance(sum, squares float64, n int) float64 {
	if n < 2 || sum == 0 {
		return 0
	}
	b := float64(n)
	return max(0, b/(b-1)*(squares/(sum*sum)-1/b))
}

type kindCount struct {
	kind    simpleperf.Kind
	samples int
}

// ran counts how the method's code ran.
func (m *method) ran(kind simpleperf.Kind) {
	for i := range m.kinds {
		if m.kinds[i].kind == kind {
			m.kinds[i].samples++
			return
		}
	}
	m.kinds = append(m.kinds, kindCount{kind, 1})
}

// kind returns how the method's code ran most often.
func (m *method) kind() simpleperf.Kind {
	if len(m.kinds) == 0 {
		return simpleperf.Unknown
	}
	return slices.MaxFunc(m.kinds, func(a, b kindCount) int { return cmp.Compare(a.samples, b.samples) }).kind
}
