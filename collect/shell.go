package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
)

// exec runs a command line on the device.
func (c *collector) exec(ctx context.Context, words ...string) (device.Output, error) {
	return c.dev.Exec(ctx, device.Quote(words...))
}

// execSilent runs a command that may say nothing for longer than Exec would wait.
func (c *collector) execSilent(ctx context.Context, longest time.Duration, words ...string) (out device.Output, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	err = c.dev.attend(ctx, busyFor, func(ctx context.Context) error {
		out, err = c.execToTheEnd(ctx, words)
		return err
	})
	return out, err
}

func (c *collector) execToTheEnd(ctx context.Context, words []string) (device.Output, error) {
	process, err := c.dev.Device.Start(ctx, device.Quote(words...))
	if err != nil {
		return device.Output{}, err
	}
	defer func() { _ = process.Close() }()
	const most = 1 << 20 // bytes
	var out device.Output
	if out.Stdout, err = io.ReadAll(io.LimitReader(process.Stdout(), most)); err != nil {
		return device.Output{}, err
	}
	out.ExitCode, err = process.Wait()
	out.Stderr = process.Stderr()
	return out, err
}

// try runs a command whose exit status does not matter. The error is that the
// device could not be asked.
func (c *collector) try(ctx context.Context, words ...string) error {
	_, err := c.exec(ctx, words...)
	return err
}

// output runs a command and returns what it printed, "" where the device does
// not know it. The error is that the device could not be asked.
func (c *collector) output(ctx context.Context, words ...string) (string, error) {
	out, err := c.exec(ctx, words...)
	if err != nil || out.ExitCode != 0 {
		return "", err
	}
	return string(out.Stdout), nil
}

func firstLine(text []byte) string {
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return clip(string(line))
		}
	}
	return "(no output)"
}

// poll asks again and again, on the device's clock, until it is done; false where
// the time is over before that.
func (c *collector) poll(ctx context.Context, every, longest time.Duration, ask func() (done bool, err error)) (bool, error) {
	for deadline := c.clock.Now() + longest; ; {
		if done, err := ask(); done || err != nil {
			return done, err
		}
		if c.clock.Now() >= deadline {
			return false, nil
		}
		if err := c.clock.Sleep(ctx, every); err != nil {
			return false, err
		}
	}
}

// How long a lost device is waited for, on its clock and on this computer's, since
// that of a simulated device that hangs stands still; and how often it is tried.
const (
	reconnectFor   = 90 * time.Second
	reconnectEvery = 3 * time.Second
)

// reconnect waits for the device to come back, whole: booted, and set up again
// as far as a restart undoes it.
func (c *collector) reconnect(ctx context.Context) error {
	c.report(SetUp, 0, 0, fmt.Sprintf("waiting up to %v for the device to come back", reconnectFor))
	c.settled = false
	err := c.comeBack(ctx, func(ctx context.Context) error {
		if err := c.booted(ctx); err != nil {
			return err
		}
		return c.configure(ctx)
	})
	c.away = err != nil && isGone(err)
	return err
}

// comeBack connects to the device again and again until it is there and ready. One
// that is still starting, or lost once more, is tried again.
func (c *collector) comeBack(ctx context.Context, ready func(context.Context) error) error {
	bound, cancel := context.WithTimeout(ctx, reconnectFor)
	defer cancel()
	last := device.ErrGone
	for deadline := c.clock.Now() + reconnectFor; c.clock.Now() < deadline && bound.Err() == nil; {
		c.hangUp()
		last = c.open(bound)
		connected := last == nil
		if connected {
			last = ready(bound)
		}
		switch {
		case last == nil, ctx.Err() != nil:
			return last
		case connected && !isGone(last) && !errors.Is(last, errBooting) && bound.Err() == nil:
			return last
		}
		if err := c.clock.Sleep(bound, reconnectEvery); err != nil && ctx.Err() != nil {
			return err
		}
	}
	if !isGone(last) {
		last = fmt.Errorf("%w: %w", device.ErrGone, last)
	}
	return fmt.Errorf("wait %v for the device to come back: %w", reconnectFor, last)
}

// open connects to the device.
func (c *collector) open(ctx context.Context) error {
	dev, err := c.job.Open(ctx)
	if err != nil {
		return err
	}
	c.dev, c.hungUp = &attended{
		Device: dev,
		silent: func(d time.Duration) { c.report(Waiting, 0, 0, fmt.Sprintf("has not answered for %v", d)) },
		answers: func(d time.Duration) {
			c.warnf("the device did not answer for %v: what was measured at that time may be worse for it", d.Round(time.Second))
		},
	}, false
	return nil
}

// hangUp closes the connection to the device, once.
func (c *collector) hangUp() {
	if !c.hungUp {
		_ = c.dev.Close()
	}
	c.hungUp = true
}

var errBooting = errors.New("the device is still starting")

func (c *collector) booted(ctx context.Context) error {
	out, err := c.exec(ctx, "getprop", "sys.boot_completed")
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(out.Stdout)) != "1" {
		return errBooting
	}
	return nil
}
