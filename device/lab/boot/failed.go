package boot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// Finding returns the finding of a lab's Check for an error, or for the detail if err is nil.
func Finding(name string, err error, detail string) device.Finding {
	if err == nil {
		return device.Finding{Name: name, OK: true, Detail: detail}
	}
	f := device.Finding{Name: name, Detail: err.Error()}
	var failed *Error
	if errors.As(err, &failed) {
		f.Detail, f.Hint = failed.What, failed.Advice
	}
	return f
}

// Ending stops what a lease names.
type Ending struct {
	Lab    string // its name in sentences
	Doing  string // "stop the instance apkgate-x7k2m3qa"
	Still  string // the state at the timeout: "it still runs"
	ByHand string // what a person can do if the lab can't: "stop it on https://…"
	Within time.Duration
	Every  time.Duration // between two steps
	// Step checks the state and takes the next step; done reports that nothing is left to do.
	Step func(context.Context) (done bool, err error)
	// Hopeless reports whether an error of Step rules out a retry.
	Hopeless func(error) bool
}

// Run takes steps until nothing is left to do.
func (e Ending) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.Within)
	defer cancel()
	for last := error(nil); ; {
		done, err := e.Step(ctx)
		switch {
		case err != nil && e.Hopeless(err):
			return e.byHand(err)
		case err == nil && done:
			return nil
		case ctx.Err() == nil && Pause(ctx, e.Every) == nil:
			last = err
			continue
		}
		if err == nil || errors.Is(err, ctx.Err()) { // an earlier error explains more than the timeout
			err = last
			if errors.Is(ctx.Err(), context.Canceled) {
				err = context.Cause(ctx)
			}
		}
		if err == nil {
			err = &Error{Lab: e.Lab, What: fmt.Sprintf("%s: %s after %s", e.Doing, e.Still, prose.Duration(e.Within)), Retry: true}
		}
		return e.byHand(err)
	}
}

// byHand adds to an error what a person can do.
func (e Ending) byHand(err error) error {
	out := &Error{Lab: e.Lab, What: e.Doing + ": " + err.Error()}
	var failed *Error
	if errors.As(err, &failed) {
		out.What, out.Advice, out.Retry = failed.What, failed.Advice, failed.Retry
	}
	if out.Advice != "" {
		out.Advice += "; "
	}
	out.Advice += "then apkgate devices clean, or " + e.ByHand
	return out
}

// Now formats the current time for a lease's notes.
func Now() string { return time.Now().UTC().Format(time.RFC3339) }

// MayAppear reports whether a request that a lease notes as begun (by Now), and not as done,
// is so recent that it may still be completed, although the requesting process was killed.
func MayAppear(of lease.Lease, begun, done string, within time.Duration) bool {
	at, err := time.Parse(time.RFC3339, of.Detail[begun])
	return err == nil && of.Detail[done] == "" && time.Since(at).Abs() < within
}
