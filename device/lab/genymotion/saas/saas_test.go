package saas

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
)

// token must not appear in any message or file of a lease.
const token = "sesame-4711-token"

// bench is a lab with its stand-ins and its leases.
type bench struct {
	*Lab
	*boottest.Bench
	standin *standin.Lab
}

// newBench returns a computer with gmsaas, with shorter timeouts than for the real cloud.
func newBench(t *testing.T) *bench {
	t.Helper()
	s := standin.New(t, standin.Options{Boots: 50 * time.Millisecond, WithoutADB: true})
	return benchOn(s.Variables(), s, t.TempDir())
}

// benchOn returns the lab in an environment with other values of the variables.
func benchOn(variables map[string]string, s *standin.Lab, leases string) *bench {
	variables[tokenVariable] = token
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
	l.lookEvery, l.watchEvery, l.mayAppear = 10*time.Millisecond, 50*time.Millisecond, 0
	return &bench{l, &boottest.Bench{Kind: Kind, Leases: leases}, s}
}

// cloud returns the instances that the platform lists.
func (b *bench) cloud(t *testing.T) []standins.CloudInstance {
	t.Helper()
	list, err := standins.Cloud(b.standin.Folder)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// release stops what the lease names, and checks that nothing is left.
func (b *bench) release(t *testing.T, l lease.Lease) {
	t.Helper()
	if err := b.Stop(t.Context(), l, b.Tell); err != nil {
		t.Fatal(err)
	}
	if left := b.cloud(t); len(left) > 0 {
		t.Errorf("after Stop the platform still lists %+v", left)
	}
	if left := b.standin.Instances(); len(left) > 0 {
		t.Errorf("after Stop phones still run: %+v", left)
	}
}

var pixel = boot.Spec{Name: "pixel #1", Kind: Kind, Model: "Google Pixel 3", Android: "11.0", Minutes: 30}

func TestBootAndStopAnInstance(t *testing.T) {
	t.Parallel()
	s := standin.New(t, standin.Options{})
	b := benchOn(s.Variables(), s, t.TempDir())
	held := b.Take(t)
	booted, err := b.Boot(t.Context(), pixel, held, b.Tell)
	if err != nil {
		t.Fatal(err)
	}
	cloud := b.cloud(t)
	if len(cloud) != 1 || cloud[0].Name != held.ID() || cloud[0].Recipe.Android != "11.0" || cloud[0].Minutes != 30 {
		t.Errorf("the platform lists %+v, want one Pixel 3 of Android 11.0 for 30 minutes, named %s", cloud, held.ID())
	}
	if !strings.HasPrefix(booted.Serial, "localhost:") || booted.Address != strings.Replace(booted.Serial, "localhost", "127.0.0.1", 1) {
		t.Errorf("serial %q at %q", booted.Serial, booted.Address)
	}
	if said := b.run(t, booted, "getprop sys.boot_completed"); said != "1" {
		t.Errorf("Android answers %q", said)
	}
	if said := b.adbDevices(t); b.standin.ADB > 0 && !strings.Contains(said, booted.Serial+"\tdevice") {
		t.Errorf("adb devices shows %q, want %s", said, booted.Serial)
	}
	if l := held.Lease(); l.Name != "pixel #1" || l.Detail[noteUUID] != cloud[0].UUID {
		t.Errorf("the lease says %+v", l)
	}
	b.release(t, held.Lease())
	select {
	case <-booted.Died:
		t.Error("a stopped instance is taken for one that died")
	default:
	}
	b.release(t, held.Lease()) // a second time there is nothing to do
}

// adbDevices returns the list of the lab's adb server.
func (b *bench) adbDevices(t *testing.T) string {
	t.Helper()
	if b.standin.ADB == 0 {
		return ""
	}
	address, err := adb.ServerAddress(b.computer.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	infos, err := adb.NewServer(address, adb.Options{}).Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, i := range infos {
		out.WriteString(i.Serial + "\t" + i.State + "\n")
	}
	return out.String()
}

// A failure before anything is started leaves nothing behind, and has a hint.
func TestBootsThatFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks string
		times  int
		spec   func(*boot.Spec)
		what   []string
		advice string
		retry  bool
		starts int // requests for an instance
	}{
		"logged out":     {breaks: standins.SaaSLoggedOut, times: 1, what: []string{"list the instances", "no authentication set"}, advice: "gmsaas auth token"},
		"a bad token":    {breaks: standins.SaaSBadToken, times: 1, what: []string{"INVALID_TOKEN", "[token]"}, advice: "gmsaas auth token"},
		"no SDK":         {breaks: standins.SaaSNoSDK, times: 1, what: []string{"no Android SDK path set"}, advice: "gmsaas config set android-sdk-path"},
		"no network":     {breaks: standins.SaaSOffline, times: 1, what: []string{"no network connection"}, advice: "https://api.geny.io", retry: true},
		"a bad proxy":    {breaks: standins.SaaSProxy, times: 1, what: []string{"unable to use the proxy"}, advice: "gmsaas config set proxy"},
		"out of order":   {breaks: standins.SaaSOutOfOrder, times: 1, what: []string{"503"}, advice: "try again later", retry: true},
		"another daemon": {breaks: standins.SaaSOtherDaemon, times: 1, what: []string{"incompatible version numbers"}, advice: "gmadbtunneld"},
		"a broken gmsaas": {breaks: standins.SaaSBreaks, times: 1,
			what: []string{"ModuleNotFoundError: No module named 'click'"}, advice: "gmsaas doctor"},
		"a babbling gmsaas": {breaks: standins.SaaSBabbles, times: 1, what: []string{`it printed "[31mHello [0m {\"instances\": 5}", want JSON`}, advice: "upgrade gmsaas"},
		"a silent gmsaas":   {breaks: standins.SaaSSilent, times: 1, what: []string{"it printed nothing"}, advice: "upgrade gmsaas"},
		"an unknown recipe": {spec: func(s *boot.Spec) { s.Model = "Pixel 3" },
			what: []string{`no recipe is called "Pixel 3"`}, advice: "Google Pixel 3 (Android 9.0)"},
		"an unknown version": {spec: func(s *boot.Spec) { s.Android = "15" },
			what: []string{`no recipe "Google Pixel 3" has Android 15`}, advice: "Google Pixel 3 (Android 9.0)"},
		"two recipes": {spec: func(s *boot.Spec) { s.Model, s.Android = "Custom Tablet", "" },
			what: []string{`2 recipes are called "Custom Tablet"`}, advice: standins.CloudRecipes[4].UUID},
		"an unknown UUID": {spec: func(s *boot.Spec) { s.Model = "0a0b0c0d-0000-4000-8000-000000000099" },
			what: []string{"start an instance of", "RECIPE_NOT_FOUND"}, advice: "gmsaas recipes list", starts: 1},
		"the quota": {breaks: standins.SaaSQuota, times: 1, what: []string{"start an instance of Google Pixel 3 (Android 11.0)", "TOO_MANY_RUNNING_VDS"},
			advice: "gmsaas instances stop UUID", retry: true, starts: 1},
		"the license": {breaks: standins.SaaSLicense, times: 1, what: []string{"license has expired", "LICENSE_EXPIRED"}, advice: "https://cloud.geny.io", starts: 1},
		"a slow start": {breaks: standins.SaaSStartTooSlow, times: 1, what: []string{"did not start in time"},
			retry: true, starts: 1},
		"a start that goes wrong": {breaks: standins.SaaSStartError, times: 1, what: []string{"please check its state"}, retry: true, starts: 1},
		"no tunnel, twice":        {breaks: standins.SaaSTunnel, times: 2, what: []string{"connect adb to the instance", "to ADB in time"}, retry: true, starts: 1},
		"a port that is taken":    {breaks: standins.SaaSPortBusy, times: 2, what: []string{"Port '5555' is not available"}, retry: true, starts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.breaks != "" {
				b.standin.Breaks(c.breaks, c.times)
			}
			spec := pixel
			if c.spec != nil {
				c.spec(&spec)
			}
			held := b.Take(t)
			booted, err := b.Boot(t.Context(), spec, held, b.Tell)
			var failed *boot.Error
			if !errors.As(err, &failed) {
				t.Fatalf("booted %+v, %v; want a *boot.Error", booted, err)
			}
			for _, part := range append(c.what, "Genymotion SaaS: ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %q, want %q in it", err, part)
				}
			}
			if !strings.Contains(failed.Hint(), c.advice) || failed.Retry != c.retry {
				t.Errorf("the hint is %q, retry %v; want %q in it, retry %v", failed.Hint(), failed.Retry, c.advice, c.retry)
			}
			if strings.Contains(err.Error()+failed.Hint(), token) {
				t.Errorf("the token is shown: %q", err)
			}
			if n := b.calls("instances start"); n != c.starts {
				t.Errorf("the platform was asked %d times for an instance, want %d", n, c.starts)
			}
			b.release(t, held.Lease())
		})
	}
}

// calls counts the calls of a command.
func (b *bench) calls(command string) (n int) {
	for _, line := range b.standin.Called("gmsaas") {
		if strings.HasPrefix(line, "--format compactjson "+command) {
			n++
		}
	}
	return n
}

// Differences of other versions, and failures that occur once, do not fail the boot.
func TestBootWithOtherVersions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks string
		times  int
		told   string
	}{
		"adbconnect prints nothing": {standins.SaaSOldConnect, 1, "starting an instance"},
		"no longest duration":       {standins.SaaSOldStart, 1, "this gmsaas can't limit how long the instance lives"},
		"the tunnel fails once":     {standins.SaaSTunnel, 1, "to ADB in time. Operation aborted.: trying once more"},
		"it is connected already":   {standins.SaaSOtherPort, 1, "starting an instance"},
		"Python warns":              {standins.SaaSWarns, -1, "starting an instance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.standin.Breaks(c.breaks, c.times)
			held := b.Take(t)
			booted, err := b.Boot(t.Context(), pixel, held, b.Tell)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(booted.Serial, "localhost:") || !b.Heard(c.told) {
				t.Errorf("serial %q, reported %q, want %q", booted.Serial, b.Told(), c.told)
			}
			b.release(t, held.Lease())
		})
	}
}

// The battery has the requested level, and each instance has a time limit.
func TestBatteryAndTimeLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	spec := pixel
	spec.BatteryPercent, spec.Minutes = 83, 0
	held := b.Take(t)
	booted, err := b.Boot(t.Context(), spec, held, b.Tell)
	if err != nil {
		t.Fatal(err)
	}
	if level := b.run(t, booted, "dumpsys battery | grep level:"); level != "level: 83" || b.Heard("battery") {
		t.Errorf("the battery says %q, reported %q", level, b.Told())
	}
	if cloud := b.cloud(t); len(cloud) != 1 || cloud[0].Minutes != defaultMinutes {
		t.Errorf("an instance without a longest duration: %+v", cloud)
	}
	b.release(t, held.Lease())
}

// run runs a command on a booted device.
func (b *bench) run(t *testing.T, booted *boot.Booted, command string) string {
	t.Helper()
	d, err := b.computer.Reach(t.Context(), booted)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	out, err := d.Exec(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out.Stdout))
}

// An instance that another user stops, or whose machine dies, is detected, with the reason.
func TestDiedWhenAnInstanceEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	held := b.Take(t)
	booted, err := b.Boot(t.Context(), pixel, held, b.Tell)
	if err != nil {
		t.Fatal(err)
	}
	b.standin.Breaks(standins.SaaSOffline, 3) // which does not affect the instance
	if why := booted.Why(); why != "" {
		t.Errorf("it runs, and yet: %q", why)
	}
	if _, err := b.ask(t.Context(), "stop it", shortly, "instances", "list"); err == nil {
		t.Fatal("the platform was to be out of reach")
	}
	for b.cloudState(t) == "ONLINE" { // the platform may still be unreachable
		_, _ = b.ask(t.Context(), "stop it", shortly, "instances", "stop", held.Lease().Detail[noteUUID])
	}
	select {
	case <-booted.Died:
	case <-time.After(time.Minute):
		t.Fatal("a minute after its end it was not detected")
	}
	if why := booted.Why(); !strings.Contains(why, held.ID()) || !strings.Contains(why, "was stopped") {
		t.Errorf("it says %q", why)
	}
	b.release(t, held.Lease())
}

func (b *bench) cloudState(t *testing.T) string {
	for _, i := range b.cloud(t) {
		return i.State
	}
	return ""
}

// Stopping is retried until the platform no longer lists the instance.
func TestStopRetriesUntilUnlisted(t *testing.T) {
	t.Parallel()
	for _, breaks := range []string{standins.SaaSStopTooSlow, standins.SaaSOffline, standins.SaaSOutOfOrder} {
		b := newBench(t)
		held := b.Take(t)
		if _, err := b.Boot(t.Context(), pixel, held, b.Tell); err != nil {
			t.Fatal(err)
		}
		b.standin.Breaks(breaks, 2)
		b.release(t, held.Lease())
	}
}

// A failed stop is reported, with what to do by hand.
func TestStopOfAnInstanceThatCantBeStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	held := b.Take(t)
	if _, err := b.Boot(t.Context(), pixel, held, b.Tell); err != nil {
		t.Fatal(err)
	}
	b.standin.Breaks(standins.SaaSNoSDK, -1)
	err := b.Stop(t.Context(), held.Lease(), b.Tell)
	var failed *boot.Error
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "no Android SDK path set") {
		t.Fatal(err)
	}
	for _, part := range []string{"gmsaas config set android-sdk-path", "apkgate devices clean", held.ID(), "https://cloud.geny.io", "30 minutes after it has booted"} {
		if !strings.Contains(failed.Hint(), part) {
			t.Errorf("the hint is %q, want %q in it", failed.Hint(), part)
		}
	}
	b.standin.Breaks(standins.SaaSNoSDK, 0)
	b.standin.Breaks(standins.SaaSStopTooSlow, -1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := b.Stop(ctx, held.Lease(), b.Tell); !errors.As(err, &failed) || !strings.Contains(failed.Hint(), "https://cloud.geny.io") {
		t.Errorf("%v", err)
	}
	b.standin.Breaks(standins.SaaSStopTooSlow, 0)
	b.release(t, held.Lease())
}

// Without gmsaas, a cleanup fails at once: waiting does not help, and the instance is being
// billed.
func TestStopWithoutGmsaas(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bare := New(genymotion.Computer{Getenv: func(string) string { return "" }})
	of := lease.Lease{ID: "apkgate-abcde", Kind: Kind, Detail: map[string]string{noteAsked: boot.Now()}}
	err := bare.Stop(ctx, of, func(string) {})
	var failed *boot.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.What, "gmsaas is not in the PATH") || !strings.Contains(failed.Hint(), "pip install gmsaas; then apkgate devices clean") {
		t.Errorf("%v", err)
	}
	if ctx.Err() != nil {
		t.Error("it is said once a minute is over")
	}
}

// A start whose answer contains no instance is an error, and an instance that it started
// nevertheless is found by its name and stopped.
func TestStartWithoutAnInstance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	program, real := filepath.Join(b.standin.Bin, "gmsaas"), b.standin.Path("real", "gmsaas")
	script := "#!/bin/sh\ncase \"$*\" in\n*'instances start'*) '" + real + "' \"$@\" >/dev/null && echo '{\"exit_code\": 0}' ;;\n*) exec '" + real + "' \"$@\" ;;\nesac\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(real), 0o700), os.Rename(program, real), os.WriteFile(program, []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	held := b.Take(t)
	_, err := b.Boot(t.Context(), pixel, held, b.Tell)
	var failed *boot.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.What, "gmsaas names no instance in its answer") || failed.Hint() != adviceUpdate {
		t.Errorf("%v", err)
	}
	if len(b.cloud(t)) != 1 {
		t.Fatalf("the cloud has %+v, want the instance that was started", b.cloud(t))
	}
	b.release(t, held.Lease())
}

// A device that may still appear, or does not end, is waited for until the timeout, and then
// reported with what to do by hand.
func TestStopTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.lookEvery, b.mayAppear = time.Hour, time.Hour
	held := b.Take(t)
	if err := held.Note(noteAsked, boot.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := b.Stop(ctx, held.Lease(), b.Tell)
	var failed *boot.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.Hint(), "apkgate devices clean, or stop "+held.ID()) {
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
	if err := held.Note(noteAsked, boot.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("Ctrl-C")
	go func() {
		for len(b.standin.Called("gmsaas")) == 0 && t.Context().Err() == nil {
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
	got := b.Check(t.Context())
	if len(got) != 2 || !got[0].OK || got[0].Detail != "version 1.14.0" || !got[1].OK || got[1].Detail != "logged in; it runs 0 instances now" {
		t.Errorf("%+v", got)
	}
	b.standin.Breaks(standins.SaaSLoggedOut, 1)
	got = b.Check(t.Context())
	if len(got) != 2 || got[1].OK || !strings.Contains(got[1].Hint, "gmsaas auth token") {
		t.Errorf("logged out: %+v", got)
	}
	bare := New(genymotion.Computer{Getenv: func(string) string { return "" }})
	got = bare.Check(t.Context())
	if len(got) != 1 || got[0].OK || !strings.Contains(got[0].Detail, "gmsaas is not in the PATH") || got[0].Hint != "pip install gmsaas" {
		t.Errorf("without gmsaas: %+v", got)
	}
	silent := t.TempDir() // a wrapper that discards gmsaas's output
	if err := os.WriteFile(filepath.Join(silent, "gmsaas"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	wrapped := New(genymotion.Computer{Getenv: func(name string) string { return map[string]string{"PATH": silent}[name] }})
	got = wrapped.Check(t.Context())
	if len(got) != 1 || got[0].OK || !strings.Contains(got[0].Detail, "ask gmsaas for its version: ") {
		t.Errorf("a gmsaas that prints nothing: %+v", got)
	}
}

// A cancelled boot leaves what its lease names.
func TestBootCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.standin.Breaks(standins.Held("halfway", "instances start"), 1)
	held := b.Take(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		boottest.AwaitFile(t, b.standin.Path(standins.HoldsAt))
		cancel()
	}()
	if _, err := b.Boot(ctx, pixel, held, b.Tell); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was canceled", err)
	}
	if cloud := b.cloud(t); len(cloud) != 1 {
		t.Errorf("the platform lists %+v, want what it was making", cloud)
	}
	b.release(t, held.Lease())
}
