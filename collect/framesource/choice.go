package framesource

import (
	"context"
	"errors"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// Choice is the source of frames on one device: the best one that it has, until a repetition with
// frames settles it for all, so that a run's frames are of one kind.
type Choice struct {
	Target   *target.Target
	Programs *recorders.Programs
	Perfetto *recorders.Perfetto
	// Asked is the configured source, by its name in the scenario; "" is the usual one.
	Asked string

	// By is the current source of frames.
	By Source

	settled    bool // a repetition had frames from it, so that all others use it
	unrecorded bool // Perfetto has none
	// instead is the usual source, while shown frames are tried because that had none; drewFirst
	// reports that it had the first frame of a window, and tried that Android drew the app's frames
	// after all.
	instead          Source
	drewFirst, tried bool
}

// Why a repetition is repeated with another source; it counts as no loss.
var (
	errDrawsItself = errors.New("the app draws by itself")
	// errDrawsViews: Android draws the app's contents, which had drawn nothing before.
	errDrawsViews = errors.New("the app draws views")
)

// Records reports whether Perfetto records frames from the first repetition on.
func (c *Choice) Records() bool { return HasTimeline(c.Target.Facts) || c.wantsShown() }

// wantsShown reports whether shown frames are configured and available.
func (c *Choice) wantsShown() bool {
	return c.Asked == config.FramesShown && HasBuffers(c.Target.Facts)
}

// WarnNotShown warns if shown frames are configured and not available.
func (c *Choice) WarnNotShown() {
	if c.Asked == config.FramesShown && !c.wantsShown() {
		c.Target.Journal.Warnf("shown frames are not available: only Android 11 and later report them; frames are read from %v", Dumps)
	}
}

// usual returns the source that is tried first if Perfetto records frames.
func (c *Choice) usual() Source {
	if c.wantsShown() {
		return Shown
	}
	return Timeline
}

// Prepare makes Perfetto record the compositor's frame events, if the device can.
func (c *Choice) Prepare(ctx context.Context) error {
	err := c.takeFrom(ctx, c.usual())
	if err == nil || loss.Stops(err) {
		return err
	}
	return c.fallBack(ctx, err)
}

// takeFrom switches the source of frames.
func (c *Choice) takeFrom(ctx context.Context, by Source) error {
	if by.Recorded() {
		c.Perfetto.Request(Request(by))
	} else {
		c.Perfetto.Withdraw(Asker)
	}
	err := c.Perfetto.Ready(ctx)
	if err == nil {
		c.By = by
	}
	return err
}

// fallBack switches to dumps of gfxinfo.
func (c *Choice) fallBack(ctx context.Context, why error) error {
	from := c.By
	if !from.Recorded() { // it was never ready
		from = c.usual()
	}
	c.Target.Journal.Warnf("frames are read from dumps of gfxinfo, which takes some of the app's time: %v is not available: %v", from, why)
	c.unrecorded, c.By = true, Dumps
	return c.takeFrom(ctx, Dumps)
}

// Changed reports whether the repetition was lost because the device has no frames from the current
// source: it is repeated with another then, and counts as no loss. prepared reports that recording
// programs were prepared.
func (c *Choice) Changed(ctx context.Context, lost error, prepared bool) (bool, error) {
	switch {
	case errors.Is(lost, errDrawsItself):
		return c.tryShown(ctx, prepared)
	case errors.Is(lost, errDrawsViews):
		c.tried = true
		return true, c.takeFrom(ctx, c.instead)
	case c.settled || !c.By.Recorded() || !errors.Is(lost, loss.ErrTimeline):
		return false, nil
	case c.trying():
		c.unrecorded = true
		return true, c.takeFrom(ctx, c.instead)
	}
	return true, c.fallBack(ctx, lost)
}

// tryShown switches to shown frames, if the device has them.
func (c *Choice) tryShown(ctx context.Context, prepared bool) (bool, error) {
	before := c.By
	if !prepared {
		if err := c.Programs.Prepare(ctx); err != nil {
			return false, err
		}
	}
	err := c.takeFrom(ctx, Shown)
	if err == nil {
		c.instead = before
		return true, nil
	}
	if loss.Stops(err) {
		return false, err
	}
	c.unrecorded = true
	return true, c.takeFrom(ctx, before)
}

// trying reports whether shown frames are being tried without being configured.
func (c *Choice) trying() bool { return c.By == Shown && !c.wantsShown() }

// Another returns an error if a repetition without frames is to be repeated with shown frames: the
// app shows a window without frames in the current source, and they may have some. first reports
// that the window's first frame was seen.
func (c *Choice) Another(first bool) error {
	if c.settled || c.unrecorded || c.tried || c.By == Shown || !HasBuffers(c.Target.Facts) {
		return nil
	}
	c.drewFirst = first
	return errDrawsItself
}

// Settle settles the source by a repetition that counts, with frames of the app if seen: from now
// on all use the same one. It returns an error if the repetition is to be repeated, since Android
// has drawn the frames after all. surfaces reports that some were in surfaces of the app's own.
func (c *Choice) Settle(app string, by Source, seen, surfaces bool) error {
	if !c.settled && seen && c.trying() {
		if c.drewFirst && !surfaces {
			return errDrawsViews
		}
		c.Target.Journal.Warnf("nothing of what %s draws by itself is in %v: its frames are those that the compositor showed (frames-by: shown has them from the first repetition on)", app, c.instead)
	}
	c.settled = c.settled || by.Recorded() || seen
	return nil
}
