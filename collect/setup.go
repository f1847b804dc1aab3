package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/install"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/watch"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/device"
)

// setUp makes the device ready: what is measured on, installed, and told to
// measure.
func (c *collector) setUp(ctx context.Context) error {
	c.target.Journal = c.journal
	if err := c.claim(ctx); err != nil {
		return c.fail(loss.Infrastructure, journal.SetUp, 0, err)
	}
	c.journal.Report(journal.SetUp, 0, 0, "connecting")
	if err := c.target.Open(ctx); err != nil {
		return c.fail(loss.Infrastructure, journal.SetUp, 0, fmt.Errorf("connect to %s: %w", c.job.Device, err))
	}
	steps := []step{
		{"waiting for the device to have started", c.target.WaitBooted},
		{"taking the device", func(ctx context.Context) error { return c.target.Own(ctx, c.job.OwnFor) }},
		{"reading what the device is", c.target.ReadFacts},
		{"installing", c.install},
		{"setting up", c.configure},
		{"checking that the device is fit", c.preflight},
		{"reading the context", c.readContext},
		{"checking the log", func(ctx context.Context) error { return watch.ProbeLog(ctx, c.target) }},
		{"preparing the workload", c.plan.Prepare},
	}
	if err := c.do(ctx, steps); err != nil {
		return err
	}
	steps = nil
	if c.benchmarks() {
		c.tellUnmeasured()
		return nil
	}
	if c.records() {
		steps = append(steps, step{"ending what still records", c.programs.Prepare})
	}
	steps = append(steps, step{"readying the app's code", c.compile})
	if c.job.Energy.Measured() {
		steps = append(steps, step{"preparing to measure energy", c.prepareEnergy})
	}
	if c.watcher != nil {
		steps = append(steps, step{"preparing to keep evidence", c.prepareEvidence})
	}
	if frames.HasTimeline(c.target.Facts) {
		steps = append(steps, step{"preparing to record frames", c.prepareTimeline})
	}
	return c.do(ctx, steps)
}

// step is one of set-up.
type step struct {
	what string
	do   func(context.Context) error
}

func (c *collector) do(ctx context.Context, steps []step) error {
	for _, step := range steps {
		c.journal.Report(journal.SetUp, 0, 0, step.what)
		if err := step.do(ctx); err != nil {
			return c.fail(loss.Infrastructure, journal.SetUp, 0, err)
		}
	}
	return nil
}

// records reports whether anything is asked for that records on the device.
func (c *collector) records() bool {
	return c.job.Energy.Measured() || c.watcher != nil || frames.HasTimeline(c.target.Facts)
}

// prepareEvidence has what is kept as evidence recorded.
func (c *collector) prepareEvidence(ctx context.Context) (err error) {
	c.evident, err = c.watcher.Prepare(ctx, c.apps)
	return err
}

// prepareEnergy finds out where joules can be had, and readies the device for them.
func (c *collector) prepareEnergy(ctx context.Context) error {
	if detached := c.detached(); detached != nil {
		if err := detached.Check(); err != nil {
			return err
		}
	}
	c.meter = power.New(c.target, *c.job.Energy, c.perfetto, c.simpleperf)
	if err := c.meter.Prepare(ctx); err != nil {
		return err
	}
	return c.meter.Ready(ctx, c.build)
}

// detached is how the workload runs without a connection, nil where it has one.
func (c *collector) detached() *workload.Detached {
	if c.job.Energy == nil || c.job.Energy.Disconnect <= 0 {
		return nil
	}
	return &workload.Detached{Plan: c.plan, Programs: c.programs, For: c.job.Energy.Disconnect, Frames: frames.HasTimeline(c.target.Facts)}
}

// claim takes the device for this process.
func (c *collector) claim(ctx context.Context) (err error) {
	owner := c.job.Owner
	if owner == nil {
		return nil
	}
	me := *owner
	me.Doing = c.job.App.Package + "/" + c.job.Scenario.Name
	if c.job.Claim != nil {
		me.Lock, c.release, err = c.job.Claim(ctx, me, func(message string) { c.journal.Report(journal.Waiting, 0, 0, message) })
	}
	c.target.Owner = &me
	return err
}

// preflight warns of what makes a device unfit to measure on.
func (c *collector) preflight(ctx context.Context) error {
	findings, err := device.Preflight(ctx, c.target.Device())
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.OK || f.Name == "network" && c.job.Network == "none" {
			continue
		}
		c.journal.Warnf("the device is not fit: %s: %s (%s)", f.Name, f.Detail, f.Hint)
	}
	return nil
}

// install puts the APKs on the device. What was not there before is taken off
// again at the end.
func (c *collector) install(ctx context.Context) error {
	if err := c.tellOfVerifier(ctx); err != nil {
		return err
	}
	if err := c.installApp(ctx); err != nil {
		return err
	}
	c.holder = c
	var test []string
	if c.job.App.TestAPK != "" {
		test = []string{c.job.App.TestAPK}
	}
	if _, err := c.put(ctx, workload.TestPackage(c.job.Scenario.Workload), test...); err != nil {
		return err
	}
	for _, of := range workload.Orchestra(c.job.Scenario.Workload, c.job.App) {
		if err := c.putForAll(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// tellOfVerifier says what an installation may wait for, which is minutes without a word.
func (c *collector) tellOfVerifier(ctx context.Context) error {
	if c.job.App.APK == "" && c.job.App.TestAPK == "" {
		return nil
	}
	out, err := c.target.Ask(ctx, device.InstallsQuestion)
	if err != nil {
		return fmt.Errorf("look whether apps from adb are verified: %w", err)
	}
	if device.InstallsChecked(string(out.Stdout)) {
		c.journal.Report(journal.SetUp, 0, 0, "installing: the device verifies apps from adb, so it may refuse, or ask on its screen")
	}
	return nil
}

// installApp puts the build itself on the device, and notes its permissions.
func (c *collector) installApp(ctx context.Context) error {
	if c.clean {
		if err := c.clear(ctx); err != nil {
			return err
		}
	}
	sizes, err := c.put(ctx, c.job.App.Package, c.job.App.APKs()...)
	if err != nil {
		return err
	}
	if err := c.noteSizes(ctx, sizes); err != nil {
		return err
	}
	return c.readPermissions(ctx)
}

// noteSizes notes how large the build is, once.
func (c *collector) noteSizes(ctx context.Context, sizes map[string]float64) error {
	if sizes == nil || c.buildSize != nil {
		return nil
	}
	c.buildSize = sizes
	installed, told, err := install.Installed(ctx, c.target, c.job.App.Package)
	if told {
		c.buildSize["apk.installed_bytes"] = float64(installed)
	}
	return err
}

// clear takes the app off the device with its data, which can't be put back.
func (c *collector) clear(ctx context.Context) error {
	pkg := c.job.App.Package
	there, err := workload.IsInstalled(ctx, c.target.Device(), pkg)
	switch {
	case err != nil:
		return err
	case !there:
		return nil
	case !c.target.Undoes("uninstall " + pkg):
		c.journal.Warnf("%s was on the device: it was removed with its data, so that each build starts from nothing", pkg)
	}
	if err := c.target.Device().Uninstall(ctx, pkg); err != nil {
		return c.target.Final(loss.Infrastructure, err)
	}
	return nil
}

// put installs a package: an APK file, or several of one app. It returns the metrics
// of what it installed.
func (c *collector) put(ctx context.Context, pkg string, files ...string) (sizes map[string]float64, err error) {
	there, err := workload.IsInstalled(ctx, c.target.Device(), pkg)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		if pkg != "" && !there {
			return nil, workload.NotInstalled(pkg)
		}
		return nil, nil
	}
	note := func(chosen []string) error { return c.noteInstall(ctx, pkg, chosen, there) }
	if sizes, err = install.APKs(ctx, c.target, files, note); err != nil {
		return nil, err
	}
	return sizes, c.installed(ctx, pkg, there, files[0])
}

// putForAll installs a package that every other may see.
func (c *collector) putForAll(ctx context.Context, of workload.Needed) error {
	if of.APK == "" {
		_, err := c.put(ctx, of.Package)
		return err
	}
	there, err := workload.IsInstalled(ctx, c.target.Device(), of.Package)
	if err != nil {
		return err
	}
	if err := c.noteInstall(ctx, of.Package, []string{of.APK}, there); err != nil {
		return err
	}
	if err := install.ForAll(ctx, c.target, of.APK); err != nil {
		return err
	}
	return c.installed(ctx, of.Package, there, of.APK)
}

// installed has a package taken off again at the end that was not there before, and
// looks whether it is the one that was meant.
func (c *collector) installed(ctx context.Context, pkg string, before bool, file string) error {
	if pkg == "" || before {
		return nil
	}
	if what := "uninstall " + pkg; !c.job.KeepInstalled && !c.target.Undoes(what) {
		c.target.UndoLater(what, func(ctx context.Context) error { return c.target.Device().Uninstall(ctx, pkg) })
	}
	there, err := workload.IsInstalled(ctx, c.target.Device(), pkg)
	if err == nil && !there {
		err = c.target.Final(loss.Configuration, fmt.Errorf("install %s: it holds another package than %s, which apkgate.yml names", file, pkg))
	}
	return err
}

// noteInstall notes on the device that a package is about to be put there that was not
// there before the run, with the sizes of all its files so far.
func (c *collector) noteInstall(ctx context.Context, pkg string, files []string, there bool) error {
	if pkg == "" || there || c.job.KeepInstalled {
		return nil
	}
	if c.sizes == nil {
		c.sizes = map[string][]string{}
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil { // else it can't be installed either
			c.sizes[pkg] = append(c.sizes[pkg], strconv.FormatInt(info.Size(), 10))
		}
	}
	return c.target.Record(ctx, ":", target.Change{Kind: target.Package, Name: pkg, Put: strings.Join(c.sizes[pkg], ",")})
}

// profileProperty makes Android before 6 keep the times of frames. It is read
// when a process starts.
const profileProperty = "debug.hwui.profile"

// unlock dismisses the lock screen. Behind one that asks for a PIN an app draws nothing;
// where energy is measured, it may have nothing to draw.
func (c *collector) unlock(ctx context.Context) error {
	err := c.target.Unlock(ctx)
	if c.job.Energy.Measured() && errors.Is(err, target.ErrLocked) {
		c.journal.Warnf("%v: an app behind it draws nothing (%s)", err, device.HintLock)
		return nil
	}
	return err
}

// configure sets what a restart of the device undoes.
func (c *collector) configure(ctx context.Context) error {
	if err := c.lightUp(ctx); err != nil {
		return err
	}
	if err := c.unlock(ctx); err != nil {
		return err
	}
	if err := c.holdRefreshRate(ctx); err != nil {
		return err
	}
	if !c.target.Facts.HasFramestats() {
		if err := c.target.ChangeProperty(ctx, profileProperty, "true", "false"); err != nil {
			return err
		}
	}
	if c.meter != nil { // again, after the device was lost
		if err := errors.Join(c.programs.EndAll(ctx), c.meter.Restore(ctx)); err != nil {
			return err
		}
	} else if c.evident || c.timeline {
		if err := c.programs.EndAll(ctx); err != nil {
			return err
		}
	}
	return c.target.SetNetwork(ctx, c.job.Network)
}

// tearDown leaves the device as it was found, and gives it up.
func (c *collector) tearDown(ctx context.Context) {
	if c.release != nil {
		defer c.release()
	}
	c.target.Journal = c.journal
	c.target.TearDown(ctx, c.job.App.Package)
	c.recording.Close()
}
