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
	"github.com/apkgate/apkgate/usecase/terminal"
)

// All are what can boot devices, by kind.
func All(c terminal.Console) map[string]boot.Lab {
	reach := func(ctx context.Context, b *boot.Booted) (device.Device, error) { return Reach(ctx, c, b) }
	geny := genymotion.Computer{Getenv: c.Getenv, Reach: reach}
	if token := c.Getenv(cloudToken); token != "" { // which `apkgate action` has taken out of its own environment
		geny.Env = []string{cloudToken + "=" + token}
	}
	labs := map[string]boot.Lab{}
	for _, lab := range []boot.Lab{avd.New(avd.Computer{Getenv: c.Getenv}), desktop.New(geny), saas.New(geny)} {
		labs[lab.Kind()] = lab
	}
	return labs
}

// cloudToken is the variable by which gmsaas knows its user.
const cloudToken = "GENYMOTION_API_TOKEN"

// SpecOf is a device of the configuration as a lab boots it for a station.
func SpecOf(station string, d config.Device) boot.Spec {
	spec := boot.Spec{Name: station, BatteryPercent: d.BatteryPercent()}
	var screen config.Screen
	switch {
	case d.AVD != nil:
		a := d.AVD
		spec.Kind, spec.Existing, spec.Model, spec.Android, spec.Image, spec.ABI = "avd", a.Existing, a.Model, a.Android, a.Image, a.ABI
		spec.RAMMiB, spec.Cores, spec.GPU, spec.Snapshot, screen = a.RAMMiB, a.Cores, a.GPU, a.Snapshot, a.Screen
	case d.Genymotion != nil:
		g := d.Genymotion
		spec.Kind, spec.Existing, spec.Model, spec.Android, screen = "genymotion", g.Existing, g.Model, g.Android, g.Screen
	case d.GenymotionSaaS != nil:
		g := d.GenymotionSaaS
		spec.Kind, spec.Model, spec.Android, spec.Minutes = "genymotion-saas", g.Recipe, g.Android, g.Minutes
	}
	spec.Width, spec.Height, spec.Density = screen.Width, screen.Height, screen.Density
	return spec
}
