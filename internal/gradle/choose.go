package gradle

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// tests are what drives the app.
type tests struct {
	workload Workload
	module   *Module // that has the tests; nil for the start
	class    string
	silent   bool // the class marks no UI events
}

// chooseApp returns the application to measure, nil if there is none.
func (p *Project) chooseApp(wanted string, plan *Plan) (*Module, error) {
	var apps []*Module
	var paths, guessed []string
	for _, m := range p.modules {
		if is, guess := p.isApplication(m); is {
			apps, paths = append(apps, m), append(paths, m.Path)
			if guess {
				guessed = append(guessed, m.Path)
			}
		}
	}
	if wanted != "" {
		i := slices.Index(paths, ":"+strings.TrimPrefix(wanted, ":"))
		if i < 0 && len(paths) == 0 {
			return nil, errors.New("no module of the project is known to be an application")
		}
		if i < 0 {
			return nil, fmt.Errorf("the applications of the project are %s", prose.Short(strings.Join(paths, ", ")))
		}
		return apps[i], nil
	}
	app := p.likeliest(apps)
	if app == nil {
		return nil, nil
	}
	if len(apps) > 1 {
		plan.note(&plan.Guessed, "of the applications %s, %s is measured: --module names another", strings.Join(paths, ", "), app.Path)
	}
	if slices.Contains(guessed, app.Path) {
		plan.note(&plan.Guessed, "%s is an application: its plugin's name says so (%s)", app.Path, strings.Join(app.plugins, ", "))
	}
	return app, nil
}

// likeliest returns the application that a Macrobenchmark tests, or the one that is named app or
// mobile, or the first.
func (p *Project) likeliest(apps []*Module) *Module {
	for _, m := range p.modules {
		i := slices.IndexFunc(apps, func(a *Module) bool { return a.Path == m.target })
		if i >= 0 && p.fitness(m) > 1 {
			return apps[i]
		}
		if i < 0 && m.target != "" && len(apps) == 0 { // its plugin is not known
			if i := slices.IndexFunc(p.modules, func(a *Module) bool { return a.Path == m.target }); i >= 0 {
				return p.modules[i]
			}
		}
	}
	for _, name := range []string{"app", "mobile", "phone"} {
		if i := slices.IndexFunc(apps, func(a *Module) bool { return a.name() == name }); i >= 0 {
			return apps[i]
		}
	}
	if len(apps) == 0 {
		return nil
	}
	return apps[0]
}

// fitness is how surely a test module has Macrobenchmarks: 0 is none.
func (p *Project) fitness(m *Module) int {
	if _, known := p.fit[m]; !known {
		p.fit[m] = p.fitnessOf(m)
	}
	return p.fit[m]
}

func (p *Project) fitnessOf(m *Module) int {
	classes, sources := p.macrobenchmarks(m)
	switch {
	case len(classes) > 0:
		return 3
	case sources:
		return 0
	case m.macro:
		return 2
	case m.selfInstruments || m.profiles() || slices.ContainsFunc(m.types, func(t buildType) bool { return t.name == "benchmark" }):
		return 1
	}
	return 0
}

// chooseTests returns what drives the app. class is the test that was chosen, if any.
func (p *Project) chooseTests(app *Module, class string, plan *Plan) tests {
	var modules []*Module
	for _, m := range p.modules {
		if m.target != "" && (app == nil || m.target == app.Path || m.target == unknown) {
			modules = append(modules, m)
		}
	}
	slices.SortStableFunc(modules, func(a, b *Module) int { return p.fitness(b) - p.fitness(a) })
	for i, m := range modules {
		if p.fitness(m) == 0 || class != "" && !p.hasBenchmark(m, class) {
			continue
		}
		p.sayTarget(m, app, plan)
		for _, other := range modules[i+1:] {
			plan.note(&plan.Found, "the module %s, which tests an app too and is left out", other.Path)
		}
		if !m.selfInstruments && !m.profiles() {
			plan.note(&plan.Left, "%s does not say that it instruments itself (experimentalProperties[\"android.experimental.self-instrumenting\"] = true), without which Macrobenchmark refuses to measure", m.Path)
		}
		return tests{workload: Macrobenchmark, module: m, class: class}
	}
	return p.connected(app, modules, class, plan)
}

// hasBenchmark reports whether a class, or class#method, is a Macrobenchmark of the module.
func (p *Project) hasBenchmark(m *Module, class string) bool {
	class, _, _ = strings.Cut(class, "#")
	classes, _ := p.macrobenchmarks(m)
	return slices.Contains(classes, class)
}

// sayTarget says which app the Macrobenchmarks test.
func (p *Project) sayTarget(m, app *Module, plan *Plan) {
	switch {
	case app != nil && m.target == unknown:
		plan.note(&plan.Guessed, "the Macrobenchmark module %s tests %s: its targetProjectPath is not written down plainly", m.Path, app.Path)
	case app != nil:
		plan.note(&plan.Found, "the Macrobenchmark module %s, which tests %s", m.Path, app.Path)
	case m.target == unknown:
		plan.note(&plan.Found, "the Macrobenchmark module %s", m.Path)
		plan.fill("app.apk", "which app %s tests is not written down plainly (targetProjectPath)", m.Path)
	default:
		plan.note(&plan.Found, "the Macrobenchmark module %s", m.Path)
		plan.fill("app.apk", "the module %s tests %s, whose build file is not found", m.Path, m.target)
	}
}

// connected returns the connected test to measure, or else the start.
func (p *Project) connected(app *Module, modules []*Module, class string, plan *Plan) tests {
	if app == nil {
		plan.fill("app.package", "no module of the project is known to be an application")
		plan.fill("app.apk", "its APK is unknown too")
		return tests{}
	}
	for _, m := range modules {
		list := p.connectedTests(path.Join(m.dir, "src/main"))
		if class != "" && slices.ContainsFunc(list, func(t test) bool { return strings.HasPrefix(class+"#", t.class+"#") }) {
			return tests{workload: Connected, module: m, class: class}
		}
		if class == "" && len(list) > 0 {
			return chosenTest(m, list, plan)
		}
	}
	if class != "" {
		return tests{workload: Connected, module: app, class: class}
	}
	if list := p.connectedTests(path.Join(app.dir, "src/androidTest")); len(list) > 0 {
		return chosenTest(app, list, plan)
	}
	plan.note(&plan.Guessed, "the app's cold start is measured: there is neither a Macrobenchmark nor a connected test that drives the app")
	return tests{}
}

func chosenTest(m *Module, list []test, plan *Plan) tests {
	if len(list) == 1 {
		plan.note(&plan.Found, "the connected test %s of %s", list[0].class, m.Path)
	} else {
		plan.note(&plan.Guessed, "of %d connected tests of %s that drive the app, %s is measured: --class names another, such as %s", len(list), m.Path, list[0].class, list[1].class)
	}
	return tests{Connected, m, list[0].class, !list[0].events}
}

// benchmarkType returns the build type of a module of Macrobenchmarks: its own, that of the plugin
// of baseline profiles, or else release.
func (p *Project) benchmarkType(m, app *Module) string {
	for _, t := range m.types {
		if t.name != "debug" && t.name != "release" {
			return t.name
		}
	}
	if m.profiles() || app != nil && app.profiles() {
		return "benchmarkRelease"
	}
	return "release"
}

// chooseVariant returns the variant of the app that is measured.
func (p *Project) chooseVariant(app *Module, t tests, wanted string, plan *Plan) (variant, error) {
	switch {
	case app == nil && t.module == nil:
		return variant{build: "release"}, nil
	case app == nil:
		return variant{build: p.benchmarkType(t.module, nil)}, nil
	case wanted != "":
		return p.variantNamed(app, wanted)
	}
	v := variant{p.buildType(app, t, plan), app.preferred()}
	for i, of := range app.byDimension() {
		if len(of) > 1 {
			var names []string
			for _, f := range of {
				names = append(names, f.name)
			}
			plan.note(&plan.Guessed, "of the flavors %s, %s is measured: --variant names another", strings.Join(names, ", "), v.flavors[i].name)
		}
	}
	return v, nil
}

// variantNamed returns the variant of a name. Flavors that only a plugin of the project's own knows
// are taken at their word.
func (p *Project) variantNamed(app *Module, wanted string) (variant, error) {
	var known []string
	each := [][]flavor{nil}
	for _, of := range app.byDimension() {
		var more [][]flavor
		for _, so := range each {
			for _, f := range of {
				if len(more) < maxFound {
					more = append(more, append(slices.Clone(so), f))
				}
			}
		}
		each = more
	}
	for _, flavors := range each {
		for _, build := range app.buildTypes() {
			v := variant{build, flavors}
			if strings.EqualFold(v.String(), wanted) {
				return v, nil
			}
			known = append(known, v.String())
		}
	}
	types := app.buildTypes()
	slices.SortFunc(types, func(a, b string) int { return len(b) - len(a) })
	for _, build := range types {
		if flavors, ok := strings.CutSuffix(wanted, capital(build)); ok && flavors != "" && p.ownPlugins && len(app.flavors) == 0 {
			return variant{build, []flavor{{name: flavors}}}, nil
		}
	}
	return variant{}, fmt.Errorf("the variants of %s are %s", app.Path, prose.Clip(strings.Join(known, ", "), 300))
}

// buildType returns the build type that is measured.
func (p *Project) buildType(app *Module, t tests, plan *Plan) string {
	switch t.workload {
	case Macrobenchmark:
		build := p.benchmarkType(t.module, app)
		switch {
		case build == "release":
			plan.note(&plan.Guessed, "the build type release is measured: no build type for benchmarks is written down in %s", t.module.Path)
		case !slices.Contains(app.buildTypes(), build) && !p.ownPlugins:
			plan.note(&plan.Guessed, "the build type release of %s is measured, which has none that is named %s", app.Path, build)
			return "release"
		}
		return build
	case Connected:
		if t.module == app && app.testType != "" && app.testType != unknown {
			return app.testType
		}
		plan.note(&plan.Guessed, "the build type debug is measured, which connected tests go with; it is slower than a release: testBuildType in %s sets another", app.Path)
		return "debug"
	}
	return p.startType(app, plan)
}

// startType returns the build type whose start is measured: one like the release that a device
// installs.
func (p *Project) startType(app *Module, plan *Plan) string {
	var others []string
	for _, name := range app.buildTypes() {
		if name != "debug" && name != "release" && !strings.HasPrefix(name, "nonMinified") {
			others = append(others, name)
		}
	}
	slices.SortStableFunc(others, func(a, b string) int {
		return order(strings.HasPrefix(b, "benchmark")) - order(strings.HasPrefix(a, "benchmark"))
	})
	candidates := append([]string{"release"}, others...)
	if len(others) > 0 && strings.HasPrefix(others[0], "benchmark") {
		candidates = append(others, "release")
	}
	for _, name := range candidates {
		if _, signed := app.inherits(name); signed {
			return name
		}
	}
	plan.note(&plan.Guessed, "the build type debug is measured, since release has no signingConfig for sure, and no device installs %s; a debug build is slower: give release one, such as signingConfigs.getByName(\"debug\")", app.apk(variant{"release", app.preferred()}, false))
	return "debug"
}

func order(first bool) int {
	if first {
		return 1
	}
	return 0
}
