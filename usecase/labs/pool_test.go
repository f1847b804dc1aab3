package labs

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// labOfNothing records its calls.
type labOfNothing struct {
	boots, stops int
	died         chan struct{}
	bootFails    error
	stopFails    error
}

func (l *labOfNothing) Kind() string                           { return "avd" }
func (l *labOfNothing) Check(context.Context) []device.Finding { return nil }

func (l *labOfNothing) Boot(_ context.Context, spec boot.Spec, held *lease.Held, _ func(string)) (*boot.Booted, error) {
	l.boots++
	if err := held.For(spec.Name); err != nil {
		return nil, err
	}
	if l.bootFails != nil {
		return nil, l.bootFails
	}
	l.died = make(chan struct{})
	return &boot.Booted{Serial: "emulator-5554", Died: l.died}, nil
}

func (l *labOfNothing) Stop(ctx context.Context, its lease.Lease, _ func(string)) error {
	l.stops++
	if ctx.Err() != nil || its.Name != "pixel" {
		return errors.New("it is asked to stop " + its.Name + " in no time")
	}
	return l.stopFails
}

// poolOf returns a pool with only that lab; leases counts the remaining ones.
func poolOf(t *testing.T, lab *labOfNothing, stderr *bytes.Buffer) (p *Pool, leases func() int) {
	t.Helper()
	p = NewPool(terminal.Console{Getenv: func(string) string { return "" }, Stderr: stderr}, "nightly")
	p.labs, p.folder = map[string]boot.Lab{"avd": lab}, t.TempDir()
	return p, func() int {
		left, err := lease.List(p.folder)
		if err != nil {
			t.Error(err)
		}
		return len(left)
	}
}

var pixel = config.Device{Labs: config.Labs{AVD: &config.AVD{Model: "pixel_6", Android: "34"}}}

func quiet(string) {}

// A device is booted once for a command, under a lease, and stopped at its end, also after an
// interrupt.
func TestPoolBootsADeviceOnce(t *testing.T) {
	t.Parallel()
	var lab labOfNothing
	var stderr bytes.Buffer
	p, leases := poolOf(t, &lab, &stderr)
	for range 2 {
		if b, err := p.Boot(t.Context(), "pixel", pixel, quiet); err != nil || b.Serial != "emulator-5554" {
			t.Fatalf("%+v, %v", b, err)
		}
	}
	if lab.boots != 1 || leases() != 1 {
		t.Errorf("%d boots, %d leases", lab.boots, leases())
	}
	p.Close()
	p.Close()
	if lab.stops != 1 || leases() != 0 || stderr.Len() > 0 {
		t.Errorf("%d stops, %d leases, %q", lab.stops, leases(), &stderr)
	}
}

// A device that has ended by itself is cleaned up and booted again.
func TestPoolBootsADeadDeviceAgain(t *testing.T) {
	t.Parallel()
	var lab labOfNothing
	p, leases := poolOf(t, &lab, nil)
	if _, err := p.Boot(t.Context(), "pixel", pixel, quiet); err != nil {
		t.Fatal(err)
	}
	close(lab.died)
	if _, err := p.Boot(t.Context(), "pixel", pixel, quiet); err != nil || lab.boots != 2 || lab.stops != 1 || leases() != 1 {
		t.Errorf("%v, %d boots, %d stops, %d leases", err, lab.boots, lab.stops, leases())
	}
}

// A failed boot leaves nothing, also after an interrupt.
func TestPoolCleansUpAFailedBoot(t *testing.T) {
	t.Parallel()
	lab := labOfNothing{bootFails: &boot.Error{Lab: "the SDK's emulator", What: "there is no /dev/kvm"}}
	p, leases := poolOf(t, &lab, nil)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := p.Boot(ctx, "pixel", pixel, quiet)
	var failed *boot.Error
	if !errors.As(err, &failed) || lab.stops != 1 || leases() != 0 {
		t.Errorf("%v, %d stops, %d leases", err, lab.stops, leases())
	}
}

// A device that can't be stopped keeps its lease, and is reported with advice.
func TestPoolKeepsTheLeaseOfAFailedStop(t *testing.T) {
	t.Parallel()
	lab := labOfNothing{stopFails: errors.New("gmsaas does not answer")}
	var stderr bytes.Buffer
	p, leases := poolOf(t, &lab, &stderr)
	if _, err := p.Boot(t.Context(), "pixel", pixel, quiet); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if got := stderr.String(); leases() != 1 || !strings.HasPrefix(got, "warning: pixel could not be stopped: gmsaas does not answer") || !strings.Contains(got, "apkgate devices clean") {
		t.Errorf("%d leases, %q", leases(), got)
	}
}

// The lab gets every key of a description.
func TestSpecOf(t *testing.T) {
	t.Parallel()
	screen := config.Screen{Width: 1080, Height: 2400, Density: 420}
	for _, c := range []struct {
		device config.Device
		want   boot.Spec
	}{
		{config.Device{Battery: 0.55, Labs: config.Labs{AVD: &config.AVD{Model: "pixel_6", Android: "34", Image: "google_atd", ABI: "x86_64", Screen: screen, RAMMiB: 2048, Cores: 2, GPU: "host"}}},
			boot.Spec{Name: "s", Kind: "avd", Model: "pixel_6", Android: "34", Image: "google_atd", ABI: "x86_64", Width: 1080, Height: 2400, Density: 420, RAMMiB: 2048, Cores: 2, GPU: "host", BatteryPercent: 55}},
		{config.Device{Labs: config.Labs{AVD: &config.AVD{Existing: "Old", GPU: "auto", Snapshot: "ready"}}}, boot.Spec{Name: "s", Kind: "avd", Existing: "Old", GPU: "auto", Snapshot: "ready"}},
		{config.Device{Labs: config.Labs{Genymotion: &config.Genymotion{Model: "Google Pixel 3", Android: "11.0", Screen: screen}}},
			boot.Spec{Name: "s", Kind: "genymotion", Model: "Google Pixel 3", Android: "11.0", Width: 1080, Height: 2400, Density: 420}},
		{config.Device{Labs: config.Labs{Genymotion: &config.Genymotion{Existing: "Lab"}}}, boot.Spec{Name: "s", Kind: "genymotion", Existing: "Lab"}},
		{config.Device{Labs: config.Labs{GenymotionSaaS: &config.GenymotionSaaS{Recipe: "Google Pixel 3", Android: "11.0", Minutes: 45}}}, boot.Spec{Name: "s", Kind: "genymotion-saas", Model: "Google Pixel 3", Android: "11.0", Minutes: 45}},
	} {
		if diff := cmp.Diff(c.want, SpecOf("s", c.device)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.device, diff)
		}
		if lab := All(terminal.Console{Getenv: func(string) string { return "" }})[c.want.Kind]; lab == nil || lab.Kind() != c.want.Kind {
			t.Errorf("no lab boots %s", c.want.Kind)
		}
	}
}
