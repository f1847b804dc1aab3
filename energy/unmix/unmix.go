// Package unmix takes apart what a slow sensor of power has mixed: the power that
// the device draws anyway, and what each source of work draws above it while it
// runs.
//
// It owns the regression of readings on the CPU time of sources. It knows neither
// methods nor files: package methods hands it spells of CPU time, and uses what it
// finds.
//
// It takes a stand: what readings and samples can't tell is not left out of an
// interval but assumed, widely, and the assumption is in the interval.
package unmix

import (
	"time"

	"gonum.org/v1/gonum/mat"
)

// Reading is what a sensor told of a stretch of time, which has a length: the mean
// power in it, as far as is known.
type Reading struct {
	From, To time.Duration // on CLOCK_MONOTONIC
	Watts    float64
}

// Spell is CPU time of a source that was spent somewhere between two instants.
type Spell struct {
	From, To time.Duration // on CLOCK_MONOTONIC; one without length is none
	Seconds  float64       // of CPU time
	Source   int           // 0 and up
}

// Recording is readings and spells of the same time, each in its order.
type Recording struct {
	Readings []Reading
	Spells   []Spell
}

// Limits: what is below can't be told apart, what is above costs time and tells no
// more.
const (
	MinReadings = 8
	maxReadings = 4_000 // of all recordings; more are joined
	// MaxSources is how many sources are told apart, those of most CPU time. The
	// rest count as one.
	MaxSources = 48
)

// Model is the power of a device as the readings show it:
//
//	power = floor + Σ over running threads of (above of its source)
//
// It holds the mean and the covariance of all that is unknown, of which the floor is
// the first.
type Model struct {
	// FloorW is the power while nothing that was sampled runs, W.
	FloorW float64

	unknowns   []float64 // floor, what all sources have in common, then what each differs by
	covariance *mat.SymDense
	place      []int // of a source, among those told apart
	left       []leftover
}

// leftover is what the model does not explain of a reading.
type leftover struct {
	recording int
	from, to  time.Duration
	watts     float64
}

// AboveW is the power in W that a thread draws above the floor while it runs a
// source.
func (m *Model) AboveW(source int) float64 {
	return m.unknowns[1] + m.unknowns[2+m.place[source]]
}
