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

// How long a device may keep silent, on the clock of who waits for it. An operation may
// take long and a workload may say nothing: silent is a device that does not run an empty
// command either, or whose system does not answer a small question.
//
// What is known is said at noticedIn, and costs nothing where it was wrong. A device is
// given up later: one that swaps, compiles or writes back its storage may say nothing for
// 5 s and be well. Its system gets half of what Android's own watchdog gives it, which
// then ends it (Watchdog.java).
const (
	askAfter  = 2 * time.Second  // without having heard of it, until the device is asked whether it lives
	noticedIn = 5 * time.Second  // since it was heard of last: said
	lostAfter = 15 * time.Second // the device is lost
	systemFor = 30 * time.Second // its system is
	// busyFor is lostAfter while the device installs or compiles, which can keep a
	// slow one from everything else.
	busyFor = time.Minute
	// execFor bounds a command as a whole, whose output may trickle for ever. What
	// takes longer is run by Patient.
	execFor = 2 * time.Minute
)

// attended is a device of which it is noticed when it hangs: an operation that gets
// no answer is given up, with device.ErrGone.
type attended struct {
	device.Device
	wall  device.Clock // by which the device is waited for
	clock device.Clock // the device's own
	// died is closed when the device is gone for good, as why says; nil: nobody can tell.
	died <-chan struct{}
	why  func() string
	// beat is what goes before a command that is sent anyhow; nil for nothing.
	beat func() string
	// silent is told that the device, or its system, has not answered for so long, while
	// an operation is under way, and answers that it does again.
	silent, answers func(what string, long time.Duration)
	// gaveUp is told of a service whose dump the device ended in its middle; nil for nobody.
	gaveUp func(service string)

	shell, system voice
}

// hear notes that a part of the device was heard of.
func (a *attended) hear(v *voice) {
	if silent := v.hear(a.clock.Now()); silent > 0 {
		a.answers(v.of, silent)
	}
}

// voice is when one part of a device was heard of last.
type voice struct {
	of string

	mu      sync.Mutex
	known   bool          // it was heard of
	heard   time.Duration // when, on the device's clock
	missing bool          // it is said that it is silent since then
}

// idle is for how long it was not heard of, as far as that counts for who begins to wait
// for it now: for nothing where nobody had asked for long.
func (v *voice) idle(now time.Duration) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	if long := now - v.heard; v.known && (long <= noticedIn || v.missing) {
		return long
	}
	return 0
}

func (v *voice) isMissing(since time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known, v.heard, v.missing = true, since, true
}

// hear notes that it was heard of; silent is for how long it was said to be missing.
func (v *voice) hear(now time.Duration) (silent time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.missing {
		silent = now - v.heard
	}
	v.known, v.heard, v.missing = true, now, false
	return silent
}

// shared reports whether the connection is an adb server's.
func (a *attended) shared() bool {
	held, ok := a.Device.(interface{ Shared() bool })
	return ok && held.Shared()
}

// Exec is bounded as a whole too.
func (a *attended) Exec(ctx context.Context, command string) (device.Output, error) {
	return a.run(ctx, command, a.Device.Exec)
}

// Ask is Exec through the shell that the device keeps, if any.
func (a *attended) Ask(ctx context.Context, command string) (device.Output, error) {
	return a.run(ctx, command, func(ctx context.Context, command string) (device.Output, error) {
		return device.Ask(ctx, a.Device, command)
	})
}

// run runs a command to its end.
func (a *attended) run(ctx context.Context, command string, exec func(context.Context, string) (device.Output, error)) (out device.Output, err error) {
	ctx, cancel := within(ctx, a.wall, execFor, fmt.Errorf("%w: a command did not come to its end in %v", device.ErrGone, execFor))
	defer cancel()
	err = a.attend(ctx, lostAfter, func(ctx context.Context) error {
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
		if a.gaveUp != nil {
			a.gaveUp(service)
		}
	}
	return out, nil
}

// Start is not given up: what it starts lives as long as the caller's context, and
// package adb bounds how long a device may take to accept it.
func (a *attended) Start(ctx context.Context, command string) (p device.Process, err error) {
	err = a.attend(ctx, lostAfter, func(context.Context) error {
		p, err = a.Device.Start(ctx, command)
		return err
	})
	return p, err
}

func (a *attended) Push(ctx context.Context, src io.Reader, path string, mode fs.FileMode, modified time.Time) error {
	return a.attend(ctx, lostAfter, func(ctx context.Context) error { return a.Device.Push(ctx, src, path, mode, modified) })
}

func (a *attended) Pull(ctx context.Context, path string, dst io.Writer) error {
	return a.attend(ctx, lostAfter, func(ctx context.Context) error { return a.Device.Pull(ctx, path, dst) })
}

func (a *attended) Install(ctx context.Context, apkFiles ...string) error {
	return a.attend(ctx, busyFor, func(ctx context.Context) error { return a.Device.Install(ctx, apkFiles...) })
}

func (a *attended) Uninstall(ctx context.Context, pkg string) error {
	return a.attend(ctx, busyFor, func(ctx context.Context) error { return a.Device.Uninstall(ctx, pkg) })
}

// attend does something with the device, which is lost after so long without an
// answer.
func (a *attended) attend(ctx context.Context, lost time.Duration, do func(context.Context) error) error {
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
		if errors.Is(err, device.ErrGone) { // either may have ended the connection under the other
			cause = fmt.Errorf("%w (%w)", err, cause)
		}
		err = cause
	}
	cancel(nil)
	watching.Wait() // who watches may be telling something
	if err == nil {
		a.hear(&a.shell)
	}
	return err
}

// dead is the loss of a device for good, for a reason that is asked for; nil: nobody
// knows it.
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

// systemQuestion is for the system's own process: a few lines that it prints under the
// lock of its activity manager, behind which everything waits that starts or stops an app
// (ActivityManagerService.dump). dumpsys would give up by itself after ten seconds.
const systemQuestion = "dumpsys -t 120 activity settings >/dev/null 2>&1"

// watch asks the device again and again whether it lives, and cancels what is under
// way where it does not. Whether its system does is of no interest while it installs.
func (a *attended) watch(ctx context.Context, lost time.Duration, cancel context.CancelCauseFunc) {
	now, began := a.clock.Now(), a.wall.Now()
	asks := []question{{a.empty, &a.shell, lost, "not even to an empty command"}}
	silent := []time.Duration{began - a.shell.idle(now)}
	if lost == lostAfter {
		system := func() string { return systemQuestion + "; " + a.empty() }
		asks = append(asks, question{system, &a.system, systemFor, "though adb does answer"})
		silent = append(silent, math.MaxInt64)
		if idle := a.system.idle(now); idle > 0 { // else what is under way may ask something else
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
				return // else what is under way meets the same error
			}
		}
		silent = nil // both have answered
	}
}

// question shows whether a part of the device lives.
type question struct {
	line  func() string
	voice *voice
	lost  time.Duration // without an answer
	still string        // what is to be said of the silence beside how long it is
}

// ask asks a part of the device whether it lives, which has been silent since a time on
// the clock of who waits.
func (a *attended) ask(ctx context.Context, q question, since time.Duration) error {
	silence := func() time.Duration { return a.wall.Now() - since }
	ctx, cancel := within(ctx, a.wall, q.lost-silence(), fmt.Errorf("%w: no answer of %s for %v, %s", device.ErrGone, q.voice.of, q.lost, q.still))
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := device.Aside(a.Device).Exec(ctx, q.line())
		answered <- err
	}()
	tell := make(chan struct{})
	go func() {
		if a.wall.Sleep(ctx, noticedIn-silence()) == nil {
			close(tell)
		}
	}()
	var err error
	select {
	case err = <-answered:
	case <-tell:
		q.voice.isMissing(a.clock.Now() - silence())
		a.silent(q.voice.of, noticedIn)
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

// empty is a command that does nothing but show that the device lives.
func (a *attended) empty() string {
	if a.beat == nil {
		return ":"
	}
	return a.beat() + ":"
}

// within ends the context after a time on a clock, with a cause.
func within(ctx context.Context, clock device.Clock, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if clock.Sleep(ctx, d) == nil {
			cancel(cause)
		}
	}()
	return ctx, func() { cancel(nil) }
}
