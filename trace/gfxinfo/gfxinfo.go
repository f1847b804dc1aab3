// Package gfxinfo reads what `dumpsys gfxinfo` and `dumpsys graphicsstats` have
// written from Android 4.1 to today: frames (framestats rows, or the older
// table of stages), the summary of a process, a window or a package, and what
// stands around them in a bug report.
//
// It owns the text and its meaning: which frames count, how long a frame took,
// what a dump's totals are. It does not know how often to dump or which UI
// event a frame belongs to (package collect does).
//
// It takes a stand: what the dump itself states outranks what can be counted in
// it, since a dump holds the last 120 frames and states the totals of all.
package gfxinfo

import (
	"time"

	"github.com/apkgate/apkgate/run"
)

// Dump is one file: one dump, or several after one another.
type Dump struct {
	Uptime    time.Duration // CLOCK_MONOTONIC when it was written, 0 where not stated
	Processes []Process     // of gfxinfo, in the order of the file
	Packages  []Package     // of graphicsstats
	Warnings  []run.Warning
	// UnreadRows counts the rows of frames that could not be read; each is a
	// warning too.
	UnreadRows int
	// Cut says that the dump is not whole, Failed that the device had none to give, or
	// not of all; a warning says how that shows.
	Cut, Failed bool
	// Recognized says that something of gfxinfo or graphicsstats was found.
	Recognized bool
}

// Process is one "Graphics info for pid" section.
type Process struct {
	PID     int
	Name    string // "" where the text begins in the middle of a section
	Line    int
	Stats   *Stats // nil before Android 6
	Windows []Window
}

// Window is one window (a ViewRootImpl) of a process.
type Window struct {
	Name string // "com.example/com.example.MainActivity"
	ID   string // the hash after "ViewRootImpl@", "" where not stated
	Line int
	// Stats are the window's own totals, nil where not stated.
	Stats *Stats
	// Frames are the framestats rows, at most the last 120 (Android 6 and later).
	Frames []Frame
	// Table are the rows of stages (Draw, Prepare, Process, Execute) drawn
	// since the last dump, at most 128 (120 since Android 5), without any time.
	Table []Frame
	// Rendered is the count of frames that the view hierarchy states (Android
	// 4), -1 where it states none.
	Rendered int
}

// Package is one "Package:" section of graphicsstats.
type Package struct {
	Name    string
	Version string
	Line    int
	Stats   Stats
}

// Stats is a summary block: counters since a moment.
type Stats struct {
	Line  int   `json:"line"`
	Since int64 `json:"since"` // ns of CLOCK_MONOTONIC; ms since 1970 in graphicsstats since Android 8
	End   int64 `json:"end,omitempty"`
	// Total is the count of frames rendered, Janky those that Android calls so.
	Total int64 `json:"total_frames"`
	Janky int64 `json:"janky_frames"`
	// LegacyJanky is the count by the rule before Android 12, nil where not stated.
	LegacyJanky *int64 `json:"janky_frames_legacy,omitempty"`
	// Percentiles maps 50, 90, 95, 99 to milliseconds as stated.
	Percentiles    map[int]float64 `json:"percentiles_ms,omitempty"`
	GPUPercentiles map[int]float64 `json:"gpu_percentiles_ms,omitempty"`
	// Counters are the "Number …" lines: "Missed Vsync", "Slow UI thread", …
	Counters     map[string]int64 `json:"counters,omitempty"`
	Histogram    []Bin            `json:"histogram,omitempty"`
	GPUHistogram []Bin            `json:"gpu_histogram,omitempty"`

	hasTotal, hasJanky bool
}

// Bin is one column of a histogram: Count frames of MS milliseconds and more,
// less than the next bin's.
type Bin struct {
	MS    int64 `json:"ms"`
	Count int64 `json:"count"`
}
