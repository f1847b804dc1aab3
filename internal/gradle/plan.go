package gradle

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Workload is what drives the app.
type Workload int

const (
	Startup        Workload = iota // the start of the app, which needs no test
	Connected                      // a class of tests that drive the app
	Macrobenchmark                 // a module of Macrobenchmarks
)

// Wanted is what the user has chosen; empty is left to Plan.
type Wanted struct {
	Module  string // of the application: ":app"
	Variant string // "demoRelease"
	Class   string // a class of tests, or class#method
}

// Plan is what can be measured of the project.
type Plan struct {
	Workload Workload
	// Package is the app's, TestPackage the test's; "" if unknown.
	Package, TestPackage string
	// Runner is the test's runner, "" for the default one; Class is the connected test.
	Runner, Class string
	// APK and TestAPK are where the build puts them or has put them, relative to the root.
	APK, TestAPK string
	// Command builds what is not built yet; "" if all is.
	Command   string
	Emulators []Emulator
	// Found, Guessed and Left are sentences: what the files say, what follows by convention alone,
	// and what they don't say. Fill are the keys of the configuration to fill in.
	Found, Guessed, Left, Fill []string
	// tasks are those of Command.
	tasks []string
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)

// Plan returns what to measure: Macrobenchmarks if there are any, else a connected test, else the
// start. The error is a choice that the project does not have.
func (p *Project) Plan(w Wanted) (Plan, error) {
	var plan Plan
	for _, m := range p.modules {
		for _, e := range m.emulators {
			if !slices.Contains(plan.Emulators, e) && len(plan.Emulators) < maxFound {
				plan.Emulators = append(plan.Emulators, e)
			}
		}
	}
	for _, doubt := range p.doubts {
		plan.note(&plan.Left, "%s", doubt)
	}
	app, err := p.chooseApp(w.Module, &plan)
	if err != nil {
		return plan, err
	}
	tests := p.chooseTests(app, w.Class, &plan)
	v, err := p.chooseVariant(app, tests, w.Variant, &plan)
	if err != nil {
		return plan, err
	}
	p.planApp(app, v, w.Variant != "", &plan)
	p.planTests(app, tests, v, w.Variant != "", &plan)
	if len(plan.tasks) > 0 {
		plan.Command = "./gradlew " + strings.Join(plan.tasks, " ")
	}
	if len(plan.tasks) > 0 && p.ownPlugins {
		plan.note(&plan.Guessed, "the APKs are where the build files alone put them: the project has plugins of its own (buildSrc, includeBuild), which may add flavors and build types. Build once, and apkgate init --force reads where they are")
	}
	if *p.tree.left <= 0 {
		plan.note(&plan.Left, "no more than %d files are looked at: tests or APKs of the project may be missing here", maxEntries)
	}
	return plan, nil
}

// note adds a sentence of limited length to a list of limited length.
func (plan *Plan) note(to *[]string, format string, args ...any) {
	if len(*to) < maxNotes {
		*to = append(*to, prose.Clip(prose.OneLine(fmt.Sprintf(format, args...)), 300))
	}
}

// fill notes a key of the configuration that the user has to fill in, and why.
func (plan *Plan) fill(key, format string, args ...any) {
	plan.note(&plan.Left, format+": fill in "+key, args...)
	if !slices.Contains(plan.Fill, key) {
		plan.Fill = append(plan.Fill, key)
	}
}

// planApp fills in the app's APK and package.
func (p *Project) planApp(app *Module, v variant, chosen bool, plan *Plan) {
	if app == nil {
		return
	}
	if built, ok := p.outputOf(app, v, false, chosen); ok {
		plan.Package, plan.APK = built.applicationID, built.file
		plan.note(&plan.Found, "the application %s (%s), whose variant %s is built", app.Path, built.applicationID, built.variant)
		return
	}
	plan.APK = app.apk(v, false)
	plan.tasks = append(plan.tasks, app.task(v, false))
	plan.Package = p.applicationID(app, v, plan)
	if plan.Package != "" {
		plan.note(&plan.Found, "the application %s (%s)", app.Path, plan.Package)
	} else {
		plan.note(&plan.Found, "the application %s", app.Path)
	}
	if len(v.flavors) > len(app.flavors) && plan.Package != "" {
		plan.note(&plan.Guessed, "app.package is %s, without a suffix that the flavor of %s may add: build it, and apkgate init --force reads it", plan.Package, v)
	}
	isFlavors := func(id string) bool { return strings.Contains(strings.ToLower(id), "flavor") }
	if i := slices.IndexFunc(app.plugins, isFlavors); i >= 0 && len(v.flavors) == 0 {
		plan.note(&plan.Left, "the plugin %s of %s adds flavors that are not written down plainly: --variant names one, such as demo%s", app.plugins[i], app.Path, capital(v.build))
	}
	if app.renames || app.archive == unknown {
		plan.note(&plan.Guessed, "app.apk is %s, but the build names its APKs itself (archivesName, outputFileName): build it, and apkgate init --force reads where it is", plan.APK)
	}
	if strings.HasSuffix(plan.APK, "-unsigned.apk") {
		plan.note(&plan.Left, "the build type %s of %s has no signingConfig, and no device installs an APK without one: give it one, such as signingConfigs.getByName(\"debug\"), and remove -unsigned from app.apk", v.build, app.Path)
	}
}

// applicationID returns the id of a variant, with the suffixes of its flavors and its build type.
func (p *Project) applicationID(app *Module, v variant, plan *Plan) string {
	id := app.applicationID
	for _, f := range slices.Backward(v.flavors) {
		if f.applicationID != "" {
			id = f.applicationID
		}
	}
	if id == "" {
		id = app.namespace
	}
	if !identifier.MatchString(id) {
		plan.fill("app.package", "the applicationId of %s is not written down plainly", app.Path)
		return ""
	}
	ofType, _ := app.inherits(v.build)
	suffixes := []string{app.suffix}
	for _, f := range v.flavors {
		suffixes = append(suffixes, f.suffix)
	}
	for _, suffix := range append(suffixes, ofType) {
		switch {
		case suffix == unknown:
			plan.fill("app.package", "the applicationIdSuffix of %s is not written down plainly, and %s is without it", v, id)
		case suffix != "":
			id += "." + strings.TrimPrefix(suffix, ".")
		}
	}
	if !identifier.MatchString(id) {
		plan.fill("app.package", "%s is no application id", prose.Short(id))
		return ""
	}
	return id
}

// planTests fills in what drives the app.
func (p *Project) planTests(app *Module, t tests, v variant, chosen bool, plan *Plan) {
	plan.Workload = t.workload
	if t.workload == Startup {
		return
	}
	m := t.module
	ofApp := m == app
	if build := cmp.Or(m.testType, "debug"); ofApp && build != unknown && v.build != build {
		plan.note(&plan.Left, "Gradle builds the connected tests of %s for the build type %s alone: set testBuildType = \"%s\" in it, or measure a variant of %s", m.Path, build, v.build, build)
	}
	if t.workload == Connected && t.silent {
		plan.note(&plan.Left, "%s has no line that marks a UI event, and reports show the whole run alone: apkgate init --events prints such lines", t.class)
	}
	if plan.Runner = m.runner; m.runner == unknown {
		plan.Runner = ""
		plan.fill("runner", "the testInstrumentationRunner of %s is not written down plainly", m.Path)
	}
	if !ofApp { // for a module without flavors missingDimensionStrategy chooses the app's
		v.flavors = slices.DeleteFunc(slices.Clone(v.flavors), func(f flavor) bool {
			return !slices.ContainsFunc(m.flavors, func(own flavor) bool { return own.name == f.name })
		})
		if t.workload == Macrobenchmark {
			v.build = p.benchmarkType(m, app)
		}
	}
	plan.Class = t.class
	if built, ok := p.outputOf(m, v, ofApp, chosen); ok {
		plan.TestPackage, plan.TestAPK = built.applicationID, built.file
		return
	}
	plan.TestAPK = m.apk(v, ofApp)
	plan.tasks = append(plan.tasks, m.task(v, ofApp))
	id := m.testID
	for _, f := range v.flavors {
		if f.testID != "" {
			id = f.testID
		}
	}
	switch {
	case id != "":
	case ofApp && plan.Package != "":
		id = plan.Package + ".test"
	case !ofApp && m.applicationID != "":
		id = m.applicationID
	case !ofApp:
		id = m.namespace
	}
	if plan.TestPackage = id; !identifier.MatchString(id) {
		plan.TestPackage = ""
		plan.fill("test-package", "the package of the tests of %s is not written down plainly", m.Path)
	}
}
