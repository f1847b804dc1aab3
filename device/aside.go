package device

import (
	"context"
	"io"
	"time"
)

// Aside is the same device for what is asked of it beside the course of a run, only to
// know that it lives: a recording of the run is not to wait for that. Most devices are
// their own.
func Aside(d Device) Device {
	if beside, ok := d.(interface{ Aside() Device }); ok {
		return beside.Aside()
	}
	return d
}

// AsideClock is the same clock for who looks at it beside the course of a run.
func AsideClock(c Clock) Clock {
	if beside, ok := c.(interface{ Aside() Clock }); ok {
		return beside.Aside()
	}
	return c
}

// Wait waits by a clock for what a device sends by itself meanwhile, no longer than d. A
// recording gives what comes to who waits for it, and else when a call has ended.
func Wait(ctx context.Context, c Clock, d time.Duration) error {
	if own, ok := c.(interface {
		Wait(ctx context.Context, d time.Duration) error
	}); ok {
		return own.Wait(ctx, d)
	}
	return c.Sleep(ctx, d)
}

// ToTheEnd runs a command that may say nothing for long to its end, and takes the first
// most bytes of its output.
func ToTheEnd(ctx context.Context, d Device, command string, most int64) (Output, error) {
	if own, ok := d.(interface {
		ToTheEnd(ctx context.Context, command string, most int64) (Output, error)
	}); ok {
		return own.ToTheEnd(ctx, command, most)
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
