package powerprofile

import (
	"fmt"
	"io"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Details are the details of an inspection (docs/format/inspect.md).
type Details struct {
	Device      string       `json:"device"`
	CapacityMAh float64      `json:"battery_capacity_mah,omitempty"`
	Placeholder bool         `json:"placeholder"`
	Layout      Layout       `json:"cpu_layout"`
	CPU         []Cluster    `json:"cpu,omitempty"`
	Policies    []Policy     `json:"cpu_policies,omitempty"`
	Modem       []ModemState `json:"modem,omitempty"`
	Items       []Item       `json:"items"`
}

// Inspect reads a profile. A profile measures nothing, so there are no metrics.
func Inspect(r io.Reader) (trace.Inspection, error) {
	p, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	warnings := p.Warnings
	switch {
	case len(p.Items) == 0 && len(p.Modem) == 0:
		warnings = append(warnings, run.Warning{Text: "the file has no item of a power profile"})
	case p.Placeholder():
		warnings = append(warnings, run.Warning{Text: "the screen draws 0.1 mA: these are Android's placeholders, not a device's values"})
	}
	details := Details{Device: p.Device, Placeholder: p.Placeholder(), Layout: p.Layout,
		CPU: p.CPU, Policies: p.Policies, Modem: p.Modem, Items: append([]Item{}, p.Items...)}
	details.CapacityMAh, _ = p.Value("battery.capacity")
	seen := trace.NewInspection("powerprofile", nil, warnings, details)
	if len(p.Items) == 0 && len(p.Modem) == 0 {
		return seen.Empty(), nil
	}
	return seen, nil
}

// Summary returns the profile as a few lines for people.
func (d Details) Summary() []string {
	if len(d.Items) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("%d items, a battery of %g mAh", len(d.Items), d.CapacityMAh)}
	for _, c := range d.CPU {
		if len(c.SpeedsKHz) == 0 || len(c.PowerMA) == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("CPU cluster %d: %d speeds to %g MHz, %g to %g mA", c.Index,
			len(c.SpeedsKHz), slices.Max(c.SpeedsKHz)/1000, slices.Min(c.PowerMA), slices.Max(c.PowerMA)))
	}
	return lines
}
