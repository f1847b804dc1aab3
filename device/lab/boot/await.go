package boot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// How Android is asked whether it is up.
const (
	askEvery = 250 * time.Millisecond
	// askFor bounds one answer: services that are starting can leave a command without one.
	askFor = 30 * time.Second
)

// NotUpError says that Android was not up when the time was over.
type NotUpError struct {
	Last string // what was seen last: "adb: device offline"
	// Reached says that adb has reached the device.
	Reached bool
	Err     error // why nobody waits any longer
}

// Error says what was waited for, and what was seen of it.
func (e *NotUpError) Error() string {
	return "wait for Android to be up: " + e.Last + ": " + e.Err.Error()
}

// Unwrap returns why nobody waits any longer.
func (e *NotUpError) Unwrap() error { return e.Err }

// Await waits until Android is up on a device that is booting: adbd lets commands in,
// sys.boot_completed is 1, and the package manager answers, which it may not do for some
// seconds more ("Can't find service: package"). reach connects to the device, which need
// not be there yet. tell is told of each step. The error is a *NotUpError, once ctx is at
// its end.
func Await(ctx context.Context, reach func(context.Context) (device.Device, error), tell func(string)) error {
	w := awaiting{reach: reach}
	defer w.leave()
	told := ""
	for {
		step, last := w.look(ctx)
		if step == stepUp {
			return nil
		}
		if step != told && step != "" {
			tell(step)
			told = step
		}
		if err := Pause(ctx, askEvery); err != nil {
			return &NotUpError{last, w.reached, err}
		}
	}
}

// The steps of a boot, as they are told.
const (
	stepStarting = "adb reaches the device; Android is starting"
	stepServices = "Android has booted; its services are starting"
	stepUp       = "up"
)

// awaiting is the connection to a device that is booting, kept for as long as it holds.
type awaiting struct {
	reach   func(context.Context) (device.Device, error)
	device  device.Device
	reached bool // it has answered once
}

func (w *awaiting) leave() {
	if w.device != nil {
		_ = w.device.Close()
		w.device = nil
	}
}

// look sees which step of the boot the device is at, "" where it can't be reached, and
// what of it is worth knowing if nothing more comes.
func (w *awaiting) look(ctx context.Context) (step, last string) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	booted, err := w.ask(ctx, "getprop sys.boot_completed")
	switch {
	case errors.Is(err, device.ErrUnauthorized):
		return "", "the device has not authorized this computer's adb key"
	case err != nil:
		return "", "adb: " + err.Error()
	case booted != "1":
		return stepStarting, fmt.Sprintf("sys.boot_completed is %.40q", booted)
	}
	path, err := w.ask(ctx, "pm path android")
	switch {
	case err != nil:
		return "", "adb: " + err.Error()
	case !strings.HasPrefix(path, "package:"):
		return stepServices, fmt.Sprintf("the package manager says %.80q", path)
	}
	return stepUp, ""
}

// ask runs a command on the device, and connects to it where that has to be.
func (w *awaiting) ask(ctx context.Context, command string) (string, error) {
	if w.device == nil {
		d, err := w.reach(ctx)
		if err != nil {
			return "", err
		}
		w.device = d
	}
	out, err := w.device.Exec(ctx, command)
	if err != nil {
		w.leave()
		return "", err
	}
	w.reached = true
	if text := strings.TrimSpace(string(out.Stdout)); text != "" {
		return text, nil
	}
	return strings.TrimSpace(string(out.Stderr)), nil
}

// upWithin is how long Android may take to answer, once a lab says that it has booted.
const upWithin = 3 * time.Minute

// Up waits until Android answers on a device, and no longer than three minutes. The error is an
// *Error of the lab that is called so, or that of ctx. unreached is what to do where adb has
// never reached the device, so that another try is no help; "" where it may be one.
func Up(ctx context.Context, called string, b *Booted, reach func(context.Context) (device.Device, error), unreached string, tell func(string)) error {
	waiting, cancel := context.WithTimeout(ctx, upWithin)
	defer cancel()
	err := Await(waiting, reach, tell)
	var late *NotUpError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.As(err, &late):
		return &Error{Lab: called, What: fmt.Sprintf("wait for Android on %s: %v", b.Serial, err), Retry: true}
	}
	return late.Failed(called, b.Serial, unreached)
}

// Failed is the error as that of a lab which has waited as long as Up does; unreached as there.
func (e *NotUpError) Failed(called, serial, unreached string) *Error {
	failed := &Error{Lab: called, What: fmt.Sprintf("wait for Android on %s: it is not up after %s: %s", serial, prose.Duration(upWithin), prose.OneLine(e.Last)), Retry: true}
	if unreached != "" && !e.Reached {
		failed.Retry, failed.Advice = false, unreached
	}
	return failed
}
