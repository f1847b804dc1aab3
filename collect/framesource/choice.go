package framesource

import (
	"context"
	"errors"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// Choice is what tells of frames on one device: the best source that it has, until a repetition
// that has some frames settles it for all, so that those of a run are of one kind.
type Choice struct {
	Target   *target.Target
	Programs *recorders.Programs
	Perfetto *recorders.Perfetto
	// Asked is the source that the scenario asks for, as it is called there; "" is the usual one.
	Asked string

	// By is what frames are taken from now.
	By Source

	settled    bool // a repetition had them from there, so that all others have
	unrecorded bool // Perfetto tells of none
	// instead is the usual source, where frames as they were shown are tried since that had
	// none; drewFirst says that it had the first frame of a window, and tried that Android drew
	// the app's frames after all.
	instead          Source
	drewFirst, tried bool
}

// Why a repetition is made again with another source; it counts as no loss.
var (
	errDrawsItself = errors.New("the app draws by itself")
	// errDrawsViews: Android draws what the app shows, which had drawn nothing before.
	errDrawsViews = errors.New("the app draws views")
)

// Records reports whether Perfetto is to tell of frames from the first repetition on.
func (c *Choice) Records() bool { return HasTimeline(c.Target.Facts) || c.wantsShown() }

// wantsShown reports whether frames as they were shown are asked for, and can be had.
func (c *Choice) wantsShown() bool {
	return c.Asked == config.FramesShown && HasBuffers(c.Target.Facts)
}

// TellNotShown says where frames as they were shown are asked for, and can't be had.
func (c *Choice) TellNotShown() {
	if c.Asked == config.FramesShown && !c.wantsShown() {
		c.Target.Journal.Warnf("frames as they were shown can't be had: only Android 11 and later tell of them; they are read from %v", Dumps)
	}
}

// usual is the source that is tried first where Perfetto tells of frames.
func (c *Choice) usual() Source {
	if c.wantsShown() {
		return Shown
	}
	return Timeline
}

// Prepare has Perfetto record the compositor's events of frames, if the device can.
func (c *Choice) Prepare(ctx context.Context) error {
	err := c.takeFrom(ctx, c.usual())
	if err == nil || loss.Stops(err) {
		return err
	}
	return c.fallBack(ctx, err)
}

// takeFrom has frames told by a source from now on.
func (c *Choice) takeFrom(ctx context.Context, by Source) error {
	if by.Recorded() {
		c.Perfetto.Ask(Ask(by))
	} else {
		c.Perfetto.Withdraw(Asker)
	}
	err := c.Perfetto.Ready(ctx)
	if err == nil {
		c.By = by
	}
	return err
}

// fallBack goes on with dumps of gfxinfo.
func (c *Choice) fallBack(ctx context.Context, why error) error {
	from := c.By
	if !from.Recorded() { // it was never ready
		from = c.usual()
	}
	c.Target.Journal.Warnf("frames are read from dumps of gfxinfo, which takes some of the app's time: %v can't be had: %v", from, why)
	c.unrecorded, c.By = true, Dumps
	return c.takeFrom(ctx, Dumps)
}

// Changed reports whether the device turned out to tell of no frames in the way that was
// tried, by why a repetition was lost: it is made again then, and counts as no loss. prepared
// says that programs that record were prepared.
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

// tryShown takes frames as they were shown, where the device can tell of them.
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

// trying reports whether frames as they were shown are tried that nobody has asked for.
func (c *Choice) trying() bool { return c.By == Shown && !c.wantsShown() }

// Another is an error where a repetition without frames is to be made again with frames as they
// were shown: the app shows a window in which nothing is drawn that the source tells of, while
// that one may. first says that the window's first frame was seen.
func (c *Choice) Another(first bool) error {
	if c.settled || c.unrecorded || c.tried || c.By == Shown || !HasBuffers(c.Target.Facts) {
		return nil
	}
	c.drewFirst = first
	return errDrawsItself
}

// Settle takes note of a repetition that counts, with frames of the app's where seen: from now
// on all have theirs from the same source. It is an error where the repetition is to be made
// again, since Android has drawn the frames after all. surfaces says that some were in surfaces
// of the app's own.
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
