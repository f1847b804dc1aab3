package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/watch"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/metric"
)

// prepareTimeline has Perfetto record the frame timeline, if the device can.
func (c *collector) prepareTimeline(ctx context.Context) error {
	c.perfetto.Ask(frames.Ask())
	err := c.perfetto.Ready(ctx)
	if err == nil || loss.IsGone(err) || ctxEnded(err) {
		c.timeline = err == nil
		return err
	}
	return c.withoutTimeline(ctx, err)
}

// withoutTimeline goes on with dumps of gfxinfo.
func (c *collector) withoutTimeline(ctx context.Context, why error) error {
	c.journal.Warnf("frames are read from dumps of gfxinfo, which takes some of the app's time: the device's frame timeline can't be had: %v", why)
	c.timeline = false
	c.perfetto.Withdraw(frames.Asker)
	return c.perfetto.Ready(ctx)
}

// withdraws reports whether the device turned out to have no frame timeline: the first
// repetition that records it tells for all, so that those of a run are of one kind. It
// is made again then, and counts as no loss.
func (c *collector) withdraws(ctx context.Context, err error) (bool, error) {
	if !c.timeline || c.sawTimeline || !errors.Is(err, loss.ErrTimeline) {
		return false, nil
	}
	return true, c.withoutTimeline(ctx, err)
}

// takeTimeline takes the frames of a repetition from what was recorded.
func (c *collector) takeTimeline(ctx context.Context, a *attempt, seen watch.Sifted) error {
	if !a.frames.ByTimeline || !a.measured {
		return nil
	}
	err := a.frames.TakeTimeline(ctx, c.perfetto, seen.PIDs, c.workloadEnded(a))
	if err == nil || loss.IsGone(err) || ctxEnded(err) {
		return err
	}
	return fmt.Errorf("%w: %w", loss.ErrTimeline, err)
}

// end does what is to be done between the end of the workload and that of what records:
// the app's memory is read while it lives. Then it is stopped, as before each repetition:
// the compositor tells of a frame when it shows the next one, and a window that closes is
// one.
func (c *collector) end(ctx context.Context, a *attempt) error {
	if err := a.frames.Remember(ctx); err != nil {
		return err
	}
	if !a.frames.ByTimeline {
		return a.frames.Count(ctx)
	}
	return c.target.Try(ctx, "am", "force-stop", c.job.App.Package)
}

// countBefore takes note of what the system has counted of the app by now, before it is
// stopped.
func (c *collector) countBefore(ctx context.Context) (err error) {
	if !c.timeline {
		c.counted, _, err = frames.Counted(ctx, c.target, c.job.App.Package)
	}
	return err
}

// tellFramesBy notes where the frames of the run are from.
func (c *collector) tellFramesBy() {
	if _, users := c.job.Extra[metric.FramesBy]; users || !c.sawFrames {
		return
	}
	by := metric.ByGfxinfo
	if c.timeline {
		by = metric.ByTimeline
	}
	c.setContext(metric.FramesBy, by)
}

// tellCoverage warns of repetitions in which frames were drawn that were not seen one by
// one.
func (c *collector) tellCoverage() {
	least, at := 1.0, 0
	seen, all := 0, 0
	for _, m := range c.measured {
		if m.unseen {
			continue
		}
		seen, all = seen+len(m.frames), all+max(m.whole.Count, len(m.frames))
		if share := m.whole.Seen(len(m.frames)); share < least {
			least, at = share, m.repetition
		}
	}
	if at > 0 {
		c.journal.Warnf("%.1f %% of the frames were seen one by one, %.1f %% in repetition %d: the counts, janky frames and the smooth ratio of the whole are those that Android states; how long the others took, and after which UI event they were drawn, is not known",
			100*float64(seen)/float64(all), 100*least, at)
	}
}

// lossOf tells why the repetition is lost that the device survived, nil where it is
// not; unseen that nobody looked at its frames. untold is why the frame timeline is not
// known, nil where it is or nobody wants it.
func (c *collector) lossOf(a *attempt, seen watch.Sifted, ended, untold error) (unseen bool, lost error) {
	if err := seen.Loss(ended); err != nil {
		return false, err
	}
	if a.frames.ByTimeline && !a.measured {
		return true, nil
	}
	if untold != nil {
		return false, untold
	}
	unseen = a.energy != nil && c.detached() != nil && !a.frames.ByTimeline
	if unseen {
		a.frames.Frames = nil
	} else if err := a.frames.Loss(a.n, a.measured); err != nil {
		if unseen = c.drawsNothing(err) || c.drawsByItself(a, seen, err); !unseen && !c.needsNoFrames(err) {
			return false, err
		}
	}
	c.sawTimeline = c.sawTimeline || a.frames.ByTimeline
	c.sawFrames = c.sawFrames || !unseen
	return unseen, nil
}

// drawsNothing reports whether a repetition without frames counts all the same:
// where energy is measured, and the app has never drawn anything that gfxinfo
// counts. What works with the screen off, or draws by itself, has its joules too.
func (c *collector) drawsNothing(lost error) bool {
	if c.meter == nil || c.sawFrames || !errors.Is(lost, loss.ErrNoFrames) {
		return false
	}
	c.journal.Warnf("%s draws nothing that gfxinfo counts: its energy is measured, and no frames (see whether the workload opens the app at all, if it should)", c.job.App.Package)
	return true
}

// drawsByItself reports whether a repetition counts without frames since the app shows a
// window and nobody numbers or counts what it draws in it, as Flutter, games and video do.
// That it does is told by the window's first frame, or, where the app draws that too
// (NativeActivity), by the log; in dumps a first frame may be missing that was drawn. An
// app that has drawn before should draw again.
func (c *collector) drawsByItself(a *attempt, seen watch.Sifted, err error) bool {
	if c.sawFrames || !errors.Is(err, loss.ErrNoFrames) {
		return false
	}
	but := " but the first"
	if len(a.frames.Frames) == 0 {
		if !a.frames.ByTimeline || seen.Startup == 0 {
			return false
		}
		but = ""
	}
	c.journal.Warnf("%s showed a window, and Android counts no frames in it%s: frames are not measured (apps that draw by themselves, such as Flutter's and games, draw without the numbers of vsyncs; see whether the workload does anything in the app, if it draws by Android's views or Compose)",
		c.job.App.Package, but)
	return true
}

// needsNoFrames reports whether a repetition counts without frames: a start may draw
// the first ones of its window and no more.
func (c *collector) needsNoFrames(err error) bool {
	return c.job.Scenario.Workload.Startup != nil && errors.Is(err, loss.ErrNoFrames)
}

// apart is how far the two times of a start may lie apart that are rounded: one to
// whole milliseconds, the other cut.
const apart = time.Millisecond

// compareStart holds what am start says against what the log tells of the same start.
func (c *collector) compareStart(n int, start workload.Start, seen watch.Sifted) {
	if !c.logged() {
		return
	}
	switch d := seen.Startup - start.Total; {
	case seen.Startup == 0:
		c.journal.Warnf("repetition %d: am start says that the first frame took %v, and the log does not tell of it", n, start.Total)
	case max(d, -d) > apart:
		c.journal.Warnf("repetition %d: am start says that the first frame took %v, and the log %v: the former counts", n, start.Total, seen.Startup)
	}
}

// drawnApart is how far from the first frame of a window a start may end. The system
// takes a window for drawn when the app has told it of that frame, which it does as soon
// as the render thread is done, and the next layout has looked at all windows
// (WindowState.finishDrawing, ActivityRecord.updateReportedVisibility): two or three
// vsyncs later, more where it waits for the window manager's lock (19 ms from the first
// buffer to "Displayed" in a Galaxy's log of a start of 2.9 s). The timeline has a frame
// end when the GPU is done with it, which may be later than that. When it is shown matters
// to neither. Half a second is many times what those take together.
const drawnApart = 500 * time.Millisecond

// compareDrawn holds when a start ended, as am start says, against the first frames of
// the app's windows, where the frame timeline has them. It ended within the time of the
// command: after what it took at the least, from the mark before it, and before the rest
// that the workload goes on for. Of a hot start nothing follows: its windows may be there,
// and drawn.
func (c *collector) compareDrawn(a *attempt, start workload.Start) {
	if !c.logged() || !a.measured || !a.frames.ByTimeline {
		return
	}
	begun, ok := a.log.Times(a.workload.Begin)()
	over, told := a.log.Times(a.workload.End)()
	if !ok || !told {
		return
	}
	from := begun + start.Total
	to := max(over-workload.Settles, from)
	if at, off, ok := a.frames.NearestWindow(begun, from-drawnApart, to+drawnApart); ok && off > 0 {
		c.journal.Warnf("repetition %d: am start says that the first frame took %v, and by the frame timeline that of a window was done %v after the command: the former counts",
			a.n, start.Total, (at - begun).Round(time.Millisecond))
	}
}
