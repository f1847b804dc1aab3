package framesource

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/jank"
)

// How often the app is queried, on the device's clock, at least and at most. A query for frames
// stops its render thread for a while.
const (
	Longest  = time.Second
	shortest = 50 * time.Millisecond
	// everyOld is for the tables before Android 6, which have no times: the more often they are
	// read, the more accurate a frame's time.
	everyOld = 250 * time.Millisecond
	// restless is for an app whose windows come and go, with the frames of each, and restlessFor
	// how long it counts as one after a window has.
	restless    = 500 * time.Millisecond
	restlessFor = 3 * time.Second
)

// ring is how many frames a window keeps (JankTracker.h), and ringShare how much of it may fill up
// between two readings.
const (
	ring      = 120
	ringShare = 0.75
)

// pace is how fast frames come, and how long they take to be read.
type pace struct {
	period  time.Duration // of the display, by the rows; 0 if they don't say
	took    time.Duration // duration of the last dump
	windows []string      // in the last dump, nil before any
	changed time.Duration // when they last changed, on the device's clock
}

// dumped records a dump that took a while, up to now.
func (p *pace) dumped(d gfxinfo.Dump, took, now time.Duration) {
	p.took = took
	var windows []string
	for _, process := range d.Processes {
		for _, w := range process.Windows {
			windows = append(windows, w.Name+"@"+w.ID)
			for _, f := range w.Frames {
				if i := time.Duration(f.Interval); i > 0 && (p.period == 0 || i < p.period) {
					p.period = i
				}
			}
		}
	}
	if len(p.windows) > 0 && len(windows) > 0 && !slices.Equal(windows, p.windows) {
		p.changed = now
	}
	if len(windows) > 0 {
		p.windows = windows
	}
}

// wait returns how long to wait until the next dump, given the display's period: no window's ring
// may overflow until then, and the app may not be queried for more than a third of the time.
func (p *pace) wait(display, now time.Duration) time.Duration {
	period := p.period
	if period == 0 {
		period = display
	}
	if period <= 0 {
		period = jank.VsyncPeriod
	}
	every := min(Longest, time.Duration(ringShare*ring*float64(period)))
	if p.changed > 0 && now-p.changed < restlessFor {
		every = min(every, restless)
	}
	return max(every-p.took, 2*p.took, shortest)
}

// Pause returns how long to wait until the next reading.
func (s *Sampler) Pause() time.Duration {
	switch {
	case s.By.Recorded():
		return Longest
	case !s.Target.Facts.HasFramestats():
		return everyOld
	}
	return s.pace.wait(s.Target.Facts.Display.Period, s.Target.Clock.Now())
}
