// Package gradle reads what a Macrobenchmark needs from a Gradle project: which module tests which
// app, the names of their APKs, and which emulators Gradle would boot.
//
// It owns the forms of build files, in Kotlin and in Groovy, as far as they are literal. It does
// not run Gradle and evaluates nothing: values of variables, version catalogs, convention plugins
// and conditions are unknown. Unknown values are reported and left to the user, and never guessed.
package gradle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Project is what was found.
type Project struct {
	Benchmark *Module // of Macrobenchmarks; nil: there is none
	App       *Module // that it tests, or the only app; nil: unknown
	Emulators []Emulator
	// Left are the unknown values, in sentences.
	Left []string
}

// Module is one module of the project.
type Module struct {
	Path string // ":feature:app"
	file string // its build file
	// Namespace, ApplicationID and Runner are "" unless they are literal.
	Namespace, ApplicationID, Runner string
	// Target is the path of the module that it tests, "" for none.
	Target string
	// BuildTypes and Flavors are those that its file names, in their order; Plugins the ids and
	// aliases of its plugins.
	BuildTypes, Flavors, Plugins []string
	// SelfInstrumenting reports that the test runs in its own process.
	SelfInstrumenting bool
	macro             bool // it depends on androidx.benchmark's macro
	suffixes          map[string]string
	emulators         []Emulator
}

// Emulator is a Gradle-managed emulator.
type Emulator struct {
	Name   string // in the build file, such as pixel6Api34
	Device string // Android Studio's name: "Pixel 6"
	API    string // "34"
	Source string // the source of its system image: "google", "aosp-atd"
}

// Limits on what is read.
const (
	maxFile    = 1 << 20 // bytes
	maxModules = 500
	maxFound   = 100 // emulators, build types, flavors
	maxLeft    = 50
)

var modulePath = regexp.MustCompile(`^:?[A-Za-z0-9_.-]{1,100}(:[A-Za-z0-9_.-]{1,100}){0,9}$`)

// Is reports whether the folder is the root of a Gradle project.
func Is(root fs.FS) bool {
	_, name, err := readOne(root, "settings.gradle.kts", "settings.gradle")
	return err == nil && name != ""
}

// Read reads the project with this root folder.
func Read(root fs.FS) (Project, error) {
	text, name, err := readOne(root, "settings.gradle.kts", "settings.gradle")
	switch {
	case err != nil:
		return Project{}, err
	case name == "":
		return Project{}, errors.New("it has neither settings.gradle.kts nor settings.gradle")
	}
	settings, err := parse(text)
	if err != nil {
		return Project{}, fmt.Errorf("read %s: %w", name, err)
	}
	var p Project
	var modules []*Module
	paths := included(settings)
	if len(paths) > maxModules {
		p.leave("the project has more than %d modules, and no more are looked at", maxModules)
		paths = paths[:maxModules]
	}
	for _, at := range append([]string{":"}, paths...) {
		m, err := readModule(root, at)
		switch {
		case err != nil:
			p.leave("the module %s is not looked at: %v", prose.Short(at), err)
		case m != nil:
			modules = append(modules, m)
		}
	}
	p.choose(modules)
	if ownPlugins(root, settings) {
		p.leave("the project has plugins of its own (includeBuild or buildSrc), which may add flavors and build types: compare app.apk and app.test-apk with what the build makes")
	}
	return p, nil
}

// ownPlugins reports whether the project builds plugins for itself.
func ownPlugins(root fs.FS, settings block) (has bool) {
	settings.each(func(_ []string, b block) {
		has = has || len(b.head) > 0 && b.head[0].text == "includeBuild"
	})
	info, err := fs.Stat(root, "buildSrc")
	return has || err == nil && info.IsDir()
}

func (p *Project) leave(format string, args ...any) {
	if len(p.Left) < maxLeft {
		p.Left = append(p.Left, prose.Clip(prose.OneLine(fmt.Sprintf(format, args...)), 300))
	}
}

// included returns the paths of the modules that the settings include.
func included(settings block) (out []string) {
	settings.each(func(_ []string, b block) {
		if len(out) > maxModules || len(b.head) == 0 || b.head[0].text != "include" || b.head[0].kind != word {
			return
		}
		for _, t := range b.head[1:] {
			if len(out) <= maxModules && t.kind == text && modulePath.MatchString(t.text) {
				if at := ":" + strings.TrimPrefix(t.text, ":"); !slices.Contains(out, at) {
					out = append(out, at)
				}
			}
		}
	})
	return out
}

// folder returns where a module is, by Gradle's convention.
func (m Module) folder() string { return folderOf(m.Path) }

func folderOf(at string) string {
	return path.Clean(strings.ReplaceAll(strings.TrimPrefix(at, ":"), ":", "/"))
}

// name returns the module's own name, with which its APKs begin.
func (m Module) name() string { return m.Path[strings.LastIndexByte(m.Path, ':')+1:] }

// readOne reads the first of the files that exists; name is "" if none does.
func readOne(root fs.FS, names ...string) (data, name string, err error) {
	for _, name := range names {
		f, err := root.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", "", fmt.Errorf("read %s: %w", name, err)
		}
		if len(data) > maxFile {
			return "", "", fmt.Errorf("%s is larger than %d KiB", name, maxFile>>10)
		}
		return string(data), name, nil
	}
	return "", "", nil
}

// choose finds the module of Macrobenchmarks and the app.
func (p *Project) choose(modules []*Module) {
	var tests, apps []*Module
	for _, m := range modules {
		switch {
		case m.Target != "":
			tests = append(tests, m)
		case m.ApplicationID != "" || slices.Contains(m.Plugins, "com.android.application"):
			apps = append(apps, m)
		}
		for _, e := range m.emulators {
			if !slices.Contains(p.Emulators, e) && len(p.Emulators) < maxFound {
				p.Emulators = append(p.Emulators, e)
			}
		}
	}
	slices.SortStableFunc(tests, func(a, b *Module) int { return b.fitness() - a.fitness() })
	if len(tests) > 0 {
		p.Benchmark = tests[0]
		for _, m := range modules {
			if m.Path == p.Benchmark.Target {
				p.App = m
			}
		}
		if p.Benchmark.Target == unknown && len(apps) == 1 {
			p.App = apps[0]
			p.leave("which app %s tests is not written down plainly (targetProjectPath): %s is the only one, and is taken", p.Benchmark.Path, p.App.Path)
		}
		for _, other := range tests[1:] {
			p.leave("the module %s tests an app too (%s), and is left out", other.Path, other.Target)
		}
		return
	}
	if len(apps) == 1 {
		p.App = apps[0]
	}
	p.leave("no module says which app it tests (targetProjectPath), as one of Macrobenchmarks does")
}

// fitness is how much a test module looks like one of Macrobenchmarks.
func (m Module) fitness() (n int) {
	if m.macro {
		n += 2
	}
	if m.SelfInstrumenting || slices.Contains(m.BuildTypes, "benchmark") {
		n++
	}
	return n
}
