package collect

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/install"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/device"
)

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
	if err := c.installTest(ctx); err != nil {
		return err
	}
	for _, of := range workload.Orchestra(c.job.Scenario.Workload, c.job.App) {
		if err := c.putForAll(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// installTest puts the test APK on the device, for a workload that can use it.
func (c *collector) installTest(ctx context.Context) error {
	w, file := c.job.Scenario.Workload, c.job.App.TestAPK
	pkg := workload.TestPackage(w)
	switch {
	case file == "":
		_, err := c.put(ctx, pkg)
		return err
	case pkg != "":
		_, err := c.put(ctx, pkg, file)
		return err
	case w.Shell != nil: // its script may run the tests
		return c.putUnnamed(ctx, file)
	}
	return nil
}

// putUnnamed installs an APK whose package nobody names: it is the one that is new.
func (c *collector) putUnnamed(ctx context.Context, file string) error {
	before, err := c.packages(ctx)
	if err != nil {
		return err
	}
	if _, err := c.put(ctx, "", file); err != nil {
		return err
	}
	after, err := c.packages(ctx)
	if err != nil {
		return err
	}
	for _, pkg := range after {
		if slices.Contains(before, pkg) {
			continue
		}
		if err := c.noteInstall(ctx, pkg, []string{file}, false); err != nil {
			return err
		}
		if err := c.installed(ctx, pkg, false, file); err != nil {
			return err
		}
	}
	return nil
}

// packages are those on the device.
func (c *collector) packages(ctx context.Context) (names []string, err error) {
	text, err := c.target.Output(ctx, "pm", "list", "packages")
	if err != nil {
		return nil, fmt.Errorf("list the packages on the device: %w", err)
	}
	for line := range strings.Lines(text) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "package:"); is {
			names = append(names, name)
		}
	}
	return names, nil
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

// hasRuntimePermissions: they came with Android 6.
func hasRuntimePermissions(f target.Facts) bool { return f.API >= 23 }

// readPermissions notes what the app may do as it is installed: pm clear takes it
// away in each repetition (PackageManagerService, resetRuntimePermissions).
func (c *collector) readPermissions(ctx context.Context) error {
	between := workload.ClearsBetween(c.job.Scenario.Workload)
	if !c.job.Scenario.ClearData && !between || !hasRuntimePermissions(c.target.Facts) {
		return nil
	}
	text, err := c.target.Output(ctx, "dumpsys", "package", c.job.App.Package)
	if err != nil {
		return fmt.Errorf("read the permissions of %s: %w", c.job.App.Package, err)
	}
	c.granted = grantedPermissions(text)
	if between && len(c.granted) > 0 {
		c.journal.Warnf("clearPackageData takes the app's permissions away before each test, and nobody but the test can give them again in between (GrantPermissionRule): %s; or leave it out and set clear-data: true, which grants them again",
			strings.Join(c.granted, ", "))
	}
	return nil
}

var grantedLine = regexp.MustCompile(`^([\w.]{1,200}): granted=true\b`)

// maxPermissions bounds what one app is granted.
const maxPermissions = 200

// grantedPermissions are the runtime permissions that dumpsys package says the first
// user has granted, which is the user that pm clear and pm grant act on. Those of other
// users, and of the package that a system app's update hides, stand behind them.
func grantedPermissions(text string) (granted []string) {
	text, _, _ = strings.Cut(text, "Hidden system packages:")
	inFirst, inRuntime := true, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "User "):
			inFirst, inRuntime = strings.HasPrefix(line, "User 0:"), false
		case strings.HasSuffix(line, "permissions:"):
			inRuntime = line == "runtime permissions:"
		case inFirst && inRuntime && len(granted) < maxPermissions:
			if m := grantedLine.FindStringSubmatch(line); m != nil {
				granted = append(granted, m[1])
			}
		}
	}
	return granted
}

// grantAgain gives the app the permissions that it had when it was installed.
func (c *collector) grantAgain(ctx context.Context) error {
	for _, name := range c.granted {
		out, err := c.target.Exec(ctx, "pm", "grant", c.job.App.Package, name)
		if err != nil {
			return fmt.Errorf("grant %s again: %w", name, err)
		}
		if refused := target.Answered("grant "+name+" again, which clearing the app's data took away", out, nil); refused != nil {
			c.journal.Warnf("%v: the app may ask for it", refused)
		}
	}
	return nil
}
