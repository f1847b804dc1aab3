package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// restoration undoes one thing that set-up did.
type restoration struct {
	what string
	undo func(ctx context.Context) error
}

func (c *collector) undoLater(what string, undo func(ctx context.Context) error) {
	c.restore = append(c.restore, restoration{what, undo})
}

// setUp makes the device ready: what is measured on, installed, and told to
// measure.
func (c *collector) setUp(ctx context.Context) error {
	if err := c.claim(ctx); err != nil {
		return c.fail(Infrastructure, SetUp, 0, err)
	}
	c.report(SetUp, 0, 0, "connecting")
	if err := c.open(ctx); err != nil {
		return c.fail(Infrastructure, SetUp, 0, fmt.Errorf("connect to %s: %w", c.job.Device, err))
	}
	type step struct {
		what string
		do   func(context.Context) error
	}
	steps := []step{
		{"waiting for the device to have started", c.waitBooted},
		{"reading what the device is", c.readFacts},
		{"installing", c.install},
		{"setting up", c.configure},
		{"checking that the device is fit", c.preflight},
		{"reading the context", c.readContext},
		{"checking the log", c.probeLog},
		{"preparing the workload", c.prepareWorkload},
	}
	if c.measures() {
		steps = append(steps, step{"preparing to measure energy", c.prepareEnergy})
	}
	for _, step := range steps {
		c.report(SetUp, 0, 0, step.what)
		if err := step.do(ctx); err != nil {
			return c.fail(Infrastructure, SetUp, 0, err)
		}
	}
	return nil
}

// claim takes the device for this process.
func (c *collector) claim(ctx context.Context) (err error) {
	if c.job.Claim != nil {
		c.release, err = c.job.Claim(ctx, func(message string) { c.report(Waiting, 0, 0, message) })
	}
	return err
}

// waitBooted waits for a device that is still starting.
func (c *collector) waitBooted(ctx context.Context) error {
	booted, err := c.poll(ctx, reconnectEvery, reconnectFor, func() (bool, error) {
		err := c.booted(ctx)
		if errors.Is(err, errBooting) {
			return false, nil
		}
		return err == nil, err
	})
	if err == nil && !booted {
		err = fmt.Errorf("wait %v: %w", reconnectFor, errBooting)
	}
	return err
}

// preflight warns of what makes a device unfit to measure on.
func (c *collector) preflight(ctx context.Context) error {
	findings, err := device.Preflight(ctx, c.dev)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.OK || f.Name == "network" && c.job.Network == "none" {
			continue
		}
		c.warnf("the device is not fit: %s: %s (%s)", f.Name, f.Detail, f.Hint)
	}
	return nil
}

// install puts the APKs on the device. What was not there before is taken off
// again at the end.
func (c *collector) install(ctx context.Context) error {
	if err := c.installApp(ctx); err != nil {
		return err
	}
	c.holder = c
	return c.put(ctx, testPackage(c.job.Scenario.Workload), c.job.App.TestAPK)
}

// installApp puts the build itself on the device.
func (c *collector) installApp(ctx context.Context) error {
	if c.clean {
		if err := c.clear(ctx); err != nil {
			return err
		}
	}
	return c.put(ctx, c.job.App.Package, c.job.App.APK)
}

// clear takes the app off the device with its data, which can't be put back.
func (c *collector) clear(ctx context.Context) error {
	pkg := c.job.App.Package
	there, err := c.isInstalled(ctx, pkg)
	switch {
	case err != nil:
		return err
	case !there:
		return nil
	case !c.undoes("uninstall " + pkg):
		c.warnf("%s was on the device: it was removed with its data, so that each build starts from nothing", pkg)
	}
	if err := c.dev.Uninstall(ctx, pkg); err != nil {
		return c.final(Infrastructure, err)
	}
	return nil
}

// put installs one APK file.
func (c *collector) put(ctx context.Context, pkg, file string) error {
	there, err := c.isInstalled(ctx, pkg)
	if err != nil {
		return err
	}
	if file == "" {
		if pkg != "" && !there {
			return notInstalled(pkg)
		}
		return nil
	}
	if err := c.dev.Install(ctx, file); err != nil {
		return c.final(Infrastructure, err)
	}
	if pkg == "" || there {
		return nil
	}
	if what := "uninstall " + pkg; !c.job.KeepInstalled && !c.undoes(what) {
		c.undoLater(what, func(ctx context.Context) error { return c.dev.Uninstall(ctx, pkg) })
	}
	there, err = c.isInstalled(ctx, pkg)
	if err == nil && !there {
		err = c.final(Configuration, fmt.Errorf("install %s: it holds another package than %s, which apkgate.yml names", file, pkg))
	}
	return err
}

// final is an error that trying again can't mend, unless the device was lost.
func (c *collector) final(cause Cause, err error) error {
	out := c.fail(cause, SetUp, 0, err)
	if e := asError(out); e != nil {
		e.final = !isGone(err)
	}
	return out
}

func testPackage(w config.Workload) string {
	if w.Instrumentation != nil {
		return w.Instrumentation.TestPackage
	}
	return ""
}

func (c *collector) isInstalled(ctx context.Context, pkg string) (bool, error) {
	if pkg == "" {
		return false, nil
	}
	return isInstalled(ctx, c.dev, pkg)
}

// profileProperty makes Android before 6 keep the times of frames. It is read
// when a process starts.
const profileProperty = "debug.hwui.profile"

// configure sets what a restart of the device undoes.
func (c *collector) configure(ctx context.Context) error {
	if !c.undoes(undoSettings) {
		c.undoLater(undoSettings, c.unconfigure)
	}
	if err := c.try(ctx, "svc", "power", "stayon", "true"); err != nil {
		return err
	}
	if !c.facts.hasFramestats() {
		if err := c.try(ctx, "setprop", profileProperty, "true"); err != nil {
			return err
		}
	}
	if c.meter != nil { // again, after the device was lost
		if err := errors.Join(c.endRecorders(ctx), c.feign(ctx), c.soften(ctx)); err != nil {
			return err
		}
	}
	return c.setNetwork(ctx)
}

const undoSettings = "restore the settings"

// undoes reports whether something is to be undone already.
func (c *collector) undoes(what string) bool {
	return slices.ContainsFunc(c.restore, func(r restoration) bool { return r.what == what })
}

func (c *collector) unconfigure(ctx context.Context) error {
	stayOn := []string{"svc", "power", "stayon", "false"}
	if c.facts.stayOn != "" {
		stayOn = []string{"settings", "put", "global", stayOnSetting, c.facts.stayOn}
	}
	errs := []error{c.try(ctx, stayOn...)}
	if !c.facts.hasFramestats() {
		before := c.facts.properties[profileProperty]
		if before == "" {
			before = "false"
		}
		errs = append(errs, c.try(ctx, "setprop", profileProperty, before))
	}
	if c.job.Network != "" {
		errs = append(errs, c.switchNetwork(ctx, c.facts.wifiOn, c.facts.dataOn))
	}
	return errors.Join(errs...)
}

// setNetwork turns wifi and mobile data on and off as the job's network asks.
func (c *collector) setNetwork(ctx context.Context) error {
	switch c.job.Network {
	case "":
		return nil
	case "wifi":
		return c.switchNetwork(ctx, true, false)
	}
	wireless, err := c.onWifi(ctx)
	if err != nil {
		return err
	}
	if wireless {
		out := c.final(Configuration, fmt.Errorf("set the network to %q: adb itself reaches %s over its Wi-Fi, which that turns off", c.job.Network, c.dev.Serial()))
		if e := asError(out); e != nil {
			e.hint = "connect the device by cable, or measure it on wifi"
		}
		return out
	}
	return c.switchNetwork(ctx, false, c.job.Network != "none")
}

// pairedSerial is part of the serial of a device that adb found by itself on the
// network.
const pairedSerial = "._adb-tls-connect._tcp"

// onWifi reports whether adb reaches the device over the device's own Wi-Fi: by an
// address that is the Wi-Fi's. A device that does not tell is not on it, as an
// emulator isn't that is reached over the network.
func (c *collector) onWifi(ctx context.Context) (bool, error) {
	if strings.Contains(c.dev.Serial(), pairedSerial) {
		return true, nil
	}
	host, _, notNetwork := net.SplitHostPort(c.dev.Serial())
	if notNetwork != nil || net.ParseIP(host) == nil {
		return false, nil
	}
	text, err := c.output(ctx, "ip", "-o", "addr")
	if err != nil {
		return false, fmt.Errorf("look whether adb reaches the device over Wi-Fi: %w", err)
	}
	for line := range strings.Lines(text) { // "30: wlan0    inet 10.0.0.7/24 brd …"
		fields := strings.Fields(line)
		if len(fields) > 3 && strings.HasPrefix(fields[1], "wlan") && strings.HasPrefix(fields[3], host+"/") {
			return true, nil
		}
	}
	return false, nil
}

func (c *collector) switchNetwork(ctx context.Context, wifi, data bool) error {
	word := map[bool]string{true: "enable", false: "disable"}
	if err := c.try(ctx, "svc", "wifi", word[wifi]); err != nil {
		return err
	}
	return c.try(ctx, "svc", "data", word[data])
}

// scriptPath is where a shell workload lies on the device.
const scriptPath = "/data/local/tmp/apkgate-workload.sh"

// prepareWorkload pushes what the workload needs.
func (c *collector) prepareWorkload(ctx context.Context) error {
	w := c.job.Scenario.Workload
	if w.Maestro != nil && c.options.Host == nil {
		return c.final(Infrastructure, errors.New("a Maestro flow runs on this computer, and nothing here can run it"))
	}
	if w.Shell == nil {
		return c.checkRunner(ctx)
	}
	file, err := os.Open(w.Shell.Script)
	if err != nil {
		return c.final(Configuration, fmt.Errorf("open the workload's script: %w", err))
	}
	defer func() { _ = file.Close() }()
	if err := c.dev.Push(ctx, file, scriptPath, 0o755, c.run.Started); err != nil {
		return fmt.Errorf("push %s to the device: %w", w.Shell.Script, err)
	}
	c.undoLater("remove the script", func(ctx context.Context) error { return c.try(ctx, "rm", scriptPath) })
	return nil
}

// tearDownFor bounds tear-down, so that an interrupt ends soon.
const tearDownFor = time.Minute

// tearDown undoes what was done, last first, even after an interrupt.
func (c *collector) tearDown(ctx context.Context) {
	if c.release != nil {
		defer c.release()
	}
	if c.dev == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tearDownFor)
	defer cancel()
	defer c.hangUp()
	c.report(TearDown, 0, 0, "")
	if !c.reachable(ctx) {
		c.leftUndone(c.restore)
		return
	}
	for i := len(c.restore) - 1; i >= 0; i-- {
		err := c.restore[i].undo(ctx)
		if isGone(err) {
			c.leftUndone(c.restore[:i+1])
			break
		}
		if err != nil {
			c.warnf("%s: %v", c.restore[i].what, err)
		}
	}
}

// reachable stops the app. It opens the connection again where that is broken,
// or was closed when an interrupt came.
func (c *collector) reachable(ctx context.Context) bool {
	if c.away {
		return false
	}
	stop := func() error { return c.try(ctx, "am", "force-stop", c.job.App.Package) }
	if !c.hungUp && !isGone(stop()) {
		return true
	}
	c.hangUp()
	return c.open(ctx) == nil && !isGone(stop())
}

// leftUndone says what a device that is gone still needs.
func (c *collector) leftUndone(left []restoration) {
	if len(left) == 0 {
		return
	}
	var what []string
	for _, r := range slices.Backward(left) {
		what = append(what, r.what)
	}
	c.warnf("the device is gone: it could not be left as it was found; still to do: %s", strings.Join(what, "; "))
}
