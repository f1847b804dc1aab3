package device

import (
	"context"
	"io"
	"time"
)

// Unrecorded returns the same device without recording, for liveness checks that run
// concurrently with a run and do not belong in its recording. For most devices that is the
// device itself.
func Unrecorded(d Device) Device {
	if own, ok := d.(interface{ Unrecorded() Device }); ok {
		return own.Unrecorded()
	}
	return d
}

// UnrecordedClock returns the same clock without recording, for the checks that Unrecorded is
// for.
func UnrecordedClock(c Clock) Clock {
	if own, ok := c.(interface{ Unrecorded() Clock }); ok {
		return own.Unrecorded()
	}
	return c
}

// Wait waits on a clock for up to d, for output that the device sends on its own. A replay
// delivers such output only to a waiting caller or at the end of a call.
func Wait(ctx context.Context, c Clock, d time.Duration) error {
	if own, ok := c.(interface {
		Wait(ctx context.Context, d time.Duration) error
	}); ok {
		return own.Wait(ctx, d)
	}
	return c.Sleep(ctx, d)
}

// RunToEnd runs a command that may stay silent for a long time to its end, and returns the
// first most bytes of its output.
func RunToEnd(ctx context.Context, d Device, command string, most int64) (Output, error) {
	if own, ok := d.(interface {
		RunToEnd(ctx context.Context, command string, most int64) (Output, error)
	}); ok {
		return own.RunToEnd(ctx, command, most)
	}
	process, err := d.Start(ctx, command)
	if err != nil {
		return Output{}, err
	}
	defer func() { _ = process.Close() }()
	var out Output
	if out.Stdout, err = io.ReadAll(io.LimitReader(process.Stdout(), most)); err != nil {
		return Output{}, err
	}
	out.ExitCode, err = process.Wait()
	out.Stderr = process.Stderr()
	return out, err
}
