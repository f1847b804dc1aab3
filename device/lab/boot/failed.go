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

// Finding is what a lab's Check says of something by its error: nil is that it is as it
// should be, in detail.
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

// Ending is how a lab ends what a lease names.
type Ending struct {
	Lab    string // as it is called in sentences
	Doing  string // "stop the instance apkgate-x7k2m3qa"
	Still  string // what is so when the time is over: "it still runs"
	ByHand string // what somebody can do where the lab can't: "stop it on https://…"
	Within time.Duration
	Every  time.Duration // between two steps
	// Step looks how it stands and does what is next; done where nothing is.
	Step func(context.Context) (done bool, err error)
	// Hopeless reports whether no other try helps against an error of Step.
	Hopeless func(error) bool
}

// Run takes steps until one of them finds that nothing is left to do.
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
		if err == nil || errors.Is(err, ctx.Err()) { // the end of the time says less than what was before
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

// byHand adds to an error what somebody can do.
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

// Now is this moment as a lease's notes have it.
func Now() string { return time.Now().UTC().Format(time.RFC3339) }

// MayAppear reports whether what a lease notes as begun (by Now), and not as done, was begun
// so shortly ago that it may still come true, though whoever asked for it was killed.
func MayAppear(of lease.Lease, begun, done string, within time.Duration) bool {
	at, err := time.Parse(time.RFC3339, of.Detail[begun])
	return err == nil && of.Detail[done] == "" && time.Since(at).Abs() < within
}
