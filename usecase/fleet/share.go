package fleet

import (
	"time"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
)

// share is a station's time for its remaining jobs, which are done successively.
type share struct {
	left    time.Duration
	endless bool
	clock   device.Clock
	began   time.Duration
}

// shareOut gives each station its time. Stations that wait for each other's room have accordingly
// less.
func (l Lab) shareOut(within time.Duration) []*share {
	shares, there := make([]*share, len(l.Stations)), map[string]int{}
	for _, s := range l.Stations {
		there[s.Place]++
	}
	scaled := func(most, n int) time.Duration {
		if most > 0 && n > most {
			return within * time.Duration(most) / time.Duration(n)
		}
		return within
	}
	for i, s := range l.Stations {
		its := scaled(l.Parallel, len(l.Stations))
		if s.Place != "" {
			its = min(its, scaled(l.Places[s.Place], there[s.Place]))
		}
		shares[i] = &share{left: its, endless: within <= 0}
	}
	return shares
}

// begin returns for how long the next of so many jobs may run, as for Turns.Within.
func (s *share) begin(clock device.Clock, jobs int) time.Duration {
	if s.clock = clock; clock == nil {
		s.clock = target.HostClock()
	}
	s.began = s.clock.Now()
	switch {
	case s.endless:
		return 0
	case s.left <= 0:
		return -1
	}
	return max(s.left/time.Duration(max(jobs, 1)), 1)
}

// end subtracts what the job has used.
func (s *share) end() { s.left -= s.clock.Now() - s.began }
