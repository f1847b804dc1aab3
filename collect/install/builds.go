package install

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// Installer installs a build and its test on one device.
type Installer struct {
	Target   *target.Target
	App      config.App
	Scenario config.Scenario
	// Clean installs the build anew, without the data of another.
	Clean bool
	// Keep leaves what was installed on the device.
	Keep bool
	// Sizes are the file sizes of packages that were installed on the device, in bytes; the
	// installers of a device share them.
	Sizes map[string][]string

	// Metrics are the build's own, once it is installed: the same in each repetition.
	Metrics map[string]float64
	// Granted are the app's runtime permissions as it was installed.
	Granted []string
}

// Install installs the APKs. Packages that were not there before are uninstalled at the end.
func (b *Installer) Install(ctx context.Context) error {
	if err := b.warnVerifier(ctx); err != nil {
		return err
	}
	if err := b.InstallApp(ctx); err != nil {
		return err
	}
	if err := b.installTest(ctx); err != nil {
		return err
	}
	for _, of := range workload.Orchestra(b.Scenario.Workload, b.App) {
		if err := b.putForAll(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// installTest installs the test APK, for a workload that can use it.
func (b *Installer) installTest(ctx context.Context) error {
	w, file := b.Scenario.Workload, b.App.TestAPK
	pkg := workload.TestPackage(w)
	switch {
	case file == "":
		_, err := b.put(ctx, pkg)
		return err
	case pkg != "":
		_, err := b.put(ctx, pkg, file)
		return err
	case w.Shell != nil: // its script may run the tests
		return b.putUnnamed(ctx, file)
	}
	return nil
}

// putUnnamed installs an APK without a configured package name: the new package is the APK's.
func (b *Installer) putUnnamed(ctx context.Context, file string) error {
	before, err := b.packages(ctx)
	if err != nil {
		return err
	}
	if _, err := b.put(ctx, "", file); err != nil {
		return err
	}
	after, err := b.packages(ctx)
	if err != nil {
		return err
	}
	for _, pkg := range after {
		if slices.Contains(before, pkg) {
			continue
		}
		if err := b.noteInstall(ctx, pkg, []string{file}, false); err != nil {
			return err
		}
		if err := b.installed(ctx, pkg, false, file); err != nil {
			return err
		}
	}
	return nil
}

// packages returns the installed packages.
func (b *Installer) packages(ctx context.Context) (names []string, err error) {
	text, err := b.Target.Output(ctx, "pm", "list", "packages")
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

// warnVerifier reports what an installation may silently wait for, for minutes.
func (b *Installer) warnVerifier(ctx context.Context) error {
	if b.App.APK == "" && b.App.TestAPK == "" {
		return nil
	}
	out, err := b.Target.Ask(ctx, device.InstallsQuery)
	if err != nil {
		return fmt.Errorf("check whether apps from adb are verified: %w", err)
	}
	if device.InstallsChecked(string(out.Stdout)) {
		b.Target.Journal.Report(journal.SetUp, 0, 0, "installing: the device verifies apps from adb, so it may refuse, or ask on its screen")
	}
	return nil
}

// InstallApp installs the build itself, and records its permissions.
func (b *Installer) InstallApp(ctx context.Context) error {
	if b.Clean {
		if err := b.clear(ctx); err != nil {
			return err
		}
	}
	sizes, err := b.put(ctx, b.App.Package, b.App.APKs()...)
	if err != nil {
		return err
	}
	if err := b.noteSizes(ctx, sizes); err != nil {
		return err
	}
	return b.readPermissions(ctx)
}

// noteSizes records the size of the build, once.
func (b *Installer) noteSizes(ctx context.Context, sizes map[string]float64) error {
	if sizes == nil || b.Metrics != nil {
		return nil
	}
	b.Metrics = sizes
	installed, known, err := Installed(ctx, b.Target, b.App.Package)
	if known {
		b.Metrics["apk.installed_bytes"] = float64(installed)
	}
	return err
}

// clear uninstalls the app with its data, which can't be restored.
func (b *Installer) clear(ctx context.Context) error {
	pkg := b.App.Package
	there, err := workload.IsInstalled(ctx, b.Target.Device(), pkg)
	switch {
	case err != nil:
		return err
	case !there:
		return nil
	case !b.Target.Undoes("uninstall " + pkg):
		b.Target.Journal.Warnf("%s was on the device: it was removed with its data, so that each build starts from nothing", pkg)
	}
	if err := b.Target.Device().Uninstall(ctx, pkg); err != nil {
		return b.Target.Final(loss.Infrastructure, err)
	}
	return nil
}

// put installs a package: an APK file, or several of one app. It returns the metrics of what it
// installed.
func (b *Installer) put(ctx context.Context, pkg string, files ...string) (sizes map[string]float64, err error) {
	there, err := workload.IsInstalled(ctx, b.Target.Device(), pkg)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		if pkg != "" && !there {
			return nil, workload.NotInstalled(pkg)
		}
		return nil, nil
	}
	note := func(chosen []string) error { return b.noteInstall(ctx, pkg, chosen, there) }
	if sizes, err = APKs(ctx, b.Target, files, note); err != nil {
		return nil, err
	}
	return sizes, b.installed(ctx, pkg, there, files[0])
}

// putForAll installs a package that every other may see.
func (b *Installer) putForAll(ctx context.Context, of workload.Needed) error {
	if of.APK == "" {
		_, err := b.put(ctx, of.Package)
		return err
	}
	there, err := workload.IsInstalled(ctx, b.Target.Device(), of.Package)
	if err != nil {
		return err
	}
	if err := b.noteInstall(ctx, of.Package, []string{of.APK}, there); err != nil {
		return err
	}
	if err := ForAll(ctx, b.Target, of.APK); err != nil {
		return err
	}
	return b.installed(ctx, of.Package, there, of.APK)
}

// installed uninstalls a new package at the end of the run, and checks that it is the configured
// one.
func (b *Installer) installed(ctx context.Context, pkg string, before bool, file string) error {
	if pkg == "" || before {
		return nil
	}
	if what := "uninstall " + pkg; !b.Keep && !b.Target.Undoes(what) {
		b.Target.UndoLater(what, func(ctx context.Context) error { return b.Target.Device().Uninstall(ctx, pkg) })
	}
	there, err := workload.IsInstalled(ctx, b.Target.Device(), pkg)
	if err == nil && !there {
		err = b.Target.Final(loss.Configuration, fmt.Errorf("install %s: it contains another package than %s, which apkgate.yml names", file, pkg))
	}
	return err
}

// noteInstall records on the device that a new package is about to be installed, with the sizes of
// all its files so far.
func (b *Installer) noteInstall(ctx context.Context, pkg string, files []string, there bool) error {
	if pkg == "" || there || b.Keep {
		return nil
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil { // else it can't be installed either
			b.Sizes[pkg] = append(b.Sizes[pkg], strconv.FormatInt(info.Size(), 10))
		}
	}
	return b.Target.Record(ctx, ":", target.Change{Kind: target.Package, Name: pkg, Put: strings.Join(b.Sizes[pkg], ",")})
}
