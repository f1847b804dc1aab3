package config

import (
	"time"

	"github.com/apkgate/apkgate/gate/rounds"
)

// Rounds limit how long two builds are measured alternately, where the history does not clear the new
// one.
type Rounds struct {
	// The maximum number of rounds of each scenario on each device, of one to three repetitions of
	// each build: with 0 no base build is measured, even if there is one.
	Max int `yaml:"max" jsonschema:"minimum=0,maximum=1000,default=60"`
	// The maximum number of minutes over all scenarios: devices work in parallel, and each measures
	// its most suspect scenario first. Scenarios that are unlikely to be settled in time are
	// reported beforehand, and not begun.
	Minutes int `yaml:"minutes,omitempty" jsonschema:"minimum=1,maximum=10000,default=45"`
}

// Within returns the time for all rounds.
func (r Rounds) Within() time.Duration { return time.Duration(r.Minutes) * time.Minute }

func (d *decoder) rounds(r *Rounds) reader {
	return func(n *node, path string) {
		d.mapping(n, path,
			may("max", integer(d, &r.Max, 0, 1000)),
			may("minutes", integer(d, &r.Minutes, 1, 10_000)),
		)
	}
}

// enoughRounds reports a number of rounds in which a worse build can't be separated from chance, at
// the gate's rate of false alarms.
func (d *decoder) enoughRounds(root *node, c *Config) {
	if c.Rounds.Max == 0 {
		return
	}
	_, err := rounds.PlanOf(c.Gate.Policy(c.Context), c.Rounds.Max, 1)
	if err == nil {
		return
	}
	at, path := root, "rounds"
	if section := root.find("rounds"); section != nil {
		at = section
		if most := section.find("max"); most != nil {
			at, path = most, "rounds.max"
		}
	}
	d.at(at, path, "%v", err)
}
