package energy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/energytest"
	"github.com/apkgate/apkgate/energy/model"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	charging := fmt.Errorf("measure by the battery: %w", fmt.Errorf("%w: a charger is connected", energy.ErrCharging))
	for _, c := range []struct {
		name   string
		asked  string
		offers energy.Offers
		want   energy.Choice
	}{
		{"rails are best", energy.Auto, energy.Offers{Profile: model.ReferencePhone}, energy.Choice{Source: energy.Rails, From: "rails"}},
		{"then the battery", energy.Auto, energy.Offers{Rails: energy.ErrNoRails}, energy.Choice{Source: energy.Battery, From: "battery",
			PassedOver: []string{"the device's power rails report nothing"}}},
		{"then the model", energy.Auto, energy.Offers{Rails: energy.ErrNoRails, Battery: charging, Profile: model.ReferencePhone},
			energy.Choice{Source: energy.Model, From: "model reference-phone", PassedOver: []string{
				"the device's power rails report nothing",
				"the device was not on battery: a charger is connected (unplug the device, or use wireless adb)"}}},
		{"an emulator is modelled", energy.Auto, energy.Offers{Emulator: true, Profile: "0a1b2c3d"}, energy.Choice{Source: energy.Model, From: "model 0a1b2c3d",
			PassedOver: []string{"an emulator has no hardware to measure", "an emulator has no hardware to measure"}}},
		{"as asked for", "platform", energy.Offers{}, energy.Choice{Source: energy.Platform, From: "platform"}},
		{"the model where rails are there", "model", energy.Offers{Profile: model.ReferencePhone}, energy.Choice{Source: energy.Model, From: "model reference-phone"}},
	} {
		got, err := energy.Choose(c.asked, c.offers)
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v, %s", c.name, err, d)
		}
	}
	for asked, part := range map[string]string{"battery": "measure energy by battery: the device was not on battery: a charger is connected", "solar": `"solar" is none of auto, rails, battery, model and platform`} {
		if _, err := energy.Choose(asked, energy.Offers{Battery: charging}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("asked for %s: %v, want %q in it", asked, err, part)
		}
	}
}

func TestFullBattery(t *testing.T) {
	t.Parallel()
	// 4000 mAh are 14,400 C; at 3.85 V 55,440 J.
	energytest.Near(t, "4000 mAh", energy.FullBattery(4000, 0), 55440)
	energytest.Near(t, "1000 mAh at 3.7 V", energy.FullBattery(1000, 3.7), 13320)
	energytest.Near(t, "charge_full_design in µAh", energy.Capacity(0, 4_410_000), 4410)
	energytest.Near(t, "an emulator's nonsense, then the profile's", energy.Capacity(10, 3000), 3000)
	energytest.Near(t, "nothing believable", energy.Capacity(0, -5, 1e12), 0)
}
