package target

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/apkgate/apkgate/device"
)

// pulseEvery is how often a device's pulse is felt while it is waited for, on its clock.
const pulseEvery = 2 * time.Second

// Rest lets time pass on the device's clock. Meanwhile the device's pulse is felt: one
// that dies, hangs or restarts is known within 5 s, also while nothing else is asked of it.
func (t *Target) Rest(ctx context.Context, d time.Duration) error {
	for left := d; left > 0; {
		if err := t.Feel(ctx); err != nil {
			return err
		}
		step := min(left, pulseEvery)
		if err := t.Clock.Sleep(ctx, step); err != nil {
			return err
		}
		left -= step
	}
	return nil
}

// Feel feels the device's pulse, where that is due.
func (t *Target) Feel(ctx context.Context) error {
	if err := t.Lost(); err != nil {
		return err
	}
	if now := t.Clock.Now(); t.pulsed != 0 && now-t.pulsed < pulseEvery {
		return nil
	}
	return t.Pulse(ctx)
}

// Pulse makes sure that the device is the one that it was, with the same start of its
// kernel and of its system: an adb server may have the connection back after a restart
// before any command fails.
//
// boot_id is another after each start of the kernel (random(4)), and the count one more
// after each of the system's own process (SystemServer.java, Android 10).
func (t *Target) Pulse(ctx context.Context) error {
	line := "cat /proc/sys/kernel/random/boot_id; getprop sys.system_server.start_count"
	if !t.Asked {
		line += "; " + systemQuestion
	}
	out, err := t.Ask(ctx, line)
	if err != nil {
		return fmt.Errorf("feel the device's pulse: %w", err)
	}
	if t.pulsed = t.Clock.Now(); !t.Asked {
		t.dev.hear(&t.dev.system)
	}
	now := lifeIn(out.Stdout)
	was := t.life
	t.life = now
	switch {
	case was.boot == "" || now.boot == "" || was == now:
		return nil
	case was.boot == now.boot:
		return fmt.Errorf("%w: its system has restarted by itself, and ended all apps", device.ErrGone)
	}
	return fmt.Errorf("%w: it has restarted by itself", device.ErrGone)
}

// life tells one start of a device from another; boot is "" where that is not known, and
// system where the device does not count.
type life struct{ boot, system string }

var lifeLines = regexp.MustCompile(`^([0-9a-f-]{36})\s+(\d{0,9})\s*$`)

func lifeIn(text []byte) life {
	m := lifeLines.FindSubmatch(text)
	if m == nil {
		return life{}
	}
	return life{string(m[1]), string(m[2])}
}
