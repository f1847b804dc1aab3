package labs

import (
	"context"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/avd"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/genymotion/desktop"
	"github.com/apkgate/apkgate/device/lab/genymotion/saas"
	"github.com/apkgate/apkgate/device/lab/stf"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// All returns all labs, by kind.
func All(c terminal.Console) map[string]boot.Lab {
	reach := func(ctx context.Context, b *boot.Booted) (device.Device, error) { return Reach(ctx, c, b) }
	geny := genymotion.Computer{Getenv: c.Getenv, Reach: reach}
	if token := c.Getenv(cloudToken); token != "" { // which `apkgate action` has removed from its own environment
		geny.Env = []string{cloudToken + "=" + token}
	}
	forget := func(ctx context.Context, serial string) {
		if server, err := Server(c); err == nil {
			_ = server.Disconnect(ctx, serial) // otherwise it lists the phone as offline
		}
	}
	labs := map[string]boot.Lab{}
	for _, lab := range []boot.Lab{avd.New(avd.Computer{Getenv: c.Getenv}), desktop.New(geny), saas.New(geny), stf.New(stf.Computer{Getenv: c.Getenv, Reach: reach, Forget: forget})} {
		labs[lab.Kind()] = lab
	}
	return labs
}

// cloudToken is the variable by which gmsaas identifies its user.
const cloudToken = "GENYMOTION_API_TOKEN"

// SpecOf returns a device of the configuration as a lab boots it for a station.
func SpecOf(station string, d config.Device) boot.Spec {
	v := d.Virtual()
	return boot.Spec{
		Name: station, Kind: v.Kind, Existing: v.Existing, Model: v.Model, Android: v.Android, Image: v.Image, ABI: v.ABI,
		Width: v.Screen.Width, Height: v.Screen.Height, Density: v.Screen.Density, RAMMiB: v.RAMMiB, Cores: v.Cores,
		GPU: v.GPU, Snapshot: v.Snapshot, BatteryPercent: d.BatteryPercent(), Minutes: v.Minutes,
	}
}
