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

// project is what init knows of the project that it writes a configuration for.
type project struct {
	found, guessed, left []string
	// fill are the keys to fill in, build is the command that builds the APKs; "" if there are.
	fill  []string
	build string
}

// fromGradle fills in what a Gradle project contains. Flags take precedence. Without a folder it
// reads the current one, if that is the root of a project and no flag names the app.
func fromGradle(dir string, w gradle.Wanted, o *config.InitOptions) (project, error) {
	asked := dir != "" || w.Module != "" || w.Variant != ""
	if !asked && (o.Package != "" || o.APK != "" || o.TestAPK != "" || o.TestPackage != "") {
		return missing(*o), nil
	}
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		if !asked {
			return missing(*o), nil
		}
		return project{}, exit.Usage(fmt.Errorf("read the Gradle project: %w", err), "")
	}
	defer root.Close()
	if !asked && !gradle.Is(root.FS()) {
		return missing(*o), nil
	}
	read, err := gradle.Read(root.FS())
	if err != nil {
		return project{}, exit.Usage(fmt.Errorf("read the Gradle project in %s: %w", terminal.Plain(dir), err), "name the app by --package, --apk and --test-apk instead")
	}
	w.Class = o.Class
	plan, err := read.Plan(w)
	if err != nil {
		return project{}, exit.Usage(fmt.Errorf("choose what to measure of the Gradle project: %w", err), "")
	}
	return fillIn(o, plan), nil
}

// missing is what a configuration lacks where no project says it.
func missing(o config.InitOptions) (p project) {
	if o.Package == "" {
		p.fill = append(p.fill, "app.package")
	}
	if o.APK == "" {
		p.fill = append(p.fill, "app.apk")
	}
	if len(p.fill) == 2 {
		p.left = append(p.left, "no Gradle project is here to read: apkgate init --force --apk FILE reads the package of an APK")
	}
	return p
}

// fillIn sets what was found unless a flag is given.
func fillIn(o *config.InitOptions, plan gradle.Plan) project {
	p := project{found: plan.Found, guessed: plan.Guessed, left: plan.Left, build: plan.Command}
	given := map[string]bool{"app.package": o.Package != "", "app.apk": o.APK != "", "test-package": o.TestPackage != ""}
	for _, key := range plan.Fill {
		if !given[key] {
			p.fill = append(p.fill, key)
		}
	}
	for _, v := range []struct {
		to    *string
		found string
	}{{&o.Package, plan.Package}, {&o.APK, plan.APK}, {&o.TestAPK, plan.TestAPK}, {&o.TestPackage, plan.TestPackage}, {&o.Runner, plan.Runner}, {&o.Class, plan.Class}} {
		if *v.to == "" {
			*v.to = v.found
		}
	}
	o.Macrobenchmark = plan.Workload == gradle.Macrobenchmark
	if o.Scenario == "" {
		o.Scenario = scenarioOf(plan)
	}
	for _, e := range plan.Emulators {
		d, why := managed(e)
		if why != "" {
			p.left = append(p.left, "the emulator "+prose.Short(e.Name)+" is left out: "+why)
			continue
		}
		o.Devices = append(o.Devices, d)
		p.found = append(p.found, fmt.Sprintf("Gradle's emulator %s, as %s with Android %s (%s); where the SDK lacks its image, apkgate doctor says how to install it", d.Name, d.AVD.Model, d.AVD.Android, d.AVD.Image))
	}
	return p
}

// scenarioOf names the scenario after what drives the app: ScrollInboxTest is scroll-inbox.
func scenarioOf(plan gradle.Plan) string {
	switch plan.Workload {
	case gradle.Macrobenchmark:
		return "macrobenchmark"
	case gradle.Connected:
		class, _, _ := strings.Cut(plan.Class, "#")
		name := strings.TrimSuffix(class[strings.LastIndexByte(class, '.')+1:], "Test")
		if words := strings.ToLower(strings.Trim(capitals.ReplaceAllString(name, "-$1"), "-")); words != "" {
			return words
		}
	}
	return "cold-start"
}

var capitals = regexp.MustCompile(`([A-Z]+[a-z0-9]*)`)

// print prints what was found, what was guessed, and what the user has to do.
func (p project) print(c terminal.Console) {
	for _, list := range []struct {
		lead      string
		sentences []string
	}{{"found", p.found}, {"guessed", p.guessed}, {"left", p.left}} {
		for _, s := range list.sentences {
			fmt.Fprintln(c.Stderr, terminal.Plain(list.lead+": "+s))
		}
	}
	if p.build != "" {
		fmt.Fprintln(c.Stderr, terminal.Plain("build it with: "+p.build))
	}
}

// next returns what to do with the configuration.
func (p project) next(configuration string) string {
	var steps []string
	if len(p.fill) > 0 {
		steps = append(steps, "fill in "+prose.List(p.fill))
	}
	if p.build != "" {
		steps = append(steps, "build the APKs")
	}
	with := ""
	if configuration != config.FileName {
		with = " --config " + terminal.Plain(configuration)
	}
	return strings.Join(append(steps, "apkgate doctor"+with, "apkgate run"+with), ", then ")
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
