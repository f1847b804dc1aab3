package performance

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Unit is the unit of a figure, as in the document.
type Unit string

// The units of figures.
const (
	CPU       Unit = "s CPU"       // processor time of the command and its child processes
	Peak      Unit = "MB peak"     // the largest resident set of any of its processes
	PerSecond Unit = "MB/s"        // of a benchmark
	PerOp     Unit = "ms/op"       // of a benchmark
	NanoPerOp Unit = "ns/op"       // of a benchmark
	MemoryOp  Unit = "MB/op"       // of a benchmark
	Size      Unit = "kB"          // the number of bytes that the command prints, by 1000
	Slope     Unit = "slope (CPU)" // exponent by which processor time grows, of a claim "slope SMALL LARGE TIMES"
)

var units = []Unit{CPU, Peak, PerSecond, PerOp, NanoPerOp, MemoryOp, Size, Slope}

// Figure is a number with its unit.
type Figure struct {
	Value float64
	Unit  Unit
}

// ParseFigure reads a figure such as "0.17 s CPU" or "21 MB/op".
func ParseFigure(s string) (Figure, error) {
	number, unit, _ := strings.Cut(strings.TrimSpace(s), " ")
	value, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return Figure{}, fmt.Errorf("figure %q: want a number and a unit", s)
	}
	for _, u := range units {
		if unit == string(u) {
			return Figure{Value: value, Unit: u}, nil
		}
	}
	return Figure{}, fmt.Errorf("figure %q: the unit is %q, want one of %q", s, unit, units)
}

func (f Figure) String() string {
	digits := 0
	if a := math.Abs(f.Value); a < 100 && a != math.Trunc(a) {
		digits = max(0, 1-int(math.Floor(math.Log10(max(a, 1e-3)))))
	}
	return strconv.FormatFloat(f.Value, 'f', digits, 64) + " " + string(f.Unit)
}

// Within is the largest accepted multiple of the document's figure.
const Within = 1.5

// slopeRoom is how far a slope may lie above the document's: 0.15 is 1.4 times the time at ten
// times the size.
const slopeRoom = 0.15

// Beyond reports whether a measured figure is worse than the claimed one allows. Figures of time
// are scaled by the machine's speed.
func (f Figure) Beyond(measured float64, speed Speed) bool {
	switch f.Unit {
	case CPU:
		const start = 0.03 // a process takes some milliseconds to start
		return measured > f.Value*speed.CPU*Within+start
	case PerOp, NanoPerOp:
		return measured > f.Value*speed.Wall*Within
	case PerSecond:
		return measured < f.Value/speed.Wall/Within
	case Slope:
		return measured > f.Value+slopeRoom
	default:
		return measured > f.Value*Within
	}
}

// Judged reports whether a machine of that speed can judge the figure.
func (f Figure) Judged(speed Speed) bool {
	switch f.Unit {
	case CPU:
		return speed.CPU <= MaxSpeed
	case PerOp, NanoPerOp, PerSecond:
		return speed.Wall <= MaxSpeed
	default:
		return true
	}
}
