package properties_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/properties"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
)

// ready connects to a simulated phone and reads its facts.
func ready(t *testing.T, profile string, o simulator.Options) *target.Target {
	t.Helper()
	s, err := simulator.Start(profile, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	d := target.New(profile, s.Clock(), time.Now(), func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, s.Address(), adb.Options{}) })
	d.Journal = journal.New(profile, nil)
	if err := errors.Join(d.Open(t.Context()), d.ReadFacts(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.HangUp)
	return d
}

func TestReadOfEachAndroid(t *testing.T) {
	t.Parallel()
	for _, p := range simulator.Profiles() {
		d := ready(t, p.Name, simulator.Options{})
		r, err := properties.Read(t.Context(), d, "com.example.none", "")
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if got := r.Properties; got["screen"] != p.Screen || got["network"] != "wifi" || got["battery"] != "80-100%" || got["model"] != p.Model || got["ram"] == "" || got["cores"] == "" {
			t.Errorf("%s: %v", p.Name, got)
		}
		if r.Version != "" {
			t.Errorf("%s: an app that is not there has the version %q", p.Name, r.Version)
		}
		// Android 4.1 has no service that reports displays.
		if told := r.TellsDisplay; told != (p.API >= 17) || told && r.Properties["refresh_hz"] == "60" && r.Display.Period.Round(time.Microsecond) != 16667*time.Microsecond {
			t.Errorf("%s: tells its display: %t, %+v", p.Name, told, r.Display)
		}
		for name, value := range r.Properties {
			if value == "" {
				t.Errorf("%s: %s is empty", p.Name, name)
			}
		}
		if _, has := r.Properties["host"]; has {
			t.Errorf("%s: a phone runs on %s", p.Name, r.Properties["host"])
		}
	}
}

func TestReadNetwork(t *testing.T) {
	t.Parallel()
	d := ready(t, "pixel-7-android-14", simulator.Options{Network: "4g"})
	for _, c := range []struct {
		asked      string
		wifi, data bool
		want       string
	}{{"lte", true, true, "lte"}, {"", true, true, "wifi"}, {"", false, true, "mobile"}, {"", false, false, "none"}} {
		d.Facts.WifiOn, d.Facts.DataOn = c.wifi, c.data
		r, err := properties.Read(t.Context(), d, "com.example.none", c.asked)
		if err != nil || r.Properties["network"] != c.want {
			t.Errorf("%+v: %q, %v", c, r.Properties["network"], err)
		}
	}
}

func TestReadOfALostDevice(t *testing.T) {
	t.Parallel()
	d := ready(t, "pixel-7-android-14", simulator.Options{})
	d.HangUp()
	if r, err := properties.Read(t.Context(), d, "com.example.none", ""); err == nil {
		t.Errorf("a device that is gone tells %v", r.Properties)
	}
}
