package hierarchy

import (
	"cmp"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Details are the details of an inspection (docs/format/inspect.md).
type Details struct {
	Source  string   `json:"source"`
	Windows []Counts `json:"windows"`
}

// Counts is the statistics of one window.
type Counts struct {
	Package  string    `json:"package,omitempty"`
	Activity string    `json:"activity,omitempty"`
	Resumed  bool      `json:"resumed,omitempty"`
	Views    run.Views `json:"views"`
}

// Inspect reads a dump. It measures nothing, so there are no metrics.
func Inspect(r io.Reader) (trace.Inspection, error) {
	t, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	d := Details{Source: t.Source, Windows: []Counts{}}
	hidden := 0
	for _, w := range t.Windows {
		c := Counts{Package: w.Package, Activity: w.Activity, Resumed: w.Resumed, Views: w.Count("")}
		hidden += len(c.Views.Hidden)
		d.Windows = append(d.Windows, c)
	}
	if hidden > 0 {
		t.Warnings = append(t.Warnings, run.Warning{Text: Assumptions})
	}
	out := trace.NewInspection("hierarchy", nil, t.Warnings, d)
	if len(d.Windows) == 0 {
		return out.Empty(), nil
	}
	return out, nil
}

// Summary returns the windows as a few lines for people.
func (d Details) Summary() (out []string) {
	for _, c := range d.Windows {
		v := c.Views
		out = append(out, fmt.Sprintf("%s: %d views, %d deep, a pixel is drawn %.1f times on average", cmp.Or(c.Activity, c.Package, "a window"), v.Count, v.Depth, v.Overdraw))
		for _, h := range v.Hidden {
			out = append(out, fmt.Sprintf("  %s is drawn and covered by %s: %.0f %% of the window", named(h), h.CoveredBy, 100*h.AreaShare))
		}
	}
	return out
}

// named returns a view's class and id.
func named(h run.HiddenView) string {
	if h.ID == "" {
		return h.Class
	}
	return h.Class + " (" + h.ID + ")"
}
