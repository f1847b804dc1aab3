package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace"
)

// How long a device may be silent, on the clock of the waiter. An operation may take long and a
// workload may print nothing: a device is silent if it does not run an empty command either, or if
// its system does not answer a small query.
//
// Silence is reported after noticedIn, which costs nothing if it was premature. A device is given
// up later: one that swaps, compiles or writes back its storage may be silent for 5 s and recover.
// Its system gets half the time of Android's own watchdog, which would then end it (Watchdog.java).
const (
	askAfter        = 2 * time.Second  // of silence, until the device is queried
	reportAfter     = 5 * time.Second  // of silence, until it is reported
	lostAfter       = 15 * time.Second // of silence, until the device is lost
	systemLostAfter = 30 * time.Second // of its system's silence, likewise
	// busyFor replaces lostAfter while the device installs or compiles, which can block everything
	// else on a slow one.
	busyFor = time.Minute
	// execFor limits a whole command, whose output may trickle for ever. Longer ones are run by
	// Patient.
	execFor = 2 * time.Minute
)

// supervised is a device whose hangs are detected: an operation that gets no answer fails with
// device.ErrGone.
type supervised struct {
	device.Device
	wall  device.Clock // times the waiting for answers
	clock device.Clock // the device's own
	// died is closed when the device is gone for good, for the reason that why returns; nil if
	// unknown.
	died <-chan struct{}
	why  func() string
	// beat returns a prefix for commands that are sent anyway; nil for none.
	beat func() string
	// silent reports that the device, or its system, has not answered for so long while an
	// operation is under way; answers reports that it answers again.
	silent, answers func(what string, long time.Duration)
	// dumpCut reports a service whose dump the device cut short; nil to ignore it.
	dumpCut func(service string)

	shell, system voice
}

// hear records that a part of the device has answered.
func (a *supervised) hear(v *voice) {
	if silent := v.hear(a.clock.Now()); silent > 0 {
		a.answers(v.of, silent)
	}
}

// voice records when one part of a device last answered.
type voice struct {
	of string

	mu       sync.Mutex
	known    bool          // it has ever answered
	heard    time.Duration // when, on the device's clock
	reported bool          // its silence since then was reported
}

// idle returns for how long the part has been silent, as far as that counts for an operation that
// begins now: 0 if it was not queried for long.
func (v *voice) idle(now time.Duration) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	if long := now - v.heard; v.known && (long <= reportAfter || v.reported) {
		return long
	}
	return 0
}

func (v *voice) isMissing(since time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known, v.heard, v.reported = true, since, true
}

// hear records an answer; silent is the length of the silence that was reported before.
func (v *voice) hear(now time.Duration) (silent time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.reported {
		silent = now - v.heard
	}
	v.known, v.heard, v.reported = true, now, false
	return silent
}

// shared reports whether the connection is an adb server's.
func (a *supervised) shared() bool {
	held, ok := a.Device.(interface{ Shared() bool })
	return ok && held.Shared()
}

// Exec is limited as a whole too.
func (a *supervised) Exec(ctx context.Context, command string) (device.Output, error) {
	return a.run(ctx, command, a.Device.Exec)
}

// Ask is Exec through the shell that the device keeps open, if any.
func (a *supervised) Ask(ctx context.Context, command string) (device.Output, error) {
	return a.run(ctx, command, func(ctx context.Context, command string) (device.Output, error) {
		return device.Ask(ctx, a.Device, command)
	})
}

// run runs a command to its end.
func (a *supervised) run(ctx context.Context, command string, exec func(context.Context, string) (device.Output, error)) (out device.Output, err error) {
	ctx, cancel := within(ctx, a.wall, execFor, fmt.Errorf("%w: a command did not end within %v", device.ErrGone, execFor))
	defer cancel()
	err = a.supervise(ctx, lostAfter, func(ctx context.Context) error {
		out, err = exec(ctx, command)
		return err
	})
	if err != nil {
		return out, err
	}
	given := trace.AbortedServices(out.Stdout)
	if len(given) == 0 && strings.Contains(command, "dumpsys ") {
		a.hear(&a.system)
	}
	for _, service := range given {
		if a.dumpCut != nil {
			a.dumpCut(service)
		}
	}
	return out, nil
}

// Start is not supervised: the process lives as long as the caller's context, and package adb
// limits how long a device may take to accept it.
func (a *supervised) Start(ctx context.Context, command string) (p device.Process, err error) {
	err = a.supervise(ctx, lostAfter, func(context.Context) error {
		p, err = a.Device.Start(ctx, command)
		return err
	})
	return p, err
}

func (a *supervised) Push(ctx context.Context, src io.Reader, path string, mode fs.FileMode, modified time.Time) error {
	return a.supervise(ctx, lostAfter, func(ctx context.Context) error { return a.Device.Push(ctx, src, path, mode, modified) })
}

func (a *supervised) Pull(ctx context.Context, path string, dst io.Writer) error {
	return a.supervise(ctx, lostAfter, func(ctx context.Context) error { return a.Device.Pull(ctx, path, dst) })
}

func (a *supervised) Install(ctx context.Context, apkFiles ...string) error {
	return a.supervise(ctx, busyFor, func(ctx context.Context) error { return a.Device.Install(ctx, apkFiles...) })
}

func (a *supervised) Uninstall(ctx context.Context, pkg string) error {
	return a.supervise(ctx, busyFor, func(ctx context.Context) error { return a.Device.Uninstall(ctx, pkg) })
}

// supervise runs an operation on the device, which is lost after so long without an answer.
func (a *supervised) supervise(ctx context.Context, lost time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watching sync.WaitGroup
	watching.Go(func() { a.watch(ctx, lost, cancel) })
	watching.Go(func() {
		select {
		case <-a.died:
			cancel(dead(a.why))
		case <-ctx.Done():
		}
	})
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, device.ErrGone) && !errors.Is(err, cause) {
		if errors.Is(err, device.ErrGone) { // either may have ended the other's connection
			cause = fmt.Errorf("%w (%w)", err, cause)
		}
		err = cause
	}
	cancel(nil)
	watching.Wait() // the watcher may still be reporting
	if err == nil {
		a.hear(&a.shell)
	}
	return err
}

// dead returns the permanent loss of a device with the reason from why; nil if it is not known to
// be lost.
func dead(why func() string) error {
	reason := ""
	if why != nil {
		reason = why()
	}
	if reason == "" {
		reason = "its process has ended"
	}
	return fmt.Errorf("%w: %s", device.ErrGone, reason)
}

// systemQuestion queries the system's own process: it prints a few lines under the lock of its
// activity manager, on which all starts and stops of apps wait (ActivityManagerService.dump).
// dumpsys would give up by itself after ten seconds.
const systemQuestion = "dumpsys -t 120 activity settings >/dev/null 2>&1"

// watch queries the device repeatedly and cancels the operation under way if it does not answer.
// Its system is ignored during an installation.
func (a *supervised) watch(ctx context.Context, lost time.Duration, cancel context.CancelCauseFunc) {
	now, began := a.clock.Now(), a.wall.Now()
	asks := []question{{a.empty, &a.shell, lost, "not even to an empty command"}}
	silent := []time.Duration{began - a.shell.idle(now)}
	if lost == lostAfter {
		system := func() string { return systemQuestion + "; " + a.empty() }
		asks = append(asks, question{system, &a.system, systemLostAfter, "though adb does answer"})
		silent = append(silent, math.MaxInt64)
		if idle := a.system.idle(now); idle > 0 { // else the operation under way may be waiting for it
			silent[1] = began - idle
		}
	}
	for a.wall.Sleep(ctx, askAfter) == nil {
		for i, q := range asks {
			since := a.wall.Now()
			if silent != nil {
				since = min(since, silent[i])
			} else if i == 0 {
				since -= askAfter
			}
			if err := a.ask(ctx, q, since); err != nil {
				if errors.Is(err, device.ErrGone) {
					cancel(err)
				}
				return // else the operation under way meets the same error
			}
		}
		silent = nil // both have answered
	}
}

// question checks whether a part of the device is alive.
type question struct {
	line    func() string
	voice   *voice
	lost    time.Duration // without an answer
	silence string        // how the silence is described, beside its length
}

// ask queries a part of the device that has been silent since a time on the waiter's clock.
func (a *supervised) ask(ctx context.Context, q question, since time.Duration) error {
	silence := func() time.Duration { return a.wall.Now() - since }
	ctx, cancel := within(ctx, a.wall, q.lost-silence(), fmt.Errorf("%w: no answer of %s for %v, %s", device.ErrGone, q.voice.of, q.lost, q.silence))
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := device.Unrecorded(a.Device).Exec(ctx, q.line())
		answered <- err
	}()
	tell := make(chan struct{})
	go func() {
		if a.wall.Sleep(ctx, reportAfter-silence()) == nil {
			close(tell)
		}
	}()
	var err error
	select {
	case err = <-answered:
	case <-tell:
		q.voice.isMissing(a.clock.Now() - silence())
		a.silent(q.voice.of, reportAfter)
		err = <-answered
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err == nil {
		a.hear(q.voice)
	}
	return err
}

// empty is a command that does nothing but show that the device is alive.
func (a *supervised) empty() string {
	if a.beat == nil {
		return ":"
	}
	return a.beat() + ":"
}

// within cancels the context after a time on a clock, with a cause.
func within(ctx context.Context, clock device.Clock, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if clock.Sleep(ctx, d) == nil {
			cancel(cause)
		}
	}()
	return ctx, func() { cancel(nil) }
}
