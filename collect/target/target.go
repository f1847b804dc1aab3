// Package target wraps one device while a run is measured on it: the connection, with the detection
// of hangs; its clock; its properties; the changes that must be undone; and the marks that are
// written to its log.
//
// It owns all communication with the device. It does not know what is measured, nor what an answer
// means. All waiting uses the device's clock, so that a simulated lab takes seconds. Only a
// device's silence is timed by this computer's clock.
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

// Target is a device in use, for one build or for several alternately.
type Target struct {
	// Name is the device's name in reports and progress.
	Name  string
	Clock device.Clock
	// Started is the time of day at which the run began.
	Started time.Time
	Facts   Facts
	// Journal is that of the current run.
	Journal *journal.Journal
	// Console is the port of the emulator's console on this computer, 0 if it has none here.
	Console int
	// Wall is the clock that times the waiting for answers: this computer's, except for a simulated
	// device, where only faults take time.
	Wall device.Clock
	// Died is closed when the device is gone for good, and Why returns the reason, both from what
	// booted the device; nil if unknown.
	Died <-chan struct{}
	Why  func() string
	// Apps are the measured packages: a dialog about one of them is no accident of the device.
	Apps []string
	// Asked reports that the device's system is queried anyway during waits, so that no extra check
	// is needed.
	Asked bool
	// Heard returns the log lines about ANRs and crashes read so far by the log's follower; ok is
	// false once it has stopped. nil if nothing follows the log.
	Heard func() (lines string, ok bool)
	// Vitals are the processes found by FindVitals.
	Vitals Vitals
	// KeepsLog reports that the device keeps as much of its log as a run asks for.
	KeepsLog bool
	// Owner identifies this user of the device to others; nil if there can be none.
	Owner *devicelock.Owner

	connect func(ctx context.Context) (device.Device, error)
	dev     *supervised // nil: never connected
	lost    chan error  // receives the loss of the current connection
	unwatch func()      // stops watching the connection
	away    bool        // the device did not come back
	hungUp  bool        // the connection is closed
	undo    []undo
	// clockProcess is the process whose dumps contain the device's clock, "" before set-up.
	clockProcess string
	cooled       time.Duration                   // rest for heat so far
	failed       []Change                        // of a killed run, that could not be undone, last first
	owned        bool                            // by the Owner
	hold         atomic.Pointer[devicelock.Hold] // nil: no mark on the device
	marks        int                             // written to the device's log
	lifeKnown    bool                            // life is known
	checked      time.Duration                   // of the last check, on the device's clock
	life         life                            // of the device, at the last CheckAlive
	lifeRead     life                            // the same at the last CheckAliveFrom, with when its system began
	accidents    string                          // the last ones in its log at that time
}

// New returns a device that is not connected yet. A nil clock is this computer's.
func New(name string, clock device.Clock, started time.Time, connect func(ctx context.Context) (device.Device, error)) *Target {
	if clock == nil {
		clock = HostClock()
	}
	return &Target{Name: name, Clock: clock, Wall: HostClock(), Started: started, connect: connect}
}

// Connected reports whether the device was ever connected.
func (t *Target) Connected() bool { return t.dev != nil }

// Device returns the device itself, for its files and packages.
func (t *Target) Device() device.Device { return t.dev }

// Shared reports whether the connection is an adb server's.
func (t *Target) Shared() bool { return t.dev.shared() }

// Final wraps an error of the device that a retry cannot fix, unless the device was lost.
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
	t.dev, t.hungUp = &supervised{
		Device: dev, wall: t.Wall, clock: device.UnrecordedClock(t.Clock), died: t.Died, why: t.Why,
		shell: voice{of: "the device"}, system: voice{of: "the device's system"},
		beat: t.beat,
		dumpCut: func(service string) {
			t.Journal.Warnf("the device gave up a dump of its service %s, which took too long: what is read of it may be missing", journal.Line(service))
		},
		silent: func(what string, d time.Duration) {
			t.Journal.Report(journal.Waiting, 0, 0, fmt.Sprintf("%s has not answered for %v", what, d))
		},
		answers: func(what string, d time.Duration) {
			t.Journal.Warnf("%s did not answer for %v: what was measured at that time may be worse for it", what, d.Round(time.Second))
		},
	}, false
	t.watchConnection(dev)
	return nil
}

// watchConnection watches the connection for as long as it exists, if that is possible without
// querying the device.
func (t *Target) watchConnection(dev device.Device) {
	ctx, cancel := context.WithCancel(context.Background())
	t.unwatch, t.lost = cancel, nil
	watched, supported := dev.(interface {
		OnLoss(ctx context.Context, lost func(error))
	})
	if !supported {
		return
	}
	lost := make(chan error, 1)
	t.lost = lost
	watched.OnLoss(ctx, func(err error) { lost <- err })
}

// Lost returns why the device is gone, as far as that is known without querying it; nil if it is
// not known to be gone.
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

// How long to wait for a lost device, on its clock and on the waiter's, since the clock of a
// simulated device that hangs stands still; how often to retry, and how long a try may take. A
// phone that restarts is back after 25 to 60 s, and one whose system was ended by the watchdog
// after 60 and 20 more. A dead device is not waited for.
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
		// A device whose system hangs is registered anyway, and may end while it is set up.
		for _, step := range []func(context.Context) error{t.CheckAlive, t.booted, t.reclaim, ready, t.CheckAlive} {
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

// comeBack connects repeatedly until the device is there and ready. A device that is still
// starting, or lost once more, is tried again.
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

// tryOpen connects, or gives up before the layer below would.
func (t *Target) tryOpen(ctx context.Context) error {
	ctx, cancel := within(ctx, t.Wall, connectFor, fmt.Errorf("%w: no answer for %v to the connection", device.ErrGone, connectFor))
	defer cancel()
	err := t.Open(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, device.ErrGone) {
		return cause
	}
	return err
}

// dead returns the permanent loss of the device; nil if it is not known to be lost.
func (t *Target) dead() error {
	select {
	case <-t.Died:
		return dead(t.Why)
	default:
		return nil
	}
}

var errBooting = errors.New("the device is still starting")

// booted returns errBooting if the device can't be used yet.
func (t *Target) booted(ctx context.Context) error {
	boot, err := t.boot(ctx)
	if err == nil && !boot.Up {
		err = fmt.Errorf("%w: %s", errBooting, boot.Pending)
	}
	return err
}

func (t *Target) boot(ctx context.Context) (device.Boot, error) {
	out, err := t.Ask(ctx, device.BootQuery)
	if err != nil {
		return device.Boot{}, fmt.Errorf("check how far the device has started: %w", err)
	}
	return device.ReadBoot(string(out.Stdout)), nil
}

// WaitBooted waits for a device that is still starting. A usable device that never completes its
// start is used, with a warning.
func (t *Target) WaitBooted(ctx context.Context) error {
	var boot device.Boot
	booted, err := t.Poll(ctx, reconnectEvery, reconnectFor, func() (done bool, err error) {
		boot, err = t.boot(ctx)
		return boot.Pending == "", err
	})
	switch {
	case err != nil || booted:
		return err
	case !boot.Up:
		return fmt.Errorf("wait %v: %w: %s", reconnectFor, errBooting, boot.Pending)
	}
	t.Journal.Warnf("the device did not come to the end of its start within %v: %s", reconnectFor, boot.Pending)
	return nil
}

// MarkTag is the tag of the marks that are written to the log to find where something begins and
// ends.
const MarkTag = "apkgate-mark"

// NextMark returns a new mark and the command that writes it.
func (t *Target) NextMark() (mark, command string) {
	t.marks++
	mark = strconv.FormatInt(t.Started.UnixMilli(), 36) + "-" + strconv.Itoa(t.marks)
	return mark, device.Quote("log", "-t", MarkTag, mark)
}
