package farm

import (
	"context"
	"errors"
	"net"
	"net/url"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// Computer provides what a farm needs of this computer.
type Computer struct {
	Getenv func(string) string
	// Env is added to this process's environment for the farm's program, as NAME=value.
	Env []string
	// Find returns the path of a program.
	Find func(name string) (path string, ok bool)
	// Logs is the folder for the farm program's output during submission.
	Logs string
	// Pause waits for d, or returns ctx's error as soon as it ends.
	Pause func(ctx context.Context, d time.Duration) error
}

// Timeouts for an order.
const (
	lookEvery = 10 * time.Second
	// queued is how long an order may wait for devices.
	queued = 2 * time.Hour
	// Unanswered is how many polls in a row a farm may fail to answer.
	Unanswered = 20
)

// ErrRefused is wrapped by errors that a retry would not change.
var ErrRefused = errors.New("the farm refused")

// Watch polls an order until it has ended, and calls tell when its progress changes. within is
// the order's time limit on a device. Failed polls are retried, except for a refusal.
func (c Computer) Watch(ctx context.Context, within time.Duration, look func(context.Context) (progress string, ended bool, err error), tell func(string)) error {
	said, unheard := "", 0
	for until := time.Now().Add(within + queued); ; {
		now, ended, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, ErrRefused):
			return err
		case err != nil:
			if unheard++; unheard == Unanswered {
				return err
			}
		case ended:
			return nil
		default:
			if unheard = 0; now != said {
				said = now
				tell(now)
			}
		}
		if time.Now().After(until) {
			return errors.New("it has not ended within " + prose.Duration(within+queued))
		}
		if err := c.Pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// Finding returns the finding for an error in one part of a farm, with its hint.
func Finding(name string, err error) device.Finding {
	f := device.Finding{Name: name, Detail: err.Error()}
	var known *boot.Error
	if errors.As(err, &known) {
		f.Detail, f.Hint = known.What, known.Advice
	}
	return f
}

// Safe reports whether requests to the address can't be intercepted: it uses https or is on
// this computer.
func Safe(u *url.URL) bool {
	host := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && host != nil && host.IsLoopback()
}
