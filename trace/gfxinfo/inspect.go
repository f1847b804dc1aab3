package gfxinfo

import (
	"io"
	"strconv"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/jank"
)

// Details are the details of an inspection besides its metrics (docs/format/inspect.md).
type Details struct {
	// Source is the source of the totals.
	Source Source `json:"source"`
	// Rows are the metrics of the frames listed in the file, if any.
	Rows      map[string]float64 `json:"rows,omitempty"`
	Processes []ProcessDetails   `json:"processes,omitempty"`
	Packages  []PackageDetails   `json:"packages,omitempty"`
}

// ProcessDetails is one process of a dump.
type ProcessDetails struct {
	PID     int             `json:"pid"`
	Name    string          `json:"name"`
	Summary *Stats          `json:"summary,omitempty"`
	Windows []WindowDetails `json:"windows,omitempty"`
}

// WindowDetails is one window of a process.
type WindowDetails struct {
	Name    string `json:"name"`
	Summary *Stats `json:"summary,omitempty"`
	// Rows counts the rows of frames, Counted those that count. Flagged maps Flags to the number of
	// rows with them, Unusable counts those without a usable duration.
	Rows     int                `json:"rows"`
	Counted  int                `json:"counted"`
	Flagged  map[string]int     `json:"flagged,omitempty"`
	Unusable int                `json:"unusable,omitempty"`
	Metrics  map[string]float64 `json:"metrics,omitempty"`
	// Rendered is the view hierarchy's count (Android 4).
	Rendered *int `json:"frames_rendered,omitempty"`
}

// PackageDetails is one package of graphicsstats.
type PackageDetails struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Summary Stats  `json:"summary"`
}

// Inspect reads a file and returns its totals.
func Inspect(r io.Reader) (trace.Inspection, error) {
	d, err := Read(r)
	if err != nil {
		return trace.Inspection{}, err
	}
	if !d.Recognized {
		return trace.NewInspection("gfxinfo", nil, d.Warnings, Details{Source: FromNothing}).Empty(), nil
	}
	metrics, source := d.Totals()
	details := Details{Source: source}
	rows := d.Rows()
	if len(rows) > 0 {
		details.Rows = Metrics(rows, jank.Display{})
	}
	for _, p := range d.Processes {
		details.Processes = append(details.Processes, detailsOf(p))
	}
	for _, p := range d.Packages {
		details.Packages = append(details.Packages, PackageDetails{p.Name, p.Version, p.Stats})
	}
	warnings := append(d.Warnings, d.doubts(metrics, source, rows)...)
	seen := trace.NewInspection("gfxinfo", metrics, warnings, details)
	if source == FromNothing && (d.Failed || d.UnreadRows > 0) {
		return seen.Empty(), nil
	}
	return seen, nil
}

// doubts returns warnings about what the totals leave out, so that no 0 goes unexplained.
func (d Dump) doubts(metrics map[string]float64, source Source, rows []Frame) []run.Warning {
	var out []run.Warning
	say := func(text string) { out = append(out, run.Warning{Text: text}) }
	switch {
	case source == FromNothing && d.Failed:
		say("the device returned no dump: the number of frames is unknown")
	case source == FromNothing && d.UnreadRows > 0:
		say(strconv.Itoa(d.UnreadRows) + " rows of frames can't be read, and there is no summary: the number of frames is unknown")
	case source == FromNothing:
		say("the dump holds neither a summary nor rows of frames; before Android 6 it lists frames only with \"Profile GPU rendering\" on")
	case source == FromHierarchy:
		say("the dump lists no frames: frames.count is the count in the view hierarchy since each window was created, and nothing else is known")
	case metrics["frames.count"] == 0:
		say("no frame counts: percentiles and the smooth ratio are left out")
	}
	if _, has := metrics["frames.duration_ms"]; !has && source == FromSummary && metrics["frames.count"] > 0 {
		say("the summary has no histogram: the mean, slow and frozen frames are unknown" + several(metrics))
	}
	if source == FromRows {
		if left := len(rows) - int(metrics["frames.count"]); left > 0 {
			say(strconv.Itoa(left) + " of " + strconv.Itoa(len(rows)) + " rows do not count: nothing was drawn, or their times are unusable")
		}
	}
	return out
}

func several(metrics map[string]float64) string {
	if _, has := metrics["frames.duration_ms.p90"]; has {
		return ""
	}
	return ", nor percentiles over several processes"
}

func detailsOf(p Process) ProcessDetails {
	out := ProcessDetails{PID: p.PID, Name: p.Name, Summary: p.Stats}
	for _, w := range p.Windows {
		rows := w.Frames
		if len(rows) == 0 {
			rows = w.Table
		}
		wd := WindowDetails{Name: w.Name, Summary: w.Stats, Rows: len(rows)}
		for _, f := range rows {
			if f.Flags != 0 {
				if wd.Flagged == nil {
					wd.Flagged = map[string]int{}
				}
				wd.Flagged[strconv.FormatInt(f.Flags, 10)]++
			}
			if f.Counted() {
				wd.Counted++
			}
			if !f.Usable() {
				wd.Unusable++
			}
		}
		if len(rows) > 0 {
			wd.Metrics = Metrics(rows, jank.Display{})
		}
		if w.Rendered >= 0 {
			wd.Rendered = &w.Rendered
		}
		out.Windows = append(out.Windows, wd)
	}
	return out
}
