package repetition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/logcat"
)

// sampling reads the app's frames, and with them its CPU time and memory.
type sampling struct {
	nothing
	phone *Phone
	work  Work
	saw   bool // the app has drawn something
}

// countBefore reads what the system has counted of the app so far, before it is stopped, if frames
// are dumped.
func countBefore(ctx context.Context, p *Phone, app string) (counted gfxinfo.Stated, err error) {
	if !p.Frames.By.Recorded() {
		counted, _, err = framesource.Counted(ctx, p.Target, app)
	}
	return counted, err
}

func (s *sampling) before(ctx context.Context, a *attempt) error {
	if err := s.phone.Target.FindVitals(ctx); err != nil {
		return err
	}
	a.frames = &framesource.Sampler{Target: s.phone.Target, App: s.work.App.Package, By: s.phone.Frames.By, Least: a.counted}
	if a.energy != nil {
		a.frames.Rider = a.energy // reading memory takes energy
	} else {
		a.frames.Perishes = s.work.Scenario.Memory == config.MemoryPSS && s.work.Scenario.Workload.Instrumentation != nil
	}
	return a.frames.Begin(ctx, a.log.MarkedAt)
}

func (s *sampling) while(ctx context.Context, a *attempt) error {
	return a.frames.Read(ctx, !a.workload.Ended())
}

// take reads the frames of a repetition from the recording.
func (s *sampling) take(ctx context.Context, a *attempt, seen applog.Sifted) error {
	if !a.frames.By.Recorded() || !a.measured {
		return nil
	}
	var err error
	if until := a.workloadEnded(); a.frames.By == framesource.Shown {
		err = a.frames.TakeShown(ctx, s.phone.Perfetto, seen.PIDs, times(seen.UI), until)
	} else {
		err = a.frames.TakeTimeline(ctx, s.phone.Perfetto, seen.PIDs, until)
	}
	if err == nil || loss.Stops(err) {
		return err
	}
	return fmt.Errorf("%w: %w", loss.ErrTimeline, err)
}

// times returns the sorted times of UI events.
func times(events []logcat.Event) (out []time.Duration) {
	for _, e := range events {
		out = append(out, e.Time)
	}
	slices.Sort(out)
	return out
}

// loss returns why the repetition is lost on account of its frames, nil if it is not; unseen
// reports that nothing looked at the frames. timelineErr is why the frame timeline is missing, nil
// if it is there or not requested.
func (s *sampling) loss(a *attempt, seen applog.Sifted, timelineErr error) (unseen bool, lost error) {
	if a.frames.By.Recorded() && !a.measured {
		return true, nil
	}
	if timelineErr != nil {
		return false, timelineErr
	}
	unseen = a.energy != nil && s.work.detaches() && !a.frames.By.Recorded()
	if unseen {
		a.frames.Frames = nil
	} else if err := a.frames.Loss(a.n, a.measured); err != nil {
		if another := s.another(a, seen, err); another != nil {
			return false, another
		}
		if unseen = s.drawsNothing(err) || s.drawsByItself(a, seen, err); !unseen && !s.needsNoFrames(err) {
			return false, err
		}
	}
	if err := s.phone.Frames.Settle(s.work.App.Package, a.frames.By, !unseen, a.frames.InSurfaces()); err != nil {
		return false, err
	}
	s.saw = s.saw || !unseen
	return unseen, nil
}

// another returns an error if the repetition must be repeated with another source: the app shows a
// window, and this source reports no frames in it.
func (s *sampling) another(a *attempt, seen applog.Sifted, err error) error {
	first := len(a.frames.Frames) > 0
	opened := first || seen.Startup > 0
	if !opened || !errors.Is(err, loss.ErrNoFrames) || s.saw || s.work.Scenario.Workload.Startup != nil {
		return nil
	}
	return s.phone.Frames.Another(first)
}

// drawsNothing reports whether a repetition without frames counts: energy is measured, and the app
// has never drawn anything that gfxinfo counts. Apps that work with the screen off, or render by
// themselves, use energy too.
func (s *sampling) drawsNothing(lost error) bool {
	if s.phone.Meter == nil || s.saw || !errors.Is(lost, loss.ErrNoFrames) {
		return false
	}
	s.phone.Target.Journal.Warnf("%s draws nothing that gfxinfo counts: its energy is measured, and no frames (see whether the workload opens the app at all, if it should)", s.work.App.Package)
	return true
}

// drawsByItself reports whether a repetition counts without frames because the app shows a window
// whose frames Android neither numbers nor counts, as those of Flutter, games and video. That there
// is a window is known by its first frame or, if the app renders that too (NativeActivity), by the
// log; dumps may lack a first frame that was drawn. An app that drew frames before should do so
// again.
func (s *sampling) drawsByItself(a *attempt, seen applog.Sifted, err error) bool {
	if s.saw || !errors.Is(err, loss.ErrNoFrames) {
		return false
	}
	but := " but the first"
	if len(a.frames.Frames) == 0 {
		if !a.frames.By.Recorded() || seen.Startup == 0 {
			return false
		}
		but = ""
	}
	s.phone.Target.Journal.Warnf("%s showed a window, and Android counts no frames in it%s: frames are not measured (apps that draw by themselves, such as Flutter's and games, draw without the numbers of vsyncs; see whether the workload does anything in the app, if it draws by Android's views or Compose)",
		s.work.App.Package, but)
	return true
}

// needsNoFrames reports whether a repetition counts without frames: a start may draw only the first
// frames of its window.
func (s *sampling) needsNoFrames(err error) bool {
	return s.work.Scenario.Workload.Startup != nil && errors.Is(err, loss.ErrNoFrames)
}
