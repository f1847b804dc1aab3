package setup

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/gradle"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// fromGradle fills in what a Gradle project contains, and prints what it found and what it left
// open. Flags take precedence. Without a folder it reads the current one, if that is the root of a
// project and no flag names the app.
func fromGradle(c terminal.Console, dir string, o *config.InitOptions) error {
	asked := dir != ""
	if !asked {
		if o.Package != "" || o.APK != "" || o.TestAPK != "" || o.TestPackage != "" {
			return nil
		}
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		if !asked {
			return nil
		}
		return exit.Usage(fmt.Errorf("read the Gradle project: %w", err), "")
	}
	defer root.Close()
	if !asked && !gradle.Is(root.FS()) {
		return nil
	}
	p, err := gradle.Read(root.FS())
	if err != nil {
		return exit.Usage(fmt.Errorf("read the Gradle project in %s: %w", terminal.Plain(dir), err), "name the app by --package, --apk and --test-apk instead")
	}
	b := p.Build()
	fillIn(o, p, b)
	for _, e := range p.Emulators {
		d, why := managed(e)
		if why != "" {
			p.Left = append(p.Left, "the emulator "+prose.Short(e.Name)+" is left out: "+why)
			continue
		}
		o.Devices = append(o.Devices, d)
	}
	printGradle(c, p, b, o.Devices)
	return nil
}

// fillIn sets what was found unless a flag is given.
func fillIn(o *config.InitOptions, p gradle.Project, b gradle.Built) {
	for _, v := range []struct {
		to    *string
		found string
	}{{&o.Package, b.Package}, {&o.APK, b.APK}, {&o.TestAPK, b.TestAPK}, {&o.TestPackage, b.TestPackage}, {&o.Runner, b.Runner}} {
		if *v.to == "" {
			*v.to = v.found
		}
	}
	if o.Macrobenchmark = p.Benchmark != nil; o.Macrobenchmark && o.Scenario == "" {
		o.Scenario = "macrobenchmark"
	}
}

// printGradle prints what was found, and what the user has to do.
func printGradle(c terminal.Console, p gradle.Project, b gradle.Built, devices []config.Device) {
	say := func(format string, args ...any) { fmt.Fprintln(c.Stderr, terminal.Plain(fmt.Sprintf(format, args...))) }
	switch {
	case p.Benchmark != nil && p.App != nil:
		say("found: the Macrobenchmark module %s, which tests %s", p.Benchmark.Path, p.App.Path)
	case p.Benchmark != nil:
		say("found: the Macrobenchmark module %s", p.Benchmark.Path)
	case p.App != nil:
		say("found: the app %s", p.App.Path)
	}
	for _, d := range devices {
		if d.AVD != nil {
			say("found: Gradle's emulator %s, as %s with Android %s (%s); where the SDK lacks its image, apkgate doctor says how to install it", d.Name, d.AVD.Model, d.AVD.Android, d.AVD.Image)
		}
	}
	for _, left := range p.Left {
		say("left: %s", left)
	}
	if b.Command != "" {
		say("build it with: %s", b.Command)
	}
}

// images are the kinds of system images, by Gradle's names of their sources
// (ManagedVirtualDevice.systemImageSource); others are the SDK's own.
var images = map[string]string{"google": "google_apis", "google-atd": "google_atd", "aosp": "default", "aosp-atd": "aosp_atd"}

var (
	levels = regexp.MustCompile(`^[0-9]{2}$`)
	own    = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
)

// managed returns a Gradle-managed emulator as apkgate boots it; why is what is wrong with it.
func managed(e gradle.Emulator) (d config.Device, why string) {
	image, known := images[e.Source]
	if !known {
		image = e.Source
	}
	switch {
	case e.Device == "" || !levels.MatchString(e.API):
		return d, "its device and apiLevel are not both written down plainly"
	case !own.MatchString(image):
		return d, "its systemImageSource is not written down plainly"
	}
	return config.Device{Name: e.Name, Labs: config.Labs{AVD: &config.AVD{Model: modelID(e.Device), Android: e.API, Image: image}}}, ""
}

// modelID returns avdmanager's id of a device by its name in Android Studio: "Pixel 6 Pro" is
// pixel_6_pro, and a Nexus has its name as the id (devices.xml of the SDK's tools).
func modelID(name string) string {
	for _, line := range []string{"Pixel", "Small ", "Medium ", "Resizable"} {
		if strings.HasPrefix(name, line) {
			return strings.ToLower(strings.ReplaceAll(name, " ", "_"))
		}
	}
	return name
}
