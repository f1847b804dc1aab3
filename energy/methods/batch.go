package methods

import (
	"time"

	"github.com/apkgate/apkgate/run"
)

// Basis is what intervals are derived from. Successive samples are not independent (a method
// continues to run, a sensor's reading lasts), so that the textbook's intervals of n draws are far
// too narrow. Longer periods of time, taken as units, are approximately independent.
type Basis string

const (
	// Iterations: the spread between iterations, if there are enough. It includes all differences
	// between runs.
	Iterations Basis = run.Iterations
	// Blocks: the spread between blocks of a trace, each much longer than a reading of the sensor
	// lasts (the method of batch means). A trace can't distinguish a phase that every run has from
	// one that occurred by chance, so these intervals are too wide for methods that run in phases;
	// they do not include differences between runs.
	Blocks Basis = run.Blocks
	// Neither: there is too little for any interval.
	Neither Basis = ""
)

const (
	minIterations = 5
	minBlocks     = 8
	maxBlocks     = 24 // more hardly narrow the interval: t for 23 degrees is 2.07
	minBlock      = 250 * time.Millisecond
	// A block with fewer readings than this is not much longer than a reading.
	readingsPerBlock = 2
)

// plan divides samples into batches.
type plan struct {
	basis Basis
	split *split // nil: power as read
	n     int    // batches of all traces
	power bool   // there are enough readings to estimate the spread of power
	spans []span
	// For all samples, by batch: CPU time, that with a known power, and joules. The latter two are
	// filled as samples are counted.
	seconds, known, joules []float64
}

// span is a trace's part of the batches.
type span struct {
	first, n    int
	start, stop time.Duration
}

// at returns the batch of an instant of the trace.
func (s span) at(t time.Duration) int {
	if s.n <= 1 || s.stop <= s.start {
		return s.first
	}
	part := float64(t-s.start) / float64(s.stop-s.start)
	return s.first + min(int(part*float64(s.n)), s.n-1)
}

// planBatches makes each trace a batch if there are enough traces, and otherwise divides each into
// as many blocks as fit.
func planBatches(traces []Trace, o Options) *plan {
	p := &plan{basis: Iterations, power: true}
	each := blocks(traces, func(Trace) int { return 1 })
	if len(traces) < minIterations {
		p.basis = Blocks
		inTime := func(t Trace) int { return int(length(t) / minBlock) }
		inReadings := func(t Trace) int { return min(inTime(t), readings(t)/readingsPerBlock) }
		each = blocks(traces, inReadings)
		if !o.Measured || sum(each) < minBlocks {
			p.power = !o.Measured
			each = blocks(traces, inTime)
		}
		if sum(each) < minBlocks {
			p.basis, p.power = Neither, false
		}
	}
	p.n = sum(each)
	p.seconds, p.known, p.joules = make([]float64, p.n), make([]float64, p.n), make([]float64, p.n)
	first := 0
	for i, t := range traces {
		s := span{first: first, n: each[i]}
		if n := len(t.Samples); n > 0 {
			s.start, s.stop = t.Samples[0].Time, t.Samples[n-1].Time
		}
		for _, sample := range t.Samples {
			p.seconds[s.at(sample.Time)] += sample.Period.Seconds()
		}
		p.spans = append(p.spans, s)
		first += s.n
	}
	return p
}

// blocks returns the number of blocks of each trace, at least one; fit returns how many fit.
func blocks(traces []Trace, fit func(Trace) int) []int {
	each := make([]int, len(traces))
	for i, t := range traces {
		each[i] = max(1, min(fit(t), maxBlocks/len(traces)))
	}
	return each
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}

// length returns the time from the first sample to the last.
func length(t Trace) time.Duration {
	if len(t.Samples) == 0 {
		return 0
	}
	return t.Samples[len(t.Samples)-1].Time - t.Samples[0].Time
}

// readings counts the distinct readings of power among a trace's samples.
func readings(t Trace) int {
	n, last := 0, -1
	for _, s := range t.Samples {
		if s.Reading >= 0 && s.Reading != last {
			n, last = n+1, s.Reading
		}
	}
	return n
}
