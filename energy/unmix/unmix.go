// Package unmix separates the readings of a slow power sensor into the power that the device draws
// anyway, and the power that each source of work adds while it runs.
//
// It owns the regression of readings on the CPU time of sources. It knows neither methods nor
// files: package methods passes it spells of CPU time, and uses the result.
//
// Uncertainty that readings and samples can't resolve is not left out of an interval but assumed by
// a wide prior, which is part of the interval.
package unmix

import (
	"time"

	"gonum.org/v1/gonum/mat"
)

// Reading is the mean power that a sensor reported for a period of nonzero length.
type Reading struct {
	From, To time.Duration // on CLOCK_MONOTONIC
	Watts    float64
}

// Spell is CPU time of a source that was spent somewhere between two instants.
type Spell struct {
	From, To time.Duration // on CLOCK_MONOTONIC; empty ones are ignored
	Seconds  float64       // of CPU time
	Source   int           // 0 and up
}

// Recording is readings and spells of the same period, each in chronological order.
type Recording struct {
	Readings []Reading
	Spells   []Spell
}

// Limits: fewer readings can't be separated; more cost time without a benefit.
const (
	MinReadings = 8
	maxReadings = 4_000 // of all recordings; more are joined
	// MaxSources is how many sources are distinguished, those with the most CPU time. The rest
	// count as one.
	MaxSources = 48
)

// Model is the power of a device estimated from readings:
//
//	power = floor + Σ over running threads of (above of its source)
//
// It consists of the mean and the covariance of all unknowns, of which the floor is the first.
type Model struct {
	// FloorW is the power while no sampled thread runs, W.
	FloorW float64

	unknowns   []float64 // floor, the mean of all sources, then the difference of each
	covariance *mat.SymDense
	place      []int // of a source, among the distinguished ones
	left       []leftover
}

// leftover is the model's residual for a reading.
type leftover struct {
	recording int
	from, to  time.Duration
	watts     float64
}

// AboveW returns the power in W that a thread adds to the floor while it runs a source.
func (m *Model) AboveW(source int) float64 {
	return m.unknowns[1] + m.unknowns[2+m.place[source]]
}
