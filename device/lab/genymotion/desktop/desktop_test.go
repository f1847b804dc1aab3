package desktop

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/boot/boottest"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator/standin"
	standins "github.com/apkgate/apkgate/simulator/standin/genymotion"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// bench is a lab with its stand-ins and its leases.
type bench struct {
	*Lab
	*boottest.Bench
	standin *standin.Lab
}

// newBench returns a computer with gmtool, with shorter timeouts than for a real device.
func newBench(t *testing.T) *bench {
	t.Helper()
	s := standin.New(t, standin.Options{Boots: 50 * time.Millisecond, WithoutADB: true})
	return benchOn(s, t.TempDir())
}

// benchOn returns the lab on a computer with stand-ins, or on this process's own computer for
// nil.
func benchOn(s *standin.Lab, leases string) *bench {
	variables := map[string]string{}
	if s != nil {
		variables = s.Variables()
	}
	var env []string
	for name, value := range variables {
		env = append(env, name+"="+value)
	}
	getenv := func(name string) string {
		if value, ok := variables[name]; ok {
			return value
		}
		return os.Getenv(name)
	}
	reach := func(ctx context.Context, b *boot.Booted) (device.Device, error) {
		return adb.Dial(ctx, b.Address, adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
	}
	l := New(genymotion.Computer{Getenv: getenv, Env: env, Reach: reach})
	l.lookEvery, l.mayAppear = 10*time.Millisecond, 0
	return &bench{l, &boottest.Bench{Kind: Kind, Leases: leases}, s}
}

// there returns the virtual devices of the Desktop by name, and whether they are running.
func (b *bench) there(t *testing.T) map[string]bool {
	t.Helper()
	machines, err := standins.Machines(b.standin.Folder)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, m := range machines {
		out[m.Name] = m.Running(b.standin.Folder)
	}
	return out
}

// release stops what the lease names, and checks that exactly the given devices are left, off.
func (b *bench) release(t *testing.T, l lease.Lease, left ...string) {
	t.Helper()
	if err := b.Stop(t.Context(), l, b.Tell); err != nil {
		t.Fatal(err)
	}
	there := b.there(t)
	if len(there) != len(left) {
		t.Errorf("after Stop there are %v, want %q", there, left)
	}
	for _, name := range left {
		if runs, ok := there[name]; !ok || runs {
			t.Errorf("after Stop %s is there %v, runs %v; want it there and off", name, ok, runs)
		}
	}
}

func (b *bench) add(t *testing.T, name string) standins.Machine {
	t.Helper()
	m, err := standins.AddMachine(b.standin.Folder, name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var pixel = boot.Spec{Name: "pixel", Kind: Kind, Model: "google pixel 3", Android: "11.0", Width: 1080, Height: 2160, Density: 440, RAMMiB: 2048, Cores: 2}

func TestBootCreatesAndStopDeletes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old  bool
		spec func(*boot.Spec)
		made []string // the arguments with which gmtool creates it, without the name
	}{
		"by version 3": {spec: func(*boot.Spec) {},
			made: []string{"Google Pixel 3", "Android 11.0", "--width=1080", "--height=2160", "--density=440", "--nbcpu=2", "--ram=2048"}},
		"by version 2": {old: true, spec: func(s *boot.Spec) { *s = boot.Spec{Name: "nexus", Model: "Google Nexus 5", Android: "5.1"} },
			made: []string{"Google Nexus 5 - 5.1.0 - API 22 - 1080x1920"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.old {
				b.standin.Breaks(standins.DesktopOld, state.Always)
			}
			b.add(t, "Mine")
			b.standin.Breaks(standins.DesktopLate, 1)
			spec := pixel
			c.spec(&spec)
			spec.BatteryPercent = 83
			held := b.Take(t)
			booted, err := b.Boot(t.Context(), spec, held, b.Tell)
			if err != nil {
				t.Fatal(err)
			}
			machines, err := standins.Machines(b.standin.Folder)
			if err != nil || len(machines) != 2 || machines[1].Name != held.ID() || !slices.Equal(machines[1].Options, c.made) {
				t.Errorf("there are %+v, %v; want one created from %q", machines, err, c.made)
			}
			if !strings.HasPrefix(booted.Serial, "127.0.0.1:") || booted.Address != booted.Serial {
				t.Errorf("serial %q at %q", booted.Serial, booted.Address)
			}
			if level := b.battery(t, booted); level != "level: 83" || b.Heard("battery") || held.Lease().Name != spec.Name {
				t.Errorf("the battery says %q, reported %q, the lease says %+v", level, b.Told(), held.Lease())
			}
			b.release(t, held.Lease(), "Mine")
			b.release(t, held.Lease(), "Mine") // a second time there is nothing to do
		})
	}
}

// battery returns the level that a device reports.
func (b *bench) battery(t *testing.T, booted *boot.Booted) string {
	t.Helper()
	d, err := b.computer.Reach(t.Context(), booted)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	out, err := d.Exec(t.Context(), "dumpsys battery | grep level:")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out.Stdout))
}

// adb lists a device of the Desktop with the serial in gmtool's list.
func TestSerialIsADBs(t *testing.T) {
	t.Parallel()
	b := benchOn(standin.New(t, standin.Options{}), t.TempDir())
	if b.standin.ADB == 0 {
		t.Skip("this machine has no adb")
	}
	b.add(t, "Mine")
	held := b.Take(t)
	booted, err := b.Boot(t.Context(), boot.Spec{Existing: "Mine"}, held, b.Tell)
	if err != nil {
		t.Fatal(err)
	}
	address, err := adb.ServerAddress(b.computer.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	infos, err := adb.NewServer(address, adb.Options{}).Devices(t.Context())
	if err != nil || !slices.ContainsFunc(infos, func(i adb.Info) bool { return i.Serial == booted.Serial && i.State == adb.StateDevice }) {
		t.Errorf("adb lists %+v, %v; want %s", infos, err, booted.Serial)
	}
	b.release(t, held.Lease(), "Mine")
}

// An existing device is started and stopped, never deleted; one that was running keeps
// running.
func TestExistingDeviceStays(t *testing.T) {
	t.Parallel()
	for _, byUUID := range []bool{false, true} {
		b := newBench(t)
		mine := b.add(t, "My Pixel | 9")
		asked := mine.Name
		if byUUID {
			asked = mine.UUID
		}
		first, second := b.Take(t), b.Take(t)
		one, err := b.Boot(t.Context(), boot.Spec{Existing: asked}, first, b.Tell)
		if err != nil {
			t.Fatal(err)
		}
		two, err := b.Boot(t.Context(), boot.Spec{Existing: asked, BatteryPercent: 17}, second, b.Tell)
		if err != nil {
			t.Fatal(err)
		}
		if one.Serial != two.Serial || !b.Heard("My Pixel | 9 is already running (On): it is used as it is, and keeps running") {
			t.Errorf("serials %s and %s, reported %q", one.Serial, two.Serial, b.Told())
		}
		if level := b.battery(t, two); level == "level: 17" || !b.Heard("the battery is not set to 17%: the device was already running") {
			t.Errorf("the battery says %q, reported %q", level, b.Told())
		}
		if err := b.Stop(t.Context(), second.Lease(), b.Tell); err != nil || !b.there(t)[mine.Name] {
			t.Errorf("a device that was already running is stopped: %v, %v", b.there(t), err)
		}
		b.release(t, first.Lease(), mine.Name)
	}
}

func TestBootsThatFail(t *testing.T) {
	t.Parallel()
	created := func(*boot.Spec) {}
	for name, c := range map[string]struct {
		breaks string
		times  int
		old    bool
		spec   func(*boot.Spec)
		what   []string
		advice string
		retry  bool
	}{
		"no license":               {breaks: standins.DesktopNoLicense, times: 1, spec: created, what: []string{"create a", "requires a paid license (exit code 14)"}, advice: "gmtool license register"},
		"no license for version 2": {breaks: standins.DesktopNoLicense, times: 1, old: true, spec: created, what: []string{"requires a license (exit code 13)"}, advice: "gmtool license register"},
		"logged out":               {breaks: standins.DesktopLoggedOut, times: 1, spec: created, what: []string{"Unable to sign in"}, advice: "gmtool config --email"},
		"no engine":                {breaks: standins.DesktopNoEngine, times: 1, spec: created, what: []string{"engine does not respond (exit code 4)"}, advice: "VirtualBox or QEMU", retry: true},
		"a babbling gmtool": {breaks: standins.DesktopBabbles, times: 1, spec: func(s *boot.Spec) { *s = boot.Spec{Existing: "Mine"} },
			what: []string{"read what gmtool admin list prints", "no table of virtual devices"}},
		"an unknown profile":  {spec: func(s *boot.Spec) { s.Model = "Pixel 33" }, what: []string{`create a "Pixel 33 11.0"`, "(exit code 2)"}, advice: "gmtool admin hwprofiles"},
		"an unknown template": {old: true, spec: func(s *boot.Spec) { s.Model = "Nexus 5" }, what: []string{`no template is called "Nexus 5"`}, advice: "Google Nexus 5 - 5.0.0"},
		"an unknown device": {spec: func(s *boot.Spec) { *s = boot.Spec{Existing: "Yours"} }, what: []string{`no virtual device is called "Yours"`},
			advice: "gmtool admin list"},
		"a full disk": {breaks: standins.DesktopFull, times: 1, spec: created, what: []string{"no space left on the disk (exit code 3)"}, advice: "gmtool admin osimages", retry: true},
		"it doesn't start, twice": {breaks: standins.DesktopStartFails, times: 2, spec: created,
			what: []string{"start ", "launch virtual device: apkgate-", "(exit code 3)"}, advice: "gmtool admin logzip", retry: true},
		"it can't be started": {breaks: standins.DesktopUnstartable, times: 1, spec: created, what: []string{"Unable to start the virtual device (exit code 13)"},
			advice: "gmtool admin logzip", retry: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.old {
				b.standin.Breaks(standins.DesktopOld, state.Always)
			}
			if c.breaks != "" {
				b.standin.Breaks(c.breaks, c.times)
			}
			b.add(t, "Mine")
			spec := pixel
			c.spec(&spec)
			held := b.Take(t)
			booted, err := b.Boot(t.Context(), spec, held, b.Tell)
			var failed *boot.Error
			if !errors.As(err, &failed) {
				t.Fatalf("booted %+v, %v; want a *boot.Error", booted, err)
			}
			for _, part := range append(c.what, "Genymotion Desktop: ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %q, want %q in it", err, part)
				}
			}
			if !strings.Contains(failed.Hint(), c.advice) || failed.Retry != c.retry {
				t.Errorf("the hint is %q, retry %v; want %q in it, retry %v", failed.Hint(), failed.Retry, c.advice, c.retry)
			}
			b.release(t, held.Lease(), "Mine")
		})
	}
}

// A start that fails once works the next time.
func TestStartRetriesOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.standin.Breaks(standins.DesktopStartFails, 1)
	held := b.Take(t)
	if _, err := b.Boot(t.Context(), pixel, held, b.Tell); err != nil {
		t.Fatal(err)
	}
	if !b.Heard("launch virtual device: " + held.ID() + " (exit code 3): trying once more") {
		t.Errorf("reported %q", b.Told())
	}
	b.release(t, held.Lease())
}

// gmtool can't distinguish two devices with one name.
func TestDevicesOfOneName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.add(t, "Mine")
	b.add(t, "Mine")
	for _, asked := range []string{"Mine", first.UUID} {
		held := b.Take(t)
		_, err := b.Boot(t.Context(), boot.Spec{Existing: asked}, held, b.Tell)
		var failed *boot.Error
		if !errors.As(err, &failed) || failed.Hint() == "" || len(b.standin.Instances()) > 0 {
			t.Errorf("%s: %v", asked, err)
		}
	}
}

// Stopping is retried until it succeeds; a failure is reported with what to do by hand.
func TestStopping(t *testing.T) {
	t.Parallel()
	for _, breaks := range []string{standins.DesktopUnstoppable, standins.DesktopUndeletable, standins.DesktopNoEngine} {
		b := newBench(t)
		held := b.Take(t)
		if _, err := b.Boot(t.Context(), pixel, held, b.Tell); err != nil {
			t.Fatal(err)
		}
		b.standin.Breaks(breaks, state.Always)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := b.Stop(ctx, held.Lease(), b.Tell)
		cancel()
		var failed *boot.Error
		if !errors.As(err, &failed) || !strings.Contains(failed.Hint(), "gmtool admin stop") || !strings.Contains(failed.Hint(), "gmtool admin delete") {
			t.Errorf("%s: %v", breaks, err)
		}
		b.standin.Breaks(breaks, 2)
		b.release(t, held.Lease())
	}
}

// Without gmtool, a cleanup fails at once: waiting does not help.
func TestStopWithoutGmtool(t *testing.T) {
	t.Parallel()
	b := benchOn(nil, t.TempDir())
	held := b.Take(t)
	if err := held.Note(noteCreating, boot.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bare := New(genymotion.Computer{Getenv: func(string) string { return "" }})
	err := bare.Stop(ctx, held.Lease(), b.Tell)
	var failed *boot.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.What, "gmtool is neither in the PATH") || !strings.Contains(failed.Hint(), "install Genymotion Desktop, or add its folder to the PATH; then apkgate devices clean") {
		t.Errorf("%v", err)
	}
	if ctx.Err() != nil {
		t.Error("it is said once a minute is over")
	}
}

// Only a recent request that gmtool has not confirmed is waited for: otherwise each stop would
// take half a minute longer.
func TestWhatMayStillAppear(t *testing.T) {
	t.Parallel()
	l := New(genymotion.Computer{})
	for name, c := range map[string]struct {
		detail map[string]string
		may    bool
	}{
		"nothing begun":        {nil, false},
		"being created":        {map[string]string{noteCreating: boot.Now()}, true},
		"created":              {map[string]string{noteCreating: boot.Now(), noteCreated: "yes"}, false},
		"being started":        {map[string]string{noteCreating: boot.Now(), noteCreated: "yes", noteStarting: boot.Now()}, true},
		"there, being started": {map[string]string{noteExisting: "Mine", noteStarting: boot.Now()}, true},
		"started":              {map[string]string{noteExisting: "Mine", noteStarting: boot.Now(), noteStarted: "yes"}, false},
	} {
		if may := l.mayStillAppear(lease.Lease{Detail: c.detail}); may != c.may {
			t.Errorf("%s: %v, want %v", name, may, c.may)
		}
	}
}

// A device that may still appear, or does not end, is waited for until the timeout, and then
// reported with what to do by hand.
func TestStopTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.lookEvery, b.mayAppear = time.Hour, time.Hour
	held := b.Take(t)
	if err := held.Note(noteCreating, boot.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := b.Stop(ctx, held.Lease(), b.Tell)
	var failed *boot.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.Hint(), "gmtool admin delete") {
		t.Errorf("%v", err)
	}
}

// An interrupt of a stop that waits for a device to appear is reported as such, not as a
// timeout.
func TestStopInterrupted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.lookEvery, b.mayAppear = time.Hour, time.Hour
	held := b.Take(t)
	if err := held.Note(noteCreating, boot.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("Ctrl-C")
	go func() {
		for len(b.standin.Called("gmtool")) == 0 && t.Context().Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		cancel(why)
	}()
	if err := b.Stop(ctx, held.Lease(), b.Tell); err == nil || !strings.Contains(err.Error(), "Ctrl-C") {
		t.Errorf("%v", err)
	}
}

func TestCheckReportsWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "Mine")
	got := b.Check(t.Context())
	if len(got) != 3 || !got[0].OK || got[0].Detail != "version 3.9.0" || !got[1].OK || got[1].Detail != "answers; it has 1 virtual device" || !got[2].OK || got[2].Detail != "Business" {
		t.Errorf("%+v", got)
	}
	b.standin.Breaks(standins.DesktopNoLicense, 1)
	got = b.Check(t.Context())
	if len(got) != 3 || !got[2].OK || !strings.Contains(got[2].Detail, "none created") || !strings.Contains(got[2].Hint, "gmtool license register") {
		t.Errorf("without a license: %+v", got)
	}
	b.standin.Breaks(standins.DesktopNoEngine, 1)
	if got = b.Check(t.Context()); len(got) != 2 || got[1].OK || !strings.Contains(got[1].Hint, "VirtualBox") {
		t.Errorf("without an engine: %+v", got)
	}
	bare := New(genymotion.Computer{Getenv: func(string) string { return "" }})
	if got := bare.Check(t.Context()); len(got) != 1 || got[0].OK || !strings.Contains(got[0].Detail, "gmtool is neither in the PATH") {
		t.Errorf("without gmtool: %+v", got)
	}
}
