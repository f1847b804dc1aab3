package target

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
)

// undo undoes one change of the device.
type undo struct {
	what   string
	do     func(ctx context.Context) error // nil for a change
	change *Change
}

// UndoLater registers how something is undone when the run ends.
func (t *Target) UndoLater(what string, do func(ctx context.Context) error) {
	t.undo = append(t.undo, undo{what: what, do: do})
}

// Undoes reports whether the undoing of something is registered already.
func (t *Target) Undoes(what string) bool {
	return slices.ContainsFunc(t.undo, func(u undo) bool { return u.what == what })
}

// tearDownFor limits tear-down. After an interrupt there is less time: job runners kill a process
// ten seconds after the interrupt (GitHub's runner: an interrupt, 7.5 s, a termination, 2.5 s), and
// a booted device must be stopped in that time too.
const (
	tearDownFor    = time.Minute
	interruptedFor = 5 * time.Second
)

// TearDown stops the package, undoes all changes, last first, even after an interrupt, releases the
// device and disconnects.
func (t *Target) TearDown(ctx context.Context, pkg string) {
	if t.dev == nil {
		return
	}
	if !t.mayChange() {
		t.HangUp()
		return
	}
	interrupted := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tearDownFor)
	defer cancel()
	defer context.AfterFunc(interrupted, func() { time.AfterFunc(interruptedFor, cancel) })()
	defer t.HangUp()
	t.Journal.Report(journal.TearDown, 0, 0, "")
	if !t.reachable(ctx, pkg) {
		t.leftUndone(ctx, t.undo)
		return
	}
	var failed []Change
	for i := len(t.undo) - 1; i >= 0; i-- {
		err := t.undoOne(ctx, t.undo[i])
		if loss.IsGone(err) || ctx.Err() != nil {
			t.leftUndone(ctx, t.undo[:i+1])
			return
		}
		if err != nil {
			t.Journal.Warnf("%s: %v", t.undo[i].what, err)
			if c := t.undo[i].change; c != nil {
				failed = append(failed, *c)
			}
		}
	}
	if err := t.release(ctx, append(failed, t.failed...)); err != nil {
		t.Journal.Warnf("%v", err)
	}
}

func (t *Target) undoOne(ctx context.Context, u undo) error {
	if u.change == nil {
		return u.do(ctx)
	}
	found, err := t.putBack(ctx, *u.change)
	if found != "" {
		t.Journal.Warnf("%s: it %s, and stays so", u.what, found)
	}
	return err
}

// reachable stops the app. It opens the connection again if it is broken or was closed by an
// interrupt.
func (t *Target) reachable(ctx context.Context, pkg string) bool {
	if t.away {
		return false
	}
	reached := func() bool { return !loss.IsGone(t.Try(ctx, "am", "force-stop", pkg)) && ctx.Err() == nil }
	if !t.hungUp && reached() {
		return true
	}
	t.HangUp()
	return t.dead() == nil && t.tryOpen(ctx) == nil && reached()
}

// leftUndone reports what is still to be undone on a device that is gone, or for which there is no
// time. Nothing is to be undone on a booted device whose process has ended: no other run uses it.
func (t *Target) leftUndone(ctx context.Context, left []undo) {
	if len(left) == 0 || t.dead() != nil {
		return
	}
	var what []string
	for _, u := range slices.Backward(left) {
		what = append(what, u.what)
	}
	why := "the device is gone"
	if ctx.Err() != nil {
		why = "there was no time left"
	}
	t.Journal.Warnf("%s: the device could not be left as it was found; still to do, by the next run or `apkgate devices restore`: %s", why, strings.Join(what, "; "))
}
