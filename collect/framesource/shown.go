package framesource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/perfetto/shown"
)

// ErrNoBuffers reports that the recording has no record of buffers.
var ErrNoBuffers = errors.New("the device writes no record of buffers")

// TakeShown takes the frames of the app's layers from the recording, from Begin to when the
// workload ended, as TakeTimeline does. events are the UI events on CLOCK_MONOTONIC, sorted by
// time: the first frame of an idle app after one is not late.
func (s *Sampler) TakeShown(ctx context.Context, perfetto *recorders.Perfetto, pids []int, events []time.Duration, until time.Duration) error {
	s.ran(pids)
	err := perfetto.Fetch(ctx, func(trace io.ReadSeeker) (err error) {
		s.shown, err = shown.Read(trace, func(layer string) bool { return shown.Of(layer, s.App) })
		return err
	})
	switch {
	case err != nil:
		return err
	case !s.shown.Written:
		return ErrNoBuffers
	}
	stated := s.Target.Facts.Display.Period
	if stated <= 0 {
		stated = jank.VsyncPeriod
	}
	period := s.shown.Period(stated)
	var all []jank.Frame
	for _, l := range s.shown.Layers {
		all = append(all, l.Frames(period, events)...)
	}
	slices.SortStableFunc(all, func(a, b jank.Frame) int { return cmp.Compare(a.At, b.At) })
	s.Frames = s.measured(all, until)
	return nil
}

// InSurfaces reports whether most of the app's shown frames were drawn into surfaces, and not into
// its windows.
func (s *Sampler) InSurfaces() bool {
	surfaces, all := 0, 0
	for _, l := range s.shown.Layers {
		all += len(l.Buffers)
		if l.IsSurface() {
			surfaces += len(l.Buffers)
		}
	}
	return 2*surfaces > all
}

// shownLoss returns why a repetition is lost by its record of buffers.
func (s *Sampler) shownLoss(n int) error {
	switch {
	case s.shown.Lost > 0:
		return fmt.Errorf("%w: parts of it were lost in %d places of the trace", loss.ErrTimeline, s.shown.Lost)
	case s.counted() == 0:
		return &loss.Error{Cause: loss.Workload, Device: s.Target.Name, Phase: journal.Measure, Repetition: n,
			Err:    fmt.Errorf("%w: %s drew nothing into a layer with its name", loss.ErrNoFrames, s.App),
			Advice: "see whether the workload opens the app at all"}
	}
	s.warnGuessed(n)
	return nil
}

// warnGuessed warns of frames for which it is unknown when they were shown. For the last ones of a
// layer it always is.
func (s *Sampler) warnGuessed(n int) {
	guessed, all := 0, 0
	for _, l := range s.shown.Layers {
		for _, b := range l.Buffers {
			all++
			if b.Guessed {
				guessed++
			}
		}
	}
	const usual, atLeast = 0.05, 10
	if guessed >= atLeast && float64(guessed) > usual*float64(all) {
		s.Target.Journal.Warnf("repetition %d: for %d of %d frames the device does not report when they were shown: it is estimated from when the compositor took them", n, guessed, all)
	}
}
