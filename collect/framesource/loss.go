package framesource

import (
	"fmt"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
)

// counted returns how many frames were seen apart from the first ones of windows, which even apps
// that render by themselves draw.
func (s *Sampler) counted() (n int) {
	for _, f := range s.Frames {
		if !f.First {
			n++
		}
	}
	return n
}

// Loss returns why the repetition is lost by what was seen of its frames, nil if it is not. Frames
// that may be missing from a measured one are a warning.
func (s *Sampler) Loss(n int, measured bool) error {
	switch s.By {
	case Timeline:
		return s.timelineLoss(n)
	case Shown:
		return s.shownLoss(n)
	}
	counted := s.counted()
	switch {
	case counted == 0 && s.garbled > 0:
		return fmt.Errorf("%w: %d dumps of gfxinfo, and no frame in the others", loss.ErrGarbled, s.garbled)
	case counted == 0:
		return &loss.Error{Cause: loss.Workload, Device: s.Target.Name, Phase: journal.Measure, Repetition: n,
			Err:    fmt.Errorf("%w: %s drew nothing that gfxinfo counts", loss.ErrNoFrames, s.App),
			Advice: "apps that draw by themselves (Flutter, games, video) are not seen by gfxinfo; see whether the workload opens the app at all"}
	}
	if !measured {
		return nil
	}
	if s.garbled > 0 || s.unread > 0 {
		s.Target.Journal.Warnf("repetition %d: the device answered garbage: %d dumps of gfxinfo were asked for again, %d rows could not be read", n, s.garbled, s.unread)
	}
	if s.cut && !s.toTheEnd {
		s.Target.Journal.Warnf("frames were being drawn when the app was last read before its end, up to %v earlier: those after it are not counted, and how many differs from repetition to repetition (end the test with a second of quiet)",
			Longest)
	}
	if s.full {
		s.Target.Journal.Warnf("repetition %d: a table of frames was full when it was read: earlier frames may have gone by unseen", n)
	}
	return nil
}
