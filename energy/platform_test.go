package energy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/energy"
	"github.com/apkgate/apkgate/energy/energytest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/batterystats"
)

func readWhole(t testing.TB, text string) batterystats.Dump {
	t.Helper()
	d, err := batterystats.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// onBattery is a history at 4 V.
const onBattery = "9,h,0:RESET:TIME:1\n9,h,0,Bl=90,Bp=n,Bv=4000\n9,h,60000,Bl=89\n9,0,l,bt,0,60000,60000,60000,60000,0,0,0,0,0,0,0\n"

// One mAh at 4 V is 14.4 J.
func TestPlatformBeforeAndroid12(t *testing.T) {
	t.Parallel()
	d := readWhole(t, onBattery+`9,0,l,pws,3000,10,5,15
9,0,l,pwi,scrn,4,1,0,0
9,0,l,pwi,over,2,1,0,0
9,0,l,pwi,idle,1,1,0,0
9,1000,l,pwi,uid,2,1,0,0
9,10086,l,pwi,uid,3,0,1,0.5
`)
	e, err := energy.OfPlatform(d, 10_086, 0, energytest.Seconds(60))
	if err != nil {
		t.Fatal(err)
	}
	energytest.Near(t, "the whole device: 10 mAh", e.TotalJ, 144)
	energytest.Near(t, "the app: 3 mAh; its share of the screen comes on top", e.AppJ, 43.2)
	want := []run.Component{{Name: "apps", EnergyJ: 72}, {Name: "screen", EnergyJ: 57.6}, {Name: "idle", EnergyJ: 14.4}}
	if d := cmp.Diff(want, e.Device, energytest.Alike); d != "" {
		t.Error(d)
	}
	half, _ := e.AppCurve.Energy(0, energytest.Seconds(30))
	energytest.Near(t, "the app in half of the time", half, 21.6)
}

func TestPlatformSinceAndroid12(t *testing.T) {
	t.Parallel()
	d := readWhole(t, onBattery+`9,0,l,pws,3000,10,5,15
9,0,l,pwi,scrn,4,0,0,0
9,0,l,pwi,cpu,5,0,0,0
9,0,l,pwi,idle,1,0,0,0
9,10086,l,pwi,uid,6,0,4,0
`)
	e, err := energy.OfPlatform(d, 10_086, 0, energytest.Seconds(60))
	if err != nil {
		t.Fatal(err)
	}
	energytest.Near(t, "the app without its 4 mAh of the screen", e.AppJ, 28.8)
	want := []run.Component{{Name: "cpu", EnergyJ: 72}, {Name: "screen", EnergyJ: 57.6}, {Name: "idle", EnergyJ: 14.4}}
	if d := cmp.Diff(want, e.Device, energytest.Alike); d != "" {
		t.Error(d)
	}
	text := readWhole(t, `Battery History (1% used)
                    0 (2) RESET:TIME: 2026-11-20-00-00-00
                    0 (1) 090 c0100020 plug=none volt=4000
              +1m0s000ms (2) 089 c0100020
Statistics since last charge:
  Time on battery: 1m 0s 0ms (100%) realtime, 1m 0s 0ms (100%) uptime
  Estimated power use (mAh):
    Capacity: 3000, Computed drain: 10.0, actual drain: 5.0
    Global
      screen: 4.00 apps: 4.00
      cpu: 5.00 apps: 5.00
    UID u0a86: 6.00 fg: 2.00 ( screen=4.00 (1m 0s 0ms) cpu=1.50 (2s 0ms) wifi=0.500 )
`)
	if e, err = energy.OfPlatform(text, 10_086, 0, energytest.Seconds(60)); err != nil {
		t.Fatal(err)
	}
	wantApp := []run.Component{{Name: "cpu", EnergyJ: 21.6}, {Name: "wifi", EnergyJ: 7.2}}
	energytest.Near(t, "the app, as the text has it", e.AppJ, 28.8)
	if d := cmp.Diff(wantApp, e.App, energytest.Alike); d != "" {
		t.Error(d)
	}
}

func TestPlatformWithoutAnEstimate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, part string }{
		"nothing":    {"", "no estimate"},
		"no drain":   {onBattery, "no computed drain is stated"},
		"zero":       {onBattery + "9,0,l,pws,3000,0,0,0\n", "too short, and no energy is given"},
		"no voltage": {"9,0,l,bt,0,60000,60000,60000,60000,0,0,0,0,0,0,0\n9,0,l,pws,3000,5,0,0\n", "no voltage"},
	} {
		if _, err := energy.OfPlatform(readWhole(t, c.text), 10_086, 0, energytest.Seconds(60)); !errors.Is(err, energy.ErrNoEstimate) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v, want %q in it", name, err, c.part)
		}
	}
	e, err := energy.OfPlatform(readWhole(t, onBattery+"9,0,l,pws,3000,10,0,0\n"), 10_086, 0, energytest.Seconds(60))
	if err != nil || len(e.Warnings) != 1 {
		t.Errorf("an app that is not estimated: %v, %v", err, e.Warnings)
	}
}
