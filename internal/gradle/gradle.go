// Package gradle reads from a Gradle project what a run of its app needs: the application module,
// its id and variants, the tests that drive it, where its APKs are or will be, and the emulators
// that Gradle would boot.
//
// It owns the forms of build files, in Kotlin and in Groovy, of version catalogs, and of the list
// of outputs that the Android plugin writes. It does not run Gradle: literals, names that are
// assigned a literal in the same project, applied scripts and precompiled plugins are followed;
// functions, conditions and compiled plugins are not. What follows from a convention alone is
// reported as a guess, and what is unknown is left to the user.
package gradle

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Project is a Gradle project, as far as it can be read.
type Project struct {
	tree    tree
	modules []*Module
	catalog catalog
	// shared are the names that the root's build file and gradle.properties assign.
	shared map[string]string
	// scripts are the precompiled plugins of the project, by their ids; ownPlugins reports that it
	// has plugins of its own, whichever these are.
	scripts    map[string]string
	ownPlugins bool
	doubts     []string
	fit        map[*Module]int // of modules that were looked at: how surely they have Macrobenchmarks
}

// Module is one module of the project.
type Module struct {
	Path string // ":feature:app"
	dir  string // its folder, "." for the root's
	// namespace, applicationID, testID, runner and testType are "" where they are not given, and
	// unknown where they are not literal.
	namespace, applicationID, testID, runner, testType string
	// target is the path of the module that it tests, "" for none.
	target string
	// archive is the name with which its APKs begin, "" for the module's.
	archive string
	// suffix is that of defaultConfig, signed whether that has a signing configuration.
	suffix  string
	signed  bool
	types   []buildType
	flavors []flavor
	// dimensions are the flavors' dimensions, in their order.
	dimensions []string
	plugins    []string // ids, where they are known, else aliases
	emulators  []Emulator
	// selfInstruments reports that the test runs in its own process, macro that it depends on
	// Macrobenchmark.
	selfInstruments, macro bool
	// renames reports that the build gives the APKs names of its own.
	renames bool
	names   map[string]string // that its files assign
	applied int               // scripts that were followed
	doubts  []string
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
	maxModules = 500
	maxFound   = 100 // emulators, build types, flavors, plugins
	maxNotes   = 50
	maxApplied = 20 // scripts, of one module
)

// unknown stands for a value that is given and can't be read.
const unknown = "?"

// Is reports whether the folder is the root of a Gradle project.
func Is(root fs.FS) bool {
	_, name, err := newTree(root).first("settings.gradle.kts", "settings.gradle")
	return err == nil && name != ""
}

// Read reads the project with this root folder.
func Read(root fs.FS) (*Project, error) {
	p := &Project{tree: newTree(root), shared: map[string]string{}, fit: map[*Module]int{}}
	text, name, err := p.tree.first("settings.gradle.kts", "settings.gradle")
	switch {
	case err != nil:
		return nil, err
	case name == "":
		return nil, errors.New("it has neither settings.gradle.kts nor settings.gradle")
	}
	settings, doubt, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	p.doubt(name, doubt)
	p.readCatalog()
	p.readProperties()
	p.readPlugins(settings)
	included := includedIn(settings)
	if len(included) > maxModules {
		p.doubts = append(p.doubts, fmt.Sprintf("the project has more than %d modules, and no more are looked at", maxModules))
		included = included[:maxModules]
	}
	for _, at := range append([]place{{":", "."}}, included...) {
		m, err := p.readModule(at)
		switch {
		case err != nil:
			p.doubts = append(p.doubts, fmt.Sprintf("the module %s is not looked at: %v", prose.Short(at.path), err))
		case m != nil:
			p.modules = append(p.modules, m)
			p.doubts = append(p.doubts, m.doubts...)
		}
	}
	for _, m := range p.modules {
		m.target = p.modulePath(m.target)
	}
	return p, nil
}

// doubt notes that a file could be read in part only.
func (p *Project) doubt(file, why string) {
	if why != "" {
		p.doubts = append(p.doubts, file+": "+why+"; it is read as far as possible")
	}
}

// place is a module's path and its folder.
type place struct{ path, dir string }

// includedIn returns the modules that the settings include, with their folders: by Gradle's
// convention, or where project(":a").projectDir = file("x") puts them.
func includedIn(settings block) (out []place) {
	settings.each(func(_ []string, b block) {
		if len(b.head) == 0 || b.head[0].kind != word {
			return
		}
		texts := textsOf(b.head)
		switch {
		case b.head[0].text == "include":
			for _, t := range texts {
				at := ":" + strings.TrimPrefix(t, ":")
				known := slices.ContainsFunc(out, func(p place) bool { return p.path == at })
				if len(out) <= maxModules && modulePath.MatchString(t) && !known {
					out = append(out, place{at, folderOf(at)})
				}
			}
		case b.head[0].text == "project" && len(texts) == 2 && b.says("projectDir"):
			for i := range out {
				if out[i].path == texts[0] {
					out[i].dir = path.Clean(strings.TrimPrefix(strings.TrimPrefix(texts[1], "$rootDir/"), "${rootDir}/"))
				}
			}
		}
	})
	return out
}

// folderOf returns where a module is by convention.
func folderOf(at string) string {
	return path.Clean(strings.ReplaceAll(strings.TrimPrefix(at, ":"), ":", "/"))
}

// name returns the module's own name.
func (m *Module) name() string { return m.Path[strings.LastIndexByte(m.Path, ':')+1:] }

// has reports whether the module has a plugin with this id.
func (m *Module) has(id string) bool { return slices.Contains(m.plugins, id) }
