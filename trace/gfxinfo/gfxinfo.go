// Package gfxinfo reads the output of `dumpsys gfxinfo` and `dumpsys graphicsstats` from Android
// 4.1 to today: frames (framestats rows, or the older table of stages), the summary of a process, a
// window or a package, and the sections of a bug report around them.
//
// It owns the text and its meaning: which frames count, how long a frame took, and the totals of a
// dump. It does not know how often to dump or which UI event a frame belongs to (package collect
// does).
//
// A total that the dump states takes precedence over a count of its rows, since a dump lists the
// last 120 frames and states the totals of all.
package gfxinfo

import (
	"time"

	"github.com/apkgate/apkgate/run"
)

// Dump is the content of one file: one dump, or several in succession.
type Dump struct {
	Uptime    time.Duration // CLOCK_MONOTONIC when it was written, 0 if not stated
	Processes []Process     // of gfxinfo, in the order of the file
	Packages  []Package     // of graphicsstats
	Warnings  []run.Warning
	// UnreadRows counts the rows of frames that could not be parsed; each has a warning.
	UnreadRows int
	// Cut is set if the dump is incomplete, Failed if the device had no dump or only part of one; a
	// warning gives the reason.
	Cut, Failed bool
	// Recognized is set if part of gfxinfo or graphicsstats was found.
	Recognized bool
}

// Process is one "Graphics info for pid" section.
type Process struct {
	PID     int
	Name    string // "" if the text begins within a section
	Line    int
	Stats   *Stats // nil before Android 6
	Windows []Window
}

// Window is one window (a ViewRootImpl) of a process.
type Window struct {
	Name string // "com.example/com.example.MainActivity"
	ID   string // the hash after "ViewRootImpl@", "" if not stated
	Line int
	// Stats are the window's own totals, nil if not stated.
	Stats *Stats
	// Frames are the framestats rows, at most the last 120 (Android 6 and later).
	Frames []Frame
	// Table lists the rows of stages (Draw, Prepare, Process, Execute) drawn since the last dump,
	// at most 128 (120 since Android 5), without times.
	Table []Frame
	// Rendered is the number of frames stated in the view hierarchy (Android 4), -1 if none is.
	Rendered int
}

// Package is one "Package:" section of graphicsstats.
type Package struct {
	Name    string
	Version string
	Line    int
	Stats   Stats
}

// Stats is a summary block: counters since a point in time.
type Stats struct {
	Line  int   `json:"line"`
	Since int64 `json:"since"` // ns of CLOCK_MONOTONIC; ms since 1970 in graphicsstats since Android 8
	End   int64 `json:"end,omitempty"`
	// Total is the number of frames rendered, Janky the number that Android counts as janky.
	Total int64 `json:"total_frames"`
	Janky int64 `json:"janky_frames"`
	// LegacyJanky is the number by the rule before Android 12, nil if not stated.
	LegacyJanky *int64 `json:"janky_frames_legacy,omitempty"`
	// Percentiles maps 50, 90, 95, 99 to the stated milliseconds.
	Percentiles    map[int]float64 `json:"percentiles_ms,omitempty"`
	GPUPercentiles map[int]float64 `json:"gpu_percentiles_ms,omitempty"`
	// Counters are the "Number …" lines: "Missed Vsync", "Slow UI thread", …
	Counters     map[string]int64 `json:"counters,omitempty"`
	Histogram    []Bin            `json:"histogram,omitempty"`
	GPUHistogram []Bin            `json:"gpu_histogram,omitempty"`

	hasTotal, hasJanky bool
}

// Bin is one bin of a histogram: Count frames of at least MS milliseconds, less than the next
// bin's.
type Bin struct {
	MS    int64 `json:"ms"`
	Count int64 `json:"count"`
}
