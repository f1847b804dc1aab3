package choreo

import (
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Delay is what a frame takes longer by, and why.
type Delay struct {
	Cause *simapp.Cause
	For   time.Duration
}

// delays draws what the causes in the app's file add to a frame: those that strike the
// n-th frame after its event. An app without causes draws nothing.
func (s *stage) delays(w *Work) {
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
		case c.Strikes(n):
			w.Delays = append(w.Delays, Delay{c, scale(c.For, s.spread(c.Kind))})
		}
	}
	s.stretch(w)
}

// A heap that fills: what the collector frees while a frame goes on, since 8 MiB take it two
// and a half frames in the mean; what the heap has to spare beyond that; and for how long who
// allocates waits for the collector then.
const (
	freedKB  = 3_000
	spareKB  = 24 << 10
	stallFor = 25 * time.Millisecond
)

// stall is that an allocation waits until the collector is done (art/runtime/gc/heap.cc,
// Heap::AllocateInternalWithGc and WaitForGcToCompleteLocked, for kGcCauseForAlloc).
var stall = simapp.Cause{Kind: simapp.GC, Stage: simapp.StageAnimation}

// allocate fills the heap by what a frame allocates more than the collector frees meanwhile.
// Once it is full the UI thread waits.
func (s *stage) allocate(w *Work) {
	s.filledKB = max(0, s.filledKB+s.app.AllocatesKB-freedKB)
	if s.filledKB >= spareKB {
		s.filledKB = 0
		w.Delays = append(w.Delays, Delay{&stall, scale(stallFor, s.spread(simapp.GC))})
	}
}

// inEvent is the event after which a frame comes, and the how many-th after it it is.
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

// spread draws a factor on what a cause takes: storage, SurfaceFlinger and other
// processes' threads care little for how fast the app's own work is.
func (s *stage) spread(kind simapp.CauseKind) float64 {
	switch kind {
	case simapp.Disk, simapp.Composition, simapp.CPU:
		return lognormal(s.r, 0.15)
	}
	return s.factor * lognormal(s.r, 0.15)
}

// stretch has all of a frame's work take longer where its CPUs are slow.
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
