package config

import "time"

// What is kept of what was recorded.
const (
	KeepNone      = "none"      // nothing, and nothing is recorded for it
	KeepWorst     = "worst"     // of the repetition with the worst late frame
	KeepAnomalies = "anomalies" // of that one, and of those in which something went wrong
	KeepAll       = "all"       // of every repetition
)

// Evidence says which files are kept with the runs.
type Evidence struct {
	// Of which repetitions the system trace is kept: worst keeps that of the one in which the latest frame of the run was drawn; anomalies also those in which the app or Android did not respond, the app crashed, drew a frame that took more than 700 ms, or took much longer over a UI event than in earlier repetitions; all of every one. none doesn't record any. With any but none each repetition is recorded, and its trace read into the record before it is kept or dropped. Recording takes some of the device's time, so that runs with and without it are not alike.
	Keep string `yaml:"keep,omitempty" jsonschema:"enum=none,enum=worst,enum=anomalies,enum=all,default=none"`
	// Have a refresh of the main branch keep the build that it accepts, for pull requests to be measured against in turns.
	APK bool `yaml:"apk,omitempty" jsonschema:"default=false"`
	// How long both builds are recorded at most to explain a regression, where there is a base build: a few more rounds, which judge nothing. 0s records none.
	Why time.Duration `yaml:"why" jsonschema:"default=5m"`
}

// The time for recording what explains a regression, where nobody says another, and the most
// that can be said.
const (
	DefaultWhy = 5 * time.Minute
	MostWhy    = 24 * time.Hour
)

// Keeps reports whether anything that is recorded may be kept.
func (e Evidence) Keeps() bool { return e.Keep != "" && e.Keep != KeepNone }

func (d *decoder) evidence(e *Evidence) reader {
	return func(n *node, path string) {
		d.mapping(n, path,
			may("keep", oneOf(d, &e.Keep, KeepNone, KeepWorst, KeepAnomalies, KeepAll)),
			may("apk", d.boolean(&e.APK)),
			may("why", d.duration(&e.Why, 0, MostWhy)),
		)
	}
}
