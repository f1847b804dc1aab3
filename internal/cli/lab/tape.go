package lab

import (
	"context"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/fleet"
)

// Tape has runs recorded as they are made, or made from a recording.
type Tape interface {
	// Bind gives a job that is bound to its device, and about to be made, to the tape.
	Bind(*collect.Job)
	// Now is the date of the run that is made.
	Now() time.Time
	// Ended is given what a job came to, and returns what is made of that.
	Ended(collect.Job, collect.Result) collect.Result
}

// taped are stations whose jobs a tape is given.
func taped(tape Tape, stations []fleet.Station) []fleet.Station {
	out := make([]fleet.Station, len(stations))
	for i, s := range stations {
		start := s.Start
		s.Start = func(ctx context.Context, tell func(string)) (*fleet.Started, error) {
			started, err := start(ctx, tell)
			if err != nil {
				return nil, err
			}
			its := *started
			bind := its.Bind
			its.Bind = func(j *collect.Job) {
				bind(j)
				tape.Bind(j)
			}
			return &its, nil
		}
		out[i] = s
	}
	return out
}
