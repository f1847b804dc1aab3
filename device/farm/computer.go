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

// Computer is what a farm needs of the computer that it is used from.
type Computer struct {
	Getenv func(string) string
	// Env is what the farm's program has in its environment beside this process's own, as
	// NAME=value.
	Env []string
	// Find is the path of a program.
	Find func(name string) (path string, ok bool)
	// Logs is the folder for what a farm's program says while it submits.
	Logs string
	// Pause waits, and ends early with ctx's error.
	Pause func(ctx context.Context, d time.Duration) error
}

// How an order is awaited.
const (
	lookEvery = 10 * time.Second
	// queued is how long an order may wait for its phones.
	queued = 2 * time.Hour
	// Unanswered is for how many looks in turn a farm may fail to answer.
	Unanswered = 20
)

// ErrRefused is wrapped by an answer that asking again would not change.
var ErrRefused = errors.New("the farm refused")

// Watch looks at an order that may take so long on a device until it has ended, and tells
// how far it is whenever that changes. A farm that does not answer is asked again, one that
// refuses is not.
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

// Finding is what is wrong with a part of a farm, and what to do about it.
func Finding(name string, err error) device.Finding {
	f := device.Finding{Name: name, Detail: err.Error()}
	var known *boot.Error
	if errors.As(err, &known) {
		f.Detail, f.Hint = known.What, known.Advice
	}
	return f
}

// Safe reports whether nobody on the way reads what is sent to an address: it is of https, or
// of this computer.
func Safe(u *url.URL) bool {
	host := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && host != nil && host.IsLoopback()
}
