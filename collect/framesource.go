package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/trace/logcat"
)

// recordsFrames reports whether Perfetto is to tell of frames from the first repetition on.
func (c *collector) recordsFrames() bool {
	return frames.HasTimeline(c.target.Facts) || c.wantsShown()
}

// wantsShown reports whether frames as they were shown are asked for, and can be had.
func (c *collector) wantsShown() bool {
	return c.job.Scenario.FramesBy == config.FramesShown && frames.HasBuffers(c.target.Facts)
}

// tellNotShown says where frames as they were shown are asked for, and can't be had.
func (c *collector) tellNotShown() {
	if c.job.Scenario.FramesBy == config.FramesShown && !c.wantsShown() {
		c.journal.Warnf("frames as they were shown can't be had: only Android 11 and later tell of them; they are read from %v", frames.Dumps)
	}
}

// prepareFrames has Perfetto record the compositor's events of frames, if the device can.
func (c *collector) prepareFrames(ctx context.Context) error {
	by := frames.Timeline
	if c.wantsShown() {
		by = frames.Shown
	}
	err := c.takeFrom(ctx, by)
	if err == nil || loss.IsGone(err) || ctxEnded(err) {
		return err
	}
	return c.fallBack(ctx, err)
}

// takeFrom has frames told by a source from now on.
func (c *collector) takeFrom(ctx context.Context, by frames.Source) error {
	if by.Recorded() {
		c.perfetto.Ask(frames.Ask(by))
	} else {
		c.perfetto.Withdraw(frames.Asker)
	}
	err := c.perfetto.Ready(ctx)
	if err == nil {
		c.by = by
	}
	return err
}

// fallBack goes on with dumps of gfxinfo.
func (c *collector) fallBack(ctx context.Context, why error) error {
	from := c.by
	if !from.Recorded() { // it was never ready
		if from = frames.Timeline; c.wantsShown() {
			from = frames.Shown
		}
	}
	c.journal.Warnf("frames are read from dumps of gfxinfo, which takes some of the app's time: %v can't be had: %v", from, why)
	c.unrecorded, c.by = true, frames.Dumps
	return c.takeFrom(ctx, frames.Dumps)
}

// errDrawsItself says that a repetition is to be made again, with frames as they were shown.
var errDrawsItself = errors.New("the app draws by itself")

// errDrawsViews says that it is to be made again with the usual source of frames: Android draws
// what the app shows, which had drawn nothing before.
var errDrawsViews = errors.New("the app draws views")

// changesSource reports whether the device turned out to tell of no frames in the way that was
// tried: the first repetition that has some settles it for all, so that those of a run are of
// one kind. It is made again then, and counts as no loss.
func (c *collector) changesSource(ctx context.Context, err error) (bool, error) {
	switch {
	case errors.Is(err, errDrawsItself):
		before := c.by
		if !c.records() {
			if err := c.programs.Prepare(ctx); err != nil {
				return false, err
			}
		}
		err := c.takeFrom(ctx, frames.Shown)
		if err == nil {
			c.instead = before
			return true, nil
		}
		if loss.IsGone(err) || ctxEnded(err) {
			return false, err
		}
		c.unrecorded = true
		return true, c.takeFrom(ctx, before)
	case errors.Is(err, errDrawsViews):
		c.tried = true
		return true, c.takeFrom(ctx, c.instead)
	case c.settled || !c.by.Recorded() || !errors.Is(err, loss.ErrTimeline):
		return false, nil
	case c.by == frames.Shown && !c.wantsShown(): // it was a try
		c.unrecorded = true
		return true, c.takeFrom(ctx, c.instead)
	}
	return true, c.fallBack(ctx, err)
}

// turnsToShown reports whether an app shows a window in which nothing is drawn that the source
// of frames tells of, while another one may.
func (c *collector) turnsToShown(a *attempt, seen applog.Sifted, err error) bool {
	opened := len(a.frames.Frames) > 0 || seen.Startup > 0
	return opened && errors.Is(err, loss.ErrNoFrames) && !c.settled && !c.sawFrames && !c.unrecorded && !c.tried &&
		c.by != frames.Shown && c.job.Scenario.Workload.Startup == nil && frames.HasBuffers(c.target.Facts)
}

// takeFrames takes the frames of a repetition from what was recorded.
func (c *collector) takeFrames(ctx context.Context, a *attempt, seen applog.Sifted) error {
	if !a.frames.By.Recorded() || !a.measured {
		return nil
	}
	var err error
	if until := c.workloadEnded(a); a.frames.By == frames.Shown {
		err = a.frames.TakeShown(ctx, c.perfetto, seen.PIDs, times(seen.UI), until)
	} else {
		err = a.frames.TakeTimeline(ctx, c.perfetto, seen.PIDs, until)
	}
	if err == nil || loss.IsGone(err) || ctxEnded(err) {
		return err
	}
	return fmt.Errorf("%w: %w", loss.ErrTimeline, err)
}

// times are when UI events were, in order.
func times(events []logcat.Event) (out []time.Duration) {
	for _, e := range events {
		out = append(out, e.Time)
	}
	slices.Sort(out)
	return out
}

// end does what is to be done between the end of the workload and that of what records:
// the app's memory is read while it lives. Then it is stopped, as before each repetition:
// the compositor tells of a frame when it shows the next one, and a window that closes is
// one.
func (c *collector) end(ctx context.Context, a *attempt) error {
	if err := a.frames.Remember(ctx); err != nil {
		return err
	}
	if !a.frames.By.Recorded() {
		return a.frames.Count(ctx)
	}
	return c.target.Try(ctx, "am", "force-stop", c.job.App.Package)
}

// countBefore takes note of what the system has counted of the app by now, before it is
// stopped.
func (c *collector) countBefore(ctx context.Context) (err error) {
	if !c.by.Recorded() {
		c.counted, _, err = frames.Counted(ctx, c.target, c.job.App.Package)
	}
	return err
}

// lossOf tells why the repetition is lost that the device survived, nil where it is
// not; unseen that nobody looked at its frames. untold is why the frame timeline is not
// known, nil where it is or nobody wants it.
func (c *collector) lossOf(a *attempt, seen applog.Sifted, ended, untold error) (unseen bool, lost error) {
	if err := seen.Loss(ended); err != nil {
		return false, err
	}
	if a.frames.By.Recorded() && !a.measured {
		return true, nil
	}
	if untold != nil {
		return false, untold
	}
	unseen = a.energy != nil && c.detached() != nil && !a.frames.By.Recorded()
	if unseen {
		a.frames.Frames = nil
	} else if err := a.frames.Loss(a.n, a.measured); err != nil {
		if c.turnsToShown(a, seen, err) {
			c.drewFirst = len(a.frames.Frames) > 0
			return false, errDrawsItself
		}
		if unseen = c.drawsNothing(err) || c.drawsByItself(a, seen, err); !unseen && !c.needsNoFrames(err) {
			return false, err
		}
	}
	if !c.settled && !unseen && c.by == frames.Shown && !c.wantsShown() {
		if c.drewFirst && !a.frames.InSurfaces() {
			return false, errDrawsViews
		}
		c.journal.Warnf("nothing of what %s draws by itself is in %v: its frames are those that the compositor showed (frames-by: shown has them from the first repetition on)", c.job.App.Package, c.instead)
	}
	c.settled = c.settled || a.frames.By.Recorded() || !unseen
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
func (c *collector) drawsByItself(a *attempt, seen applog.Sifted, err error) bool {
	if c.sawFrames || !errors.Is(err, loss.ErrNoFrames) {
		return false
	}
	but := " but the first"
	if len(a.frames.Frames) == 0 {
		if !a.frames.By.Recorded() || seen.Startup == 0 {
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
func (c *collector) compareStart(n int, start workload.Start, seen applog.Sifted) {
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
	if !c.logged() || !a.measured || a.frames.By != frames.Timeline {
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
