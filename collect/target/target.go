// Package target is one device while a run is measured on it: the connection, with
// what notices that the device hangs; its clock; what it is; what was changed on it
// and has to be put back; and the marks that are written to its log.
//
// It owns every way to talk to the device. It does not know what is measured, nor
// what an answer means. It takes a stand: all waiting goes through the device's
// clock, so that a simulated lab takes seconds, but for how long a device may keep
// silent, which only this computer's clock can tell.
package target

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/devicelock"
)

// Target is a device in use, for one build or for several that take turns on it.
type Target struct {
	// Name is the device's in reports and progress.
	Name  string
	Clock device.Clock
	// Started is the time of day at which the run began.
	Started time.Time
	Facts   Facts
	// Journal is that of the run whose turn it is.
	Journal *journal.Journal
	// Console is the port of the emulator's console on this computer, 0 for a device that
	// has none here.
	Console int
	// Wall is the clock by which the device's answers are waited for: this computer's,
	// but for a simulated device, of which only faults take time.
	Wall device.Clock
	// Died is closed when the device is gone for good, and Why says how: what booted it
	// knows. nil where nobody can tell.
	Died <-chan struct{}
	Why  func() string
	// Apps are the packages that are measured: a dialog about one of them is no accident of
	// the device's.
	Apps []string
	// Asked says that the device's system is asked again and again while it is waited for,
	// so that its pulse need not be felt there.
	Asked bool
	// Heard are the lines of the log that tell of an ANR or a crash, as far as they were read
	// while it is followed; ok is false where it isn't any more. nil where nobody follows it.
	Heard func() (lines string, ok bool)
	// Vitals are the processes that tell of the device, as they were found last.
	Vitals Vitals
	// KeepsLog says that the device keeps as much of its log as a run asks for.
	KeepsLog bool
	// Owner is who uses the device, for all who might use it too; nil where nobody
	// else can.
	Owner *devicelock.Owner

	connect func(ctx context.Context) (device.Device, error)
	dev     *attended  // nil: never connected
	lost    chan error // filled once the connection is lost that there is
	unwatch func()     // ends the watching of that
	away    bool       // the device did not come back
	hungUp  bool       // the connection is closed
	undo    []undo
	// clockProcess is the process whose dumps tell the device's clock, "" before set-up.
	clockProcess string
	cooled       time.Duration                   // of rest for heat so far
	failed       []Change                        // of a run that was killed, that could not be put back, last first
	owned        bool                            // by the Owner
	hold         atomic.Pointer[devicelock.Hold] // nil: nothing on the device says so
	marks        int                             // written to the device's log
	felt         bool                            // the device's pulse
	pulsed       time.Duration                   // when that was last, on the device's clock
	life         life                            // the device's, when its pulse was felt
	light        life                            // the same by Felt, with when its system began
	accidents    string                          // of its log, the last that was read then
}

// New is a device that is not connected to yet; a nil clock is this computer's.
func New(name string, clock device.Clock, started time.Time, connect func(ctx context.Context) (device.Device, error)) *Target {
	if clock == nil {
		clock = HostClock()
	}
	return &Target{Name: name, Clock: clock, Wall: HostClock(), Started: started, connect: connect}
}

// Connected reports whether the device was ever connected to.
func (t *Target) Connected() bool { return t.dev != nil }

// Device is the device itself, for its files and packages.
func (t *Target) Device() device.Device { return t.dev }

// Shared reports whether the connection is an adb server's.
func (t *Target) Shared() bool { return t.dev.shared() }

// Final is an error of the device that trying again can't mend, unless the device
// was lost.
func (t *Target) Final(cause loss.Cause, err error) error {
	return loss.Final(t.Name, cause, err, "")
}

// Advise is Final with a hint for the reader.
func (t *Target) Advise(cause loss.Cause, err error, hint string) error {
	return loss.Final(t.Name, cause, err, hint)
}

// Open connects to the device.
func (t *Target) Open(ctx context.Context) error {
	dev, err := t.connect(ctx)
	if err != nil {
		return err
	}
	t.dev, t.hungUp = &attended{
		Device: dev, wall: t.Wall, clock: device.AsideClock(t.Clock), died: t.Died, why: t.Why,
		shell: voice{of: "the device"}, system: voice{of: "the device's system"},
		beat: t.beat,
		gaveUp: func(service string) {
			t.Journal.Warnf("the device gave up a dump of its service %s, which took too long: what is read of it may be missing", journal.Line(service))
		},
		silent: func(what string, d time.Duration) {
			t.Journal.Report(journal.Waiting, 0, 0, fmt.Sprintf("%s has not answered for %v", what, d))
		},
		answers: func(what string, d time.Duration) {
			t.Journal.Warnf("%s did not answer for %v: what was measured at that time may be worse for it", what, d.Round(time.Second))
		},
	}, false
	t.watchWay(dev)
	return nil
}

// watchWay has the connection watched for as long as it is there, where that can be done
// without asking the device.
func (t *Target) watchWay(dev device.Device) {
	ctx, cancel := context.WithCancel(context.Background())
	t.unwatch, t.lost = cancel, nil
	watched, can := dev.(interface {
		OnLoss(ctx context.Context, lost func(error))
	})
	if !can {
		return
	}
	lost := make(chan error, 1)
	t.lost = lost
	watched.OnLoss(ctx, func(err error) { lost <- err })
}

// Lost is why the device is gone, as far as that is known without asking it; nil where
// nobody knows of anything.
func (t *Target) Lost() error {
	select {
	case err := <-t.lost:
		t.lost <- err
		return err
	default:
		return t.dead()
	}
}

// HangUp closes the connection to the device, once.
func (t *Target) HangUp() {
	if !t.hungUp {
		if t.unwatch != nil {
			t.unwatch()
		}
		_ = t.dev.Close()
	}
	t.hungUp = true
}

// How long a lost device is waited for, on its clock and on that of who waits, since
// that of a simulated device that hangs stands still; how often it is tried, and how long
// a try may take. A phone that restarts is back after 25 to 60 s, one whose system was
// ended by the watchdog after 60 and 20 more. One that has died is not waited for.
const (
	reconnectFor   = 90 * time.Second
	reconnectEvery = 3 * time.Second
	connectFor     = 10 * time.Second
)

// Reconnect waits for the device to come back, booted and ready.
func (t *Target) Reconnect(ctx context.Context, ready func(context.Context) error) error {
	if err := t.dead(); err != nil {
		t.away = true
		return err
	}
	t.Journal.Report(journal.SetUp, 0, 0, fmt.Sprintf("waiting up to %v for the device to come back", reconnectFor))
	err := t.comeBack(ctx, func(ctx context.Context) error {
		t.life = life{}
		// A system that hangs is registered all the same, and may be ended while it is set up.
		for _, step := range []func(context.Context) error{t.Pulse, t.booted, t.stillOwn, ready, t.Pulse} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	t.away = err != nil && loss.IsGone(err)
	return err
}

// Cut closes the connection for a while and opens it again.
func (t *Target) Cut(ctx context.Context, long time.Duration) error {
	if err := t.Leave(ctx, long); err != nil {
		return err
	}
	t.HangUp()
	if err := t.Clock.Sleep(ctx, long); err != nil {
		return err
	}
	return t.comeBack(ctx, func(context.Context) error { return nil })
}

// comeBack connects to the device again and again until it is there and ready. One
// that is still starting, or lost once more, is tried again.
func (t *Target) comeBack(ctx context.Context, ready func(context.Context) error) error {
	bound, cancel := within(ctx, t.Wall, reconnectFor, context.DeadlineExceeded)
	defer cancel()
	last := device.ErrGone
	for deadline := t.Clock.Now() + reconnectFor; t.Clock.Now() < deadline && bound.Err() == nil; {
		t.HangUp()
		last = t.tryOpen(bound)
		connected := last == nil
		if connected {
			last = ready(bound)
		}
		switch dead := t.dead(); {
		case last == nil, ctx.Err() != nil:
			return last
		case dead != nil:
			return dead
		case connected && !loss.IsGone(last) && !errors.Is(last, errBooting) && bound.Err() == nil:
			return last
		}
		if err := t.Clock.Sleep(bound, reconnectEvery); err != nil && ctx.Err() != nil {
			return err
		}
	}
	if !loss.IsGone(last) {
		last = fmt.Errorf("%w: %w", device.ErrGone, last)
	}
	return fmt.Errorf("wait %v for the device to come back: %w", reconnectFor, last)
}

// tryOpen connects, or gives up before what is under the connection would.
func (t *Target) tryOpen(ctx context.Context) error {
	ctx, cancel := within(ctx, t.Wall, connectFor, fmt.Errorf("%w: no answer for %v to the connection", device.ErrGone, connectFor))
	defer cancel()
	err := t.Open(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, device.ErrGone) {
		return cause
	}
	return err
}

// dead is the loss of the device for good; nil where it is not known to be.
func (t *Target) dead() error {
	select {
	case <-t.Died:
		return dead(t.Why)
	default:
		return nil
	}
}

var errBooting = errors.New("the device is still starting")

// booted is errBooting where the device can't be used yet.
func (t *Target) booted(ctx context.Context) error {
	boot, err := t.boot(ctx)
	if err == nil && !boot.Up {
		err = fmt.Errorf("%w: %s", errBooting, boot.Waits)
	}
	return err
}

func (t *Target) boot(ctx context.Context) (device.Boot, error) {
	out, err := t.Ask(ctx, device.BootQuestion)
	if err != nil {
		return device.Boot{}, fmt.Errorf("look how far the device has started: %w", err)
	}
	return device.ReadBoot(string(out.Stdout)), nil
}

// WaitBooted waits for a device that is still starting. One that can be used and never comes
// to the end of its start is used, and told of.
func (t *Target) WaitBooted(ctx context.Context) error {
	var boot device.Boot
	booted, err := t.Poll(ctx, reconnectEvery, reconnectFor, func() (done bool, err error) {
		boot, err = t.boot(ctx)
		return boot.Waits == "", err
	})
	switch {
	case err != nil || booted:
		return err
	case !boot.Up:
		return fmt.Errorf("wait %v: %w: %s", reconnectFor, errBooting, boot.Waits)
	}
	t.Journal.Warnf("the device did not come to the end of its start within %v: %s", reconnectFor, boot.Waits)
	return nil
}

// MarkTag is the log tag of the marks that are written to know where in the log
// something begins and ends.
const MarkTag = "apkgate-mark"

// NextMark is the command that writes a mark no one has written before.
func (t *Target) NextMark() (mark, command string) {
	t.marks++
	mark = strconv.FormatInt(t.Started.UnixMilli(), 36) + "-" + strconv.Itoa(t.marks)
	return mark, device.Quote("log", "-t", MarkTag, mark)
}
