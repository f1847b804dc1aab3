package genymotion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/boot"
	"github.com/apkgate/apkgate/internal/words"
)

// Computer is what the labs need of the computer that they run on.
type Computer struct {
	Getenv func(string) string
	// Env is what programs have in their environment beside this process's own, as
	// NAME=value.
	Env []string
	// Reach connects to a device that was booted, which may not be there yet.
	Reach func(context.Context, *boot.Booted) (device.Device, error)
}

// upWithin is how long Android may take to answer, once the program says that it has
// booted.
const upWithin = 3 * time.Minute

// Up waits until Android answers on a device. The error is a *boot.Error of the lab that
// is called so, or that of ctx.
func (c Computer) Up(ctx context.Context, called string, b *boot.Booted, tell func(string)) error {
	waiting, cancel := context.WithTimeout(ctx, upWithin)
	defer cancel()
	err := boot.Await(waiting, func(ctx context.Context) (device.Device, error) { return c.Reach(ctx, b) }, tell)
	var late *boot.NotUpError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &late):
		return &boot.Error{Lab: called, What: fmt.Sprintf("wait for Android on %s: it is not up after %s: %s", b.Serial, words.Duration(upWithin), words.OneLine(late.Last)), Retry: true}
	}
	return &boot.Error{Lab: called, What: fmt.Sprintf("wait for Android on %s: %v", b.Serial, err), Retry: true}
}
