package energymeter

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/apkgate/apkgate/collect/dexopt"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy"
)

// feign makes the battery service report no charger: batterystats counts only on battery. Where the
// battery itself is measured, that must be true.
func (m *Meter) feign(ctx context.Context) error {
	if m.powered == "battery" || m.powered == "" || m.choice.Source == energy.Battery || !canFeign(m.t.Facts) {
		return nil
	}
	m.feigned = true
	if err := m.t.Do(ctx, device.Quote("dumpsys", "battery", "unplug"), target.Change{Kind: target.Battery, Put: "unplug"}); err != nil {
		return fmt.Errorf("feign that the device is on battery: %w", err)
	}
	return nil
}

// canFeign: `dumpsys battery unplug` came with Android 6.
func canFeign(f target.Facts) bool { return f.API >= 23 }

var userID = regexp.MustCompile(`(?m)\b(?:userId|appId)=(\d{1,9})\b`)

// readPackage finds the app's UID and whether it is a debug build.
func (m *Meter) readPackage(ctx context.Context, b *Build) error {
	text, err := m.t.Output(ctx, "dumpsys", "package", b.App.Package)
	if err != nil {
		return fmt.Errorf("read what %s is: %w", b.App.Package, err)
	}
	if m := userID.FindStringSubmatch(text); m != nil {
		b.uid, _ = strconv.Atoi(m[1])
	}
	b.debuggable = dexopt.IsDebug(text)
	return nil
}
