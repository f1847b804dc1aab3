package sensorservice

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Details are the details of an inspection (docs/format/inspect.md).
type Details struct {
	Sensors []Sensor `json:"sensors"`
}

// Inspect reads a dump. A list of sensors measures nothing, so there are no
// metrics.
func Inspect(r io.Reader) (trace.Inspection, error) {
	d, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	if len(d.Sensors) == 0 && len(d.Warnings) == 0 {
		d.Warnings = append(d.Warnings, run.Warning{Text: "no sensor is in the file"})
	}
	seen := trace.NewInspection("sensorservice", nil, d.Warnings, Details{append([]Sensor{}, d.Sensors...)})
	if len(d.Sensors) == 0 {
		return seen.Empty(), nil
	}
	return seen, nil
}

// maxShown limits the sensors in a summary.
const maxShown = 10

// Summary returns a few lines for people: how many sensors there are, and those with the largest
// currents.
func (d Details) Summary() []string {
	if len(d.Sensors) == 0 {
		return nil
	}
	stating := slices.DeleteFunc(slices.Clone(d.Sensors), func(s Sensor) bool { return s.CurrentMA == nil || *s.CurrentMA == 0 })
	slices.SortStableFunc(stating, func(a, b Sensor) int { return cmp.Compare(*b.CurrentMA, *a.CurrentMA) })
	lines := []string{fmt.Sprintf("%d sensors, of which %d state a current", len(d.Sensors), len(stating))}
	for _, s := range stating[:min(len(stating), maxShown)] {
		lines = append(lines, fmt.Sprintf("sensor %d: %g mA, %q", s.Handle, *s.CurrentMA, s.Name))
	}
	return lines
}
