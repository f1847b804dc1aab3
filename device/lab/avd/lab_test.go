package avd_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/console"
	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/avd"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// token is the consoles' token: the test's emulators and this process have the same home.
const token = "a-token-of-tests"

func TestMain(m *testing.M) {
	if folder := os.Getenv(asApkgate); folder != "" {
		bootUntilKilled(folder)
		os.Exit(0)
	}
	home, err := os.MkdirTemp("", "apkgate-avd-")
	if err == nil {
		err = os.WriteFile(filepath.Join(home, console.TokenFile), []byte(token), 0o600)
	}
	if err != nil {
		panic(err)
	}
	os.Setenv("HOME", home)
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// computer is a computer with the SDK, for one test.
type computer struct {
	*standin.Lab
	t   *testing.T
	avd *avd.Lab

	mu   sync.Mutex
	told []string
}

func newComputer(t *testing.T, o standin.Options) *computer {
	t.Helper()
	l := standin.New(t, o)
	if err := os.WriteFile(filepath.Join(l.Home, console.TokenFile), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &computer{Lab: l, t: t}
	c.avd = c.another(3*time.Minute, 10*time.Second)
	return c
}

// another returns the lab as another apkgate on the same computer has it.
func (c *computer) another(boot, end time.Duration) *avd.Lab {
	variables := c.Variables()
	var env []string
	for name, value := range variables {
		env = append(env, name+"="+value)
	}
	lab := avd.New(avd.Computer{Getenv: func(name string) string { return variables[name] }, Env: env})
	return lab.In(c.Path("homes"), boot, end)
}

func (c *computer) tell(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, line)
}

// hasTold reports whether a progress line contained the text.
func (c *computer) hasTold(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.told, func(l string) bool { return strings.Contains(l, text) })
}

// take takes a lease.
func (c *computer) take() *lease.Held {
	c.t.Helper()
	h, err := lease.Take(c.Path("leases"), avd.Kind, "")
	if err != nil {
		c.t.Fatal(err)
	}
	return h
}

// spec returns a device that the computer can boot.
func spec() boot.Spec {
	return boot.Spec{Name: "pixel #2", Kind: avd.Kind, Model: "pixel_6", Android: "34", Image: "google_apis", ABI: "x86_64"}
}

// boot boots a device, or ends the test.
func (c *computer) boot(s boot.Spec) (*boot.Booted, *lease.Held) {
	c.t.Helper()
	h := c.take()
	b, err := c.avd.Boot(c.t.Context(), s, h, c.tell)
	if err != nil {
		c.t.Fatalf("%v\n%s", err, strings.Join(c.told, "\n"))
	}
	return b, h
}

// refused boots a spec that can't be booted, stops what is left, and returns the error.
func (c *computer) refused(s boot.Spec) *boot.Error {
	c.t.Helper()
	h := c.take()
	_, err := c.avd.Boot(c.t.Context(), s, h, c.tell)
	var e *boot.Error
	if !errors.As(err, &e) {
		c.t.Fatalf("%v, want an error of the boot\n%s", err, strings.Join(c.told, "\n"))
	}
	c.stopped(c.avd, h.Lease())
	return e
}

// stopped stops a lease's device and checks that nothing of it is left.
func (c *computer) stopped(lab *avd.Lab, l lease.Lease) {
	c.t.Helper()
	if err := lab.Stop(c.t.Context(), l, c.tell); err != nil {
		c.t.Error(err)
	}
	c.gone(l)
	if err := lab.Stop(c.t.Context(), l, c.tell); err != nil {
		c.t.Errorf("stopped once more: %v", err)
	}
	if n := lab.Held(); n != 0 {
		c.t.Errorf("the lab holds %d emulators", n)
	}
}

// gone checks that nothing of a lease's device is left.
func (c *computer) gone(l lease.Lease) {
	c.t.Helper()
	if found, err := hostprogram.Find(l.ID); err != nil || len(found) != 0 {
		c.t.Errorf("%v, %v; want no process of %s", found, err, l.ID)
	}
	if left, _ := filepath.Glob(c.Path("homes", "*")); len(left) != 0 {
		c.t.Errorf("left of AVDs: %v", left)
	}
	for _, r := range c.Instances() {
		if r.ID == l.ID {
			c.t.Errorf("%s still runs", r.Name)
		}
	}
	if port := l.Detail["console-port"]; port != "" && c.ADB > 0 {
		if state := c.stateOf("emulator-" + port); state != "" && !c.others(port) {
			c.t.Errorf("adb lists emulator-%s as %s", port, state)
		}
	}
}

// others reports whether another emulator uses the port.
func (c *computer) others(port string) bool {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func (c *computer) server() *adb.Server {
	return adb.NewServer("127.0.0.1:"+strconv.Itoa(c.ADB), adb.Options{})
}

// stateOf returns the state in which adb lists a device.
func (c *computer) stateOf(serial string) string {
	c.t.Helper()
	infos, err := c.server().Devices(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, info := range infos {
		if info.Serial == serial {
			return info.State
		}
	}
	return ""
}

// open connects to a booted device as apkgate does.
func (c *computer) open(b *boot.Booted) device.Device {
	c.t.Helper()
	if b.Address == "" {
		return c.server().Device(b.Serial)
	}
	d, err := adb.Dial(c.t.Context(), b.Address, adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { d.Close() })
	return d
}

func (c *computer) hasADB() {
	c.t.Helper()
	if c.ADB == 0 {
		c.t.Skip("there is no adb on this machine")
	}
}

// A device is created from its spec, boots, is used, and is removed with everything that was
// created for it.
func TestBootAndStop(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	s := spec()
	s.Width, s.Height, s.Density, s.RAMMiB, s.Cores, s.GPU, s.BatteryPercent = 1080, 2400, 400, 3072, 3, "swiftshader_indirect", 80
	b, h := c.boot(s)
	if b.Serial != "emulator-"+strconv.Itoa(b.ConsolePort) || b.Address != "" || b.ConsolePort%2 != 0 {
		t.Errorf("%+v", b)
	}
	out, err := c.open(b).Exec(t.Context(), "getprop sys.boot_completed; pm path android")
	if err != nil || !strings.HasPrefix(string(out.Stdout), "1\npackage:") {
		t.Errorf("the booted device says %q, %v", out.Stdout, err)
	}
	select {
	case <-b.Died:
		t.Errorf("it died: %s", b.Why())
	default:
	}

	l := h.Lease()
	if l.Name != "pixel #2" || l.Detail["avd"] != h.ID() || l.Detail["console-port"] != strconv.Itoa(b.ConsolePort) || l.Detail["process"] == "" {
		t.Errorf("the lease notes %+v", l)
	}
	config, err := os.ReadFile(filepath.Join(l.Detail["avd-home"], h.ID()+".avd", "config.ini"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"hw.lcd.width=1080", "hw.lcd.height=2400", "hw.lcd.density=400", "hw.ramSize=3072", "hw.cpu.ncore=3", "hw.gpu.mode=swiftshader_indirect",
		"skin.name=1080x2400", "hw.device.name=pixel_6", "image.sysdir.1=system-images/android-34/google_apis/x86_64/",
	} {
		if n := strings.Count("\n"+string(config), "\n"+line+"\n"); n != 1 {
			t.Errorf("%q is in config.ini %d times:\n%s", line, n, config)
		}
	}
	if strings.Contains(string(config), "hw.ramSize=1536") {
		t.Errorf("the model's RAM stays beside the device's own:\n%s", config)
	}
	calls := c.Called("emulator")
	started := calls[len(calls)-1]
	for _, want := range []string{"-avd " + h.ID(), "-id " + h.ID(), "-port " + l.Detail["console-port"], "-no-window", "-no-audio", "-no-boot-anim", "-no-snapshot", "-accel on", "-no-metrics", "-gpu swiftshader_indirect"} {
		if !strings.Contains(started+" ", want+" ") {
			t.Errorf("started with %q, want %s", started, want)
		}
	}
	if strings.Contains(started, "-read-only") {
		t.Errorf("an AVD of apkgate's own is read-only: %q", started)
	}
	term, err := console.Open(t.Context(), b.ConsolePort)
	if err != nil {
		t.Fatal(err)
	}
	if power, err := term.Power(t.Context()); err != nil || power.Capacity != "80" {
		t.Errorf("the battery is at %q, %v", power.Capacity, err)
	}
	term.Close()

	c.stopped(c.avd, h.Lease())
	<-b.Died
	if why := b.Why(); !strings.Contains(why, "exit code 0") {
		t.Errorf("it ended: %s", why)
	}
	if !c.hasTold("asked the emulator") || c.hasTold("stopping the process") {
		t.Errorf("it was not asked at its console, or not only: %q", c.told)
	}
}

// Without an adb server or an adb program, an emulator is reached at its own port.
func TestBootWithoutADB(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{WithoutADB: true})
	variables := c.Variables()
	var env []string
	for name, value := range variables {
		env = append(env, name+"="+value)
	}
	os.Remove(filepath.Join(c.SDK(), "platform-tools", "adb"))
	variables["PATH"], variables["ANDROID_ADB_SERVER_PORT"] = c.Bin, "1" // unused
	c.avd = avd.New(avd.Computer{Getenv: func(name string) string { return variables[name] }, Env: env}).
		In(c.Path("homes"), 3*time.Minute, 10*time.Second)
	b, h := c.boot(spec())
	if b.Address != "127.0.0.1:"+strconv.Itoa(b.ConsolePort+1) {
		t.Errorf("%+v", b)
	}
	if out, err := c.open(b).Exec(t.Context(), "getprop sys.boot_completed"); err != nil || string(out.Stdout) != "1\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
	c.stopped(c.avd, h.Lease())
}

// Several devices are booted at once, each on its own ports.
func TestBootSeveralAtOnce(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	const several = 3
	var wg sync.WaitGroup
	var mu sync.Mutex
	serials := map[string]bool{}
	for range several {
		h := c.take()
		wg.Go(func() {
			b, err := c.avd.Boot(t.Context(), spec(), h, c.tell)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			serials[b.Serial] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(serials) != several {
		t.Errorf("%v, want %d serials", serials, several)
	}
	all, err := lease.List(c.Path("leases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		wg.Go(func() {
			if err := c.avd.Stop(t.Context(), l, c.tell); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, l := range all {
		c.gone(l)
	}
}

// An existing AVD is booted twice at once, and does not change.
func TestExistingAVDIsNotChanged(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	c.existing("Pixel_Of_Mine")
	before := c.contents("Pixel_Of_Mine")
	s := boot.Spec{Name: "mine", Kind: avd.Kind, Existing: "Pixel_Of_Mine", RAMMiB: 4096, Cores: 2, GPU: "auto"}
	b1, h1 := c.boot(s)
	b2, h2 := c.boot(s)
	if b1.Serial == b2.Serial {
		t.Errorf("both are %s", b1.Serial)
	}
	calls := c.Called("emulator")
	for _, want := range []string{"-avd Pixel_Of_Mine", "-id " + h2.ID(), "-read-only", "-no-snapshot", "-memory 4096", "-cores 2"} {
		if started := calls[len(calls)-1]; !strings.Contains(started+" ", want+" ") {
			t.Errorf("started with %q, want %s", started, want)
		}
	}
	// Stopping one emulator does not affect the other.
	if err := c.avd.Stop(t.Context(), h1.Lease(), c.tell); err != nil {
		t.Error(err)
	}
	if out, err := c.open(b2).Exec(t.Context(), "getprop sys.boot_completed"); err != nil || string(out.Stdout) != "1\n" {
		t.Errorf("the other says %q, %v", out.Stdout, err)
	}
	c.stopped(c.avd, h2.Lease())
	if after := c.contents("Pixel_Of_Mine"); after != before {
		t.Errorf("the AVD was %q and is %q", before, after)
	}
}

// existing creates an AVD of the user's.
func (c *computer) existing(name string) {
	c.t.Helper()
	dir := c.Path("avd", name+".avd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	for path, text := range map[string]string{
		c.Path("avd", name+".ini"):         "path=" + dir + "\n",
		filepath.Join(dir, "config.ini"):   "AvdId=" + name + "\nhw.ramSize=1536\n",
		filepath.Join(dir, "userdata.img"): "data",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

// contents returns the files of an AVD with their contents.
func (c *computer) contents(name string) string {
	c.t.Helper()
	var all []string
	err := filepath.WalkDir(c.Path("avd", name+".avd"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			text, _ := os.ReadFile(path)
			all = append(all, path+"="+string(text))
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.Join(all, "|")
}

// An emulator of version 30 supports fewer options and formats its log differently.
func TestBootWithAnOldEmulator(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	c.Breaks("old-emulator", state.Always)
	b, h := c.boot(spec())
	calls := c.Called("emulator")
	if started := calls[len(calls)-1]; strings.Contains(started, "-no-metrics") {
		t.Errorf("started with %q, which it does not know", started)
	}
	c.stopped(c.avd, h.Lease())
	<-b.Died
	c.Breaks("disk-full", 1)
	if e := c.refused(spec()); !strings.Contains(e.What, "Not enough space") || e.Retry {
		t.Errorf("%+v", e)
	}
}

// Ports that another program has taken in between are skipped.
func TestBootSkipsPortsInUse(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	c.Breaks("port-taken", 2)
	_, h := c.boot(spec())
	if !c.hasTold("are in use: trying others") {
		t.Errorf("%q", c.told)
	}
	c.stopped(c.avd, h.Lease())
	c.Breaks("port-taken", state.Always)
	if e := c.refused(spec()); !e.Retry || !strings.Contains(e.What, "ports were taken") {
		t.Errorf("%+v", e)
	}
}

// The output of an emulator that can't start is reported, with a hint.
func TestBootFailures(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]struct {
		what, hint string
		retry      bool
	}{
		"accel-3":         {"KVM requires a CPU that supports vmx or svm (code 3)", "nested virtualization", false},
		"accel-8":         {"/dev/kvm is not found", "--device /dev/kvm", false},
		"accel-11":        {"doesn't have permissions to use KVM (/dev/kvm). (code 11)", "gpasswd -a $USER kvm", false},
		"accel-12":        {"Could not open /dev/kvm", "VirtualBox", false},
		"disk-full":       {"Available: 1234.50 MB", "make room", false},
		"no-engine":       {"Missing emulator engine program for 'x86' CPU.", "sdkmanager emulator", false},
		"no-memory":       {"cannot set up guest memory", "ram-mib", false},
		"no-system-image": {"Broken AVD system path", "ANDROID_HOME", false},
		"ends-silently":   {"it ended with the exit code 1", "", true},
		"dies-booting":    {"it ended with the exit code 1; it said", "", true},
		"no-java":         {"JAVA_HOME is not set", "Java 17", false},
		"manager-crashes": {"NullPointerException", "", false},
		"no-version":      {"libpulse.so.0", "sdkmanager", false},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			c := newComputer(t, standin.Options{})
			c.hasADB()
			c.Breaks(word, state.Always)
			e := c.refused(spec())
			if !strings.Contains(e.Error(), want.what) || !strings.Contains(e.Hint(), want.hint) || e.Retry != want.retry || e.Lab == "" {
				t.Errorf("%+v; want %+v", e, want)
			}
		})
	}
}

// The error for a missing image, model or AVD lists what exists, and what to type.
func TestBootOfAMissingImageModelOrAVD(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	change := func(f func(*boot.Spec)) boot.Spec { s := spec(); f(&s); return s }
	for name, test := range map[string]struct {
		spec       boot.Spec
		what, hint string
	}{
		"image":    {change(func(s *boot.Spec) { s.Android = "36" }), "system-images;android-36;google_apis;x86_64 is not installed", `sdkmanager "system-images;android-36;google_apis;x86_64"`},
		"model":    {change(func(s *boot.Spec) { s.Model = "pixel_99" }), "No device found matching --device pixel_99", "avdmanager list device -c"},
		"gpu":      {change(func(s *boot.Spec) { s.GPU = "cuda" }), "Invalid GPU mode 'cuda'", "swiftshader_indirect"},
		"existing": {boot.Spec{Existing: "Nobodys"}, "no AVD has that name; there is none", "emulator -list-avds"},
	} {
		e := c.refused(test.spec)
		if !strings.Contains(e.What, test.what) || !strings.Contains(e.Hint(), test.hint) || e.Retry {
			t.Errorf("%s: %+v; want %q and the hint %q", name, e, test.what, test.hint)
		}
	}
	if e := c.refused(change(func(s *boot.Spec) { s.Android = "36" })); !strings.Contains(e.What, "installed: system-images;android-34;google_apis;x86_64") {
		t.Errorf("the installed images are not reported: %s", e.What)
	}
	c.existing("Mine")
	if e := c.refused(boot.Spec{Existing: "Nobodys"}); !strings.Contains(e.What, "there are Mine") {
		t.Errorf("what exists is not reported: %s", e.What)
	}
}

// An emulator that reports a failure and hangs is not waited for.
func TestBootOfAnEmulatorThatHangsAfterAFailure(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	c.Breaks("disk-full", state.Always)
	c.Breaks("hangs-after-failure", state.Always)
	c.avd = c.another(10*time.Minute, 200*time.Millisecond)
	if e := c.refused(spec()); !strings.Contains(e.What, "Not enough space") {
		t.Errorf("%+v", e)
	}
}

// A boot that does not finish is given up after the timeout, with its last state.
func TestBootTimeout(t *testing.T) {
	t.Parallel()
	for word, seen := range map[string]string{"never-boots": "sys.boot_completed is", "never-answers": "adb:"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			c := newComputer(t, standin.Options{})
			c.hasADB()
			c.Breaks(word, state.Always)
			c.avd = c.another(4*time.Second, 5*time.Second)
			if e := c.refused(spec()); !e.Retry || !strings.Contains(e.What, "not up after 4s") || !strings.Contains(e.What, seen) {
				t.Errorf("%+v, want that %s", e, seen)
			}
		})
	}
}

// A snapshot that can't be loaded causes a cold boot, which is reported.
func TestBootFromASnapshot(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	c.existing("Mine")
	if err := os.MkdirAll(c.Path("avd", "Mine.avd", "snapshots", "warm"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := boot.Spec{Existing: "Mine", Snapshot: "warm"}
	_, h := c.boot(s)
	calls := c.Called("emulator")
	if started := calls[len(calls)-1]; !strings.Contains(started, "-snapshot warm -no-snapshot-save") || strings.Contains(started+" ", "-no-snapshot ") {
		t.Errorf("started with %q", started)
	}
	c.stopped(c.avd, h.Lease())
	if c.hasTold("snapshot") {
		t.Errorf("a loaded snapshot is reported: %q", c.told)
	}

	c.Breaks("snapshot-crashes", 1)
	_, h = c.boot(s)
	calls = c.Called("emulator")
	if started := calls[len(calls)-1]; !strings.Contains(started+" ", "-no-snapshot ") || !c.hasTold("the snapshot warm does not boot: booting cold") || !c.hasTold("eglMakeCurrent") {
		t.Errorf("started with %q after %q", started, c.told)
	}
	c.stopped(c.avd, h.Lease())

	s.Snapshot = "gone"
	_, h = c.boot(s)
	if !c.hasTold("does not have the requested snapshot 'gone'") {
		t.Errorf("%q", c.told)
	}
	c.stopped(c.avd, h.Lease())
}

// An emulator that ignores its console and SIGTERM is killed.
func TestStopKillsAnEmulatorThatIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	c.Breaks("never-ends", state.Always)
	b, h := c.boot(spec())
	c.stopped(c.another(time.Minute, 300*time.Millisecond), h.Lease())
	<-b.Died
	if why := b.Why(); !strings.Contains(why, "killed") {
		t.Errorf("it ended: %s", why)
	}
}

// An emulator that hangs answers neither its console nor SIGTERM.
func TestStopKillsAHangingEmulator(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	_, h := c.boot(spec())
	id, err := hostprogram.ParseID(h.Lease().Detail["process"])
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(id.PID, syscall.SIGSTOP)
	c.stopped(c.another(time.Minute, 300*time.Millisecond), h.Lease())
}

// The death of an emulator is reported at once, with its last words.
func TestDied(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	b, h := c.boot(spec())
	id, err := hostprogram.ParseID(h.Lease().Detail["process"])
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(id.PID, syscall.SIGKILL)
	<-b.Died
	if why := b.Why(); !strings.Contains(why, `the signal "killed"`) || !strings.Contains(why, "it said") {
		t.Errorf("%q", why)
	}
	c.stopped(c.avd, h.Lease())
}

// An interrupt ends a boot at once, and nothing of it is left.
func TestBootInterrupted(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{})
	c.hasADB()
	c.Breaks("never-boots", state.Always)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("Ctrl-C")
	h := c.take()
	_, err := c.avd.Boot(ctx, spec(), h, func(line string) {
		if strings.Contains(line, "Android is starting") {
			cancel(why)
		}
	})
	if !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if found, err := hostprogram.Find(h.ID()); err != nil || len(found) != 0 {
		t.Errorf("%v, %v; want no process", found, err)
	}
	c.stopped(c.avd, h.Lease())
}

// Findings of a check, on a computer that can boot and on others.
func TestCheck(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{WithoutADB: true})
	findings := func() map[string]device.Finding {
		out := map[string]device.Finding{}
		for _, f := range c.avd.Check(t.Context()) {
			out[f.Name] = f
		}
		return out
	}
	all := findings()
	for name, detail := range map[string]string{
		"avdmanager": c.SDK(), "emulator": "version 36.4.10.0", "acceleration": "KVM (version 12) is installed and usable.",
		"system images": "system-images;android-34;google_apis;x86_64", "adb": "",
	} {
		if f := all[name]; !f.OK || f.Hint != "" || !strings.Contains(f.Detail, detail) {
			t.Errorf("%s: %+v, want %q", name, f, detail)
		}
	}
	c.Breaks("accel-8", 1)
	if f := findings()["acceleration"]; f.OK || !strings.Contains(f.Detail, "/dev/kvm is not found") || !strings.Contains(f.Hint, "--device /dev/kvm") {
		t.Errorf("without KVM: %+v", f)
	}
	c.Breaks("no-version", 1)
	all = findings()
	if f := all["emulator"]; f.OK || !strings.Contains(f.Detail, "libpulse") || f.Hint == "" {
		t.Errorf("a broken emulator: %+v", f)
	}
	if f, ok := all["acceleration"]; ok {
		t.Errorf("a broken emulator was asked for acceleration: %+v", f)
	}
	nowhere := t.TempDir()
	c.avd = avd.New(avd.Computer{Getenv: func(name string) string { return map[string]string{"HOME": nowhere, "PATH": nowhere}[name] }})
	all = findings()
	for _, name := range []string{"avdmanager", "emulator", "system images"} {
		if f := all[name]; f.OK || !strings.Contains(f.Hint, "sdkmanager") {
			t.Errorf("without an SDK, %s: %+v", name, f)
		}
	}
	if f := all["adb"]; !f.OK || !strings.Contains(f.Detail, "not found") {
		t.Errorf("adb can be done without: %+v", f)
	}
}

// freePort returns a free port of the loopback interface. It is below the ephemeral ports:
// another test could get one of those, and a connection to one that nobody listens on can even
// be connected to itself.
func freePort(t *testing.T) int {
	t.Helper()
	for port := 20000 + os.Getpid()%4000; port < 32000; port++ {
		if listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// An adb server that is not running is started before the emulator, which announces itself to
// the server.
func TestBootStartsTheADBServer(t *testing.T) {
	t.Parallel()
	c := newComputer(t, standin.Options{WithoutADB: true})
	program := filepath.Join(c.SDK(), "platform-tools", "adb")
	if _, err := os.Stat(program); err != nil {
		t.Skip("there is no adb on this machine")
	}
	c.ADB = freePort(t)
	variables := c.Variables() // with that port
	var env []string
	for name, value := range variables {
		env = append(env, name+"="+value)
	}
	t.Cleanup(func() {
		kill := exec.Command(program, "kill-server")
		kill.Env = append(os.Environ(), env...)
		kill.Run()
	})
	c.avd = c.another(3*time.Minute, 10*time.Second)
	b, h := c.boot(spec())
	if b.Address != "" || c.stateOf(b.Serial) != "device" || !c.hasTold("starting the adb server") {
		t.Errorf("%+v, reported %q", b, c.told)
	}
	c.stopped(c.avd, h.Lease())
}
