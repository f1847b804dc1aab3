package config

import "time"

// Which recordings are kept.
const (
	KeepNone      = "none"      // nothing, and nothing is recorded for it
	KeepWorst     = "worst"     // of the repetition with the worst late frame
	KeepAnomalies = "anomalies" // of that one, and of those in which something went wrong
	KeepAll       = "all"       // of every repetition
)

// Evidence configures which files are kept with the runs.
type Evidence struct {
	// The repetitions whose system trace is kept: worst keeps that of the one with the latest frame
	// of the run; anomalies also those in which the app or Android did not respond, the app
	// crashed, drew a frame that took more than 700 ms, or took much longer for a UI event than in
	// earlier repetitions; all keeps every one. none records nothing. Otherwise each repetition is
	// recorded, and its trace is read into the record before it is kept or dropped. Recording takes
	// some of the device's time, so that runs with and without it are not comparable.
	Keep string `yaml:"keep,omitempty" jsonschema:"enum=none,enum=worst,enum=anomalies,enum=all,default=none"`
	// Also record how long the app's asynchronous tasks waited in queues and ran: the messages of its
	// loopers, where the device and the app expose them (Android 16), or else the sections that the
	// app writes of its tasks. It needs keep.
	Tasks bool `yaml:"tasks,omitempty" jsonschema:"default=false"`
	// TasksIfAny records them too, without a warning where there are none.
	TasksIfAny bool `yaml:"-"`
	// Have a refresh of the main branch keep the accepted build, for pull requests to be measured
	// against alternately.
	APK bool `yaml:"apk,omitempty" jsonschema:"default=false"`
	// How long both builds are recorded at most to explain a regression, where there is a base
	// build: a few more rounds, which are not judged. 0s records nothing.
	Why time.Duration `yaml:"why" jsonschema:"default=5m"`
}

// The default and the maximum time for recordings that explain a regression.
const (
	DefaultWhy = 5 * time.Minute
	MostWhy    = 24 * time.Hour
)

// Keeps reports whether any recording may be kept.
func (e Evidence) Keeps() bool { return e.Keep != "" && e.Keep != KeepNone }

func (d *decoder) evidence(e *Evidence) reader {
	return func(n *node, path string) {
		d.mapping(n, path,
			may("keep", oneOf(d, &e.Keep, KeepNone, KeepWorst, KeepAnomalies, KeepAll)),
			may("tasks", d.boolean(&e.Tasks)),
			may("apk", d.boolean(&e.APK)),
			may("why", d.duration(&e.Why, 0, MostWhy)),
		)
		if at := n.find("tasks"); e.Tasks && !e.Keeps() {
			d.hinted(at, join(path, "tasks"), "set evidence.keep to worst, anomalies or all", "tasks are read from a recording, and none is made")
		}
	}
}
