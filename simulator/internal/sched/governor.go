package sched

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// cluster is a group of CPUs with a common frequency.
type cluster struct {
	power.Cluster
	part   power.Part
	step   int             // the current frequency
	since  time.Duration   // up to which it is counted
	inStep []time.Duration // how long it ran at each frequency
}

// govern sets the cluster to the highest frequency that any of its threads needs, and to the
// lowest when it is idle.
func (c *cluster) govern(s *Scheduler, at time.Duration) {
	step, held := 0, false
	for i := range s.cpus {
		if one := &s.cpus[i]; one.item != nil {
			held = held || one.item.Held
			if one.cluster == c {
				step = max(step, c.wants(one.item.Kind))
			}
		}
	}
	if held {
		step = min(step, c.Held())
	}
	if step == c.step {
		return
	}
	for i := range s.cpus {
		if one := &s.cpus[i]; one.cluster == c {
			s.tell(one, at, goesOn)
		}
	}
	c.count(at)
	c.step = step
	change := timeline.Speed{At: at, CPU: c.First, Count: c.Count, KHz: uint32(c.Steps[step].KHz)}
	if n := len(s.timeline.Speeds); n > 0 && s.timeline.Speeds[n-1].At == at && s.timeline.Speeds[n-1].CPU == c.First {
		s.timeline.Speeds[n-1] = change
		return
	}
	s.timeline.Speeds = append(s.timeline.Speeds, change)
}

// wants returns the frequency for a kind of work: frames are short, computations are not, and
// an app on the little cluster needs the maximum.
func (c *cluster) wants(k power.Kind) int {
	switch {
	case k == power.Service:
		return 0
	case k == power.Frame && c.part == power.Big:
		return c.Middle()
	}
	return c.Top()
}

// count updates the times at each frequency.
func (c *cluster) count(at time.Duration) {
	c.inStep[c.step] += at - c.since
	c.since = at
}

// InStep returns how long a cluster ran at each of its frequencies, slowest first.
func (s *Scheduler) InStep(part power.Part) []time.Duration {
	for i := range s.clusters {
		if s.clusters[i].part == part {
			return s.clusters[i].inStep
		}
	}
	return nil
}
