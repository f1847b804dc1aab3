package genymotion

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// Computer provides what the labs need of this computer.
type Computer struct {
	Getenv func(string) string
	// Env is added to this process's environment for programs, as NAME=value.
	Env []string
	// Reach connects to a booted device, which may not be reachable yet.
	Reach func(context.Context, *boot.Booted) (device.Device, error)
	// Paid reports that booted devices are billed by the minute, whether or not adb reaches
	// them.
	Paid bool
}

// Up waits until Android answers on a device. The error is a *boot.Error of the lab with the
// name called, or that of ctx. A billed device that adb has never reached is not booted again:
// an obstacle such as a firewall also affects the next one.
func (c Computer) Up(ctx context.Context, called string, b *boot.Booted, tell func(string)) error {
	return boot.Up(ctx, called, b, func(ctx context.Context) (device.Device, error) { return c.Reach(ctx, b) }, c.unreached(), tell)
}

// unreached is the hint for a device that adb never reaches.
func (c Computer) unreached() string {
	if !c.Paid {
		return ""
	}
	return "see that adb on this computer reaches such instances (adb devices while one runs; a firewall or a proxy may be between); no other one is started, which would be paid for in vain"
}

// batteryFor is the timeout for setting the battery.
const batteryFor = 30 * time.Second

var levelLine = regexp.MustCompile(`(?m)^\s*level: (\d+)\s*$`)

// SetBattery sets the level that a booted device's battery service reports (dumpsys battery
// set level, of BatteryService.java since Android 5): Genymotion's programs have no command
// for it. The setting ends with the device. A failure is reported with tell.
func (c Computer) SetBattery(ctx context.Context, b *boot.Booted, percent int, tell func(string)) {
	if percent == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, batteryFor)
	defer cancel()
	if now, err := c.setBattery(ctx, b, percent); err != nil {
		tell(fmt.Sprintf("the battery is not set to %d%%: %v", percent, err))
	} else if now != strconv.Itoa(percent) {
		tell(fmt.Sprintf("the battery is not set to %d%%: the device says that its level is %s", percent, prose.Quote(now, 20)))
	}
}

// setBattery returns the level that the device then reports, "" for none.
func (c Computer) setBattery(ctx context.Context, b *boot.Booted, percent int) (now string, err error) {
	d, err := c.Reach(ctx, b)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	out, err := d.Exec(ctx, fmt.Sprintf("dumpsys battery set level %d; dumpsys battery", percent))
	if err != nil {
		return "", err
	}
	if m := levelLine.FindSubmatch(out.Stdout); m != nil {
		now = string(m[1])
	}
	return now, nil
}
