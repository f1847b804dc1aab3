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

// How Android is polled until it is up.
const (
	askEvery = 250 * time.Millisecond
	// askFor limits one answer: a starting service can block a command.
	askFor = 30 * time.Second
)

// NotUpError means that Android was not up before the timeout.
type NotUpError struct {
	Last string // the last state: "adb: device offline"
	// Reached reports that adb has connected to the device.
	Reached bool
	Err     error // why the wait ended
}

// Error describes the last state and why the wait ended.
func (e *NotUpError) Error() string {
	return "wait for Android to be up: " + e.Last + ": " + e.Err.Error()
}

// Unwrap returns why the wait ended.
func (e *NotUpError) Unwrap() error { return e.Err }

// Await waits until Android is up on a booting device: adbd accepts commands,
// sys.boot_completed is 1, and the package manager answers, which may take some seconds more
// ("Can't find service: package"). reach connects to the device, which need not exist yet.
// tell is called with each step. The error is a *NotUpError, after the end of ctx.
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

// The steps of a boot, as they are reported.
const (
	stepStarting = "adb reaches the device; Android is starting"
	stepServices = "Android has booted; its services are starting"
	stepUp       = "up"
)

// awaiting is the connection to a booting device, kept as long as it lasts.
type awaiting struct {
	reach   func(context.Context) (device.Device, error)
	device  device.Device
	reached bool // the device has answered once
}

func (w *awaiting) leave() {
	if w.device != nil {
		_ = w.device.Close()
		w.device = nil
	}
}

// look returns the step that the boot has reached, "" if the device can't be connected to, and
// its state for an error.
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

// ask runs a command on the device, and connects first if necessary.
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

// upWithin is the timeout for Android to answer, once a lab reports that the device has
// booted.
const upWithin = 3 * time.Minute

// Up waits up to three minutes until Android answers on a device. The error is an *Error of
// the lab with the name called, or that of ctx. unreached is the hint for a device that adb
// has never reached, which is then not retried; "" if a retry may help.
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

// Failed converts the error to one of a lab that has waited as long as Up does; unreached is
// as in Up.
func (e *NotUpError) Failed(called, serial, unreached string) *Error {
	failed := &Error{Lab: called, What: fmt.Sprintf("wait for Android on %s: it is not up after %s: %s", serial, prose.Duration(upWithin), prose.OneLine(e.Last)), Retry: true}
	if unreached != "" && !e.Reached {
		failed.Retry, failed.Advice = false, unreached
	}
	return failed
}
