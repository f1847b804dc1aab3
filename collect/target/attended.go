package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/trace"
)

// How long a device may keep silent, in this computer's time, while the connection
// to it stands. An operation may take long and a workload may say nothing: silent
// is a device that does not run an empty command either.
const (
	askAfter  = 2 * time.Second  // of an operation, until the device is asked whether it lives
	noticedIn = 5 * time.Second  // without an answer: said
	lostAfter = 15 * time.Second // without an answer: the device is lost
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
	// beat is what goes before a command that is sent anyhow; nil for nothing.
	beat func() string
	// silent is told that the device has not answered for so long, while an
	// operation is under way, and answers that it does again.
	silent, answers func(time.Duration)
	// gaveUp is told of a service whose dump the device ended in its middle; nil for nobody.
	gaveUp func(service string)
}

// shared reports whether the connection is an adb server's.
func (a *attended) shared() bool {
	held, ok := a.Device.(interface{ Shared() bool })
	return ok && held.Shared()
}

// Exec is bounded as a whole too.
func (a *attended) Exec(ctx context.Context, command string) (out device.Output, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, execFor, fmt.Errorf("%w: a command did not come to its end in %v", device.ErrGone, execFor))
	defer cancel()
	err = a.attend(ctx, lostAfter, func(ctx context.Context) error {
		out, err = a.Device.Exec(ctx, command)
		return err
	})
	if err == nil && a.gaveUp != nil {
		for _, service := range trace.GivenUp(out.Stdout) {
			a.gaveUp(service)
		}
	}
	return out, err
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
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, device.ErrGone) && !errors.Is(err, cause) {
		if errors.Is(err, device.ErrGone) { // either may have ended the connection under the other
			cause = fmt.Errorf("%w (%w)", err, cause)
		}
		err = cause
	}
	cancel(nil)
	watching.Wait()
	return err
}

// watch asks the device again and again whether it lives, and cancels what is under
// way where it does not.
func (a *attended) watch(ctx context.Context, lost time.Duration, cancel context.CancelCauseFunc) {
	for heard := time.Now(); sleep(ctx, askAfter); heard = time.Now() {
		if err := a.ask(ctx, heard, lost); err != nil {
			if errors.Is(err, device.ErrGone) {
				cancel(err)
			}
			return // else what is under way meets the same error
		}
	}
}

// ask runs an empty command on the device, which was heard of last at that time and
// is lost so long after it.
func (a *attended) ask(ctx context.Context, heard time.Time, lost time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lost-time.Since(heard),
		fmt.Errorf("%w: no answer for %v, not even to an empty command", device.ErrGone, lost))
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := a.Device.Exec(ctx, a.empty())
		answered <- err
	}()
	select {
	case err := <-answered:
		return err
	case <-time.After(noticedIn - time.Since(heard)):
	}
	a.silent(noticedIn)
	err := <-answered
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err == nil {
		a.answers(time.Since(heard))
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

// sleep waits, and reports whether it came to its end.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
