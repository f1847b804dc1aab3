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
func (c *collector) execSilent(ctx context.Context, longest time.Duration, words ...string) (device.Output, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	process, err := c.dev.Start(ctx, device.Quote(words...))
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

// How long a lost device is waited for, on its clock, and how often it is tried.
const (
	reconnectFor   = 90 * time.Second
	reconnectEvery = 3 * time.Second
)

// reconnect waits for the device to come back, whole: booted, and set up again
// as far as a restart undoes it.
func (c *collector) reconnect(ctx context.Context) error {
	c.report(SetUp, 0, 0, "waiting for the device to come back")
	c.hangUp()
	c.settled = false
	var last error
	for deadline := c.clock.Now() + reconnectFor; c.clock.Now() < deadline; {
		dev, err := c.job.Open(ctx)
		if err == nil {
			c.dev, c.hungUp = dev, false
			if err = c.booted(ctx); err == nil {
				return c.configure(ctx)
			}
			c.hangUp()
		}
		last = err
		if err := c.clock.Sleep(ctx, reconnectEvery); err != nil {
			return err
		}
	}
	c.away = true
	if !isGone(last) {
		last = fmt.Errorf("%w: %w", device.ErrGone, last)
	}
	return fmt.Errorf("wait %v for the device to come back: %w", reconnectFor, last)
}

// hangUp closes the connection to the device.
func (c *collector) hangUp() {
	_ = c.dev.Close()
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
