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

// Computer is what the labs need of the computer that they run on.
type Computer struct {
	Getenv func(string) string
	// Env is what programs have in their environment beside this process's own, as
	// NAME=value.
	Env []string
	// Reach connects to a device that was booted, which may not be there yet.
	Reach func(context.Context, *boot.Booted) (device.Device, error)
	// Paid says that what is booted costs money by the minute, whether or not adb reaches it.
	Paid bool
}

// Up waits until Android answers on a device. The error is a *boot.Error of the lab that is
// called so, or that of ctx. One that adb has never reached, and that is paid for, is not booted
// again: what keeps adb from the one keeps it from the next, as a firewall.
func (c Computer) Up(ctx context.Context, called string, b *boot.Booted, tell func(string)) error {
	return boot.Up(ctx, called, b, func(ctx context.Context) (device.Device, error) { return c.Reach(ctx, b) }, c.unreached(), tell)
}

// unreached is what to do about a device that adb never reaches.
func (c Computer) unreached() string {
	if !c.Paid {
		return ""
	}
	return "see that adb on this computer reaches such instances (adb devices while one runs; a firewall or a proxy may be between); no other one is started, which would be paid for in vain"
}

// batteryFor bounds setting the battery.
const batteryFor = 30 * time.Second

var levelLine = regexp.MustCompile(`(?m)^\s*level: (\d+)\s*$`)

// SetBattery has a device that was booted say that its battery is so full, by the battery
// service (dumpsys battery set level, of BatteryService.java since Android 5): Genymotion's
// programs have no command for it. It ends with the device. What can't be set is told.
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

// setBattery returns the level that the device then tells, "" for none.
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
