package choreo

import (
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Delay is an additional duration of a frame, and its cause.
type Delay struct {
	Cause *simapp.Cause
	For   time.Duration
	// Until is when the task is done for which the frame waits, and Thread the one that does it:
	// of simapp.AwaitedTask, whose For follows from when the frame waits.
	Until  time.Duration
	Thread string
}

// delays adds the causes in the app's file to a frame: those that apply to the n-th frame
// after its event. An app without causes draws no random numbers here.
func (s *stage) delays(w *Work, at time.Duration) {
	s.allocate(w)
	if len(s.app.Causes) == 0 {
		return
	}
	event, n := s.inEvent()
	for i := range s.app.Causes {
		c := &s.app.Causes[i]
		w.GPUApart = w.GPUApart || c.Kind == simapp.GPU
		switch {
		case !contains(c.After, event):
		case c.Kind == simapp.Little:
			w.Little = true
		case c.Kind == simapp.SlowClock:
			w.SlowClock = true
		case c.Kind == simapp.AwaitedTask:
			if c.Strikes(n) {
				w.Delays = append(w.Delays, s.awaits(c, at)...)
			}
		case c.Strikes(n):
			w.Delays = append(w.Delays, Delay{Cause: c, For: scale(c.For, s.spread(c.Kind))})
		}
	}
	s.stretch(w)
}

// awaits returns the wait of the frame at a vsync for the last of the tasks of a name that were
// scheduled before; none if all are done.
func (s *stage) awaits(c *simapp.Cause, at time.Duration) []Delay {
	d := Delay{Cause: c}
	for _, t := range s.perf.Tasks {
		if t.What.Name == c.Name && !t.Shows && t.Scheduled <= at && t.Done > at && t.Done > d.Until {
			d.Until, d.Thread = t.Done, t.Thread
		}
	}
	if d.Thread == "" {
		return nil
	}
	return []Delay{d}
}

// A filling heap: how much the collector frees during a frame (8 MiB take it two and a half
// frames on average), the heap's headroom beyond that, and how long an allocation then waits
// for the collector.
const (
	freedKB  = 3_000
	spareKB  = 24 << 10
	stallFor = 25 * time.Millisecond
)

// stall is an allocation that waits for the collector (art/runtime/gc/heap.cc,
// Heap::AllocateInternalWithGc and WaitForGcToCompleteLocked, for kGcCauseForAlloc).
var stall = simapp.Cause{Kind: simapp.GC, Stage: simapp.StageAnimation}

// allocate fills the heap by a frame's allocations minus what the collector frees. Once the
// heap is full the UI thread waits.
func (s *stage) allocate(w *Work) {
	s.filledKB = max(0, s.filledKB+s.app.AllocatesKB-freedKB)
	if s.filledKB >= spareKB {
		s.filledKB = 0
		w.Delays = append(w.Delays, Delay{Cause: &stall, For: scale(stallFor, s.spread(simapp.GC))})
	}
}

// inEvent returns the event before a frame, and the frame's number after it.
func (s *stage) inEvent() (event string, n int) {
	if s.nextMark == 0 {
		return "", 0
	}
	if s.framesOf != s.nextMark {
		s.framesOf, s.frames = s.nextMark, 0
	}
	s.frames++
	return s.perf.Marks[s.nextMark-1].Event.Name, s.frames
}

// spread draws a factor on a cause's duration: storage, SurfaceFlinger and other processes'
// threads depend little on the speed of the app's own work.
func (s *stage) spread(kind simapp.CauseKind) float64 {
	switch kind {
	case simapp.Disk, simapp.Composition, simapp.CPU:
		return lognormal(s.r, 0.15)
	}
	return s.factor * lognormal(s.r, 0.15)
}

// stretch scales all of a frame's work by the speed of its CPUs.
func (s *stage) stretch(w *Work) {
	by := 1.0
	if w.Little {
		by = s.c.Little
	} else if w.SlowClock {
		by = s.c.SlowClock
	}
	w.Cost, w.BeyondUI, w.BeyondRender = scale(w.Cost, by), scale(w.BeyondUI, by), scale(w.BeyondRender, by)
	w.Think = scale(w.Think, by)
}
