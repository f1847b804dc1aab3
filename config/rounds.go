package config

import (
	"time"
)

// Rounds bound how long two builds are measured in turns, where the history does not
// clear the new one.
type Rounds struct {
	// How many rounds at most, of one repetition of each build: 0 measures no base build, whatever is there of one.
	Max int `yaml:"max" jsonschema:"minimum=0,maximum=1000,default=40"`
	// How many minutes at most, over all devices and scenarios: devices work at the same time, and each shares these among its scenarios.
	Minutes int `yaml:"minutes,omitempty" jsonschema:"minimum=1,maximum=10000,default=60"`
}

// Within is the time for all rounds.
func (r Rounds) Within() time.Duration { return time.Duration(r.Minutes) * time.Minute }

func (d *decoder) rounds(r *Rounds) reader {
	return func(n *node, path string) {
		d.mapping(n, path,
			may("max", integer(d, &r.Max, 0, 1000)),
			may("minutes", integer(d, &r.Minutes, 1, 10_000)),
		)
	}
}
