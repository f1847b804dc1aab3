package validate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/apk"
	"github.com/apkgate/apkgate/internal/apk/splits"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// apkFacts are the facts that an APK file contains.
type apkFacts struct {
	path string
	apk.Manifest
	// mayHave reports whether a class may be in it; true if unknown.
	mayHave func(class string) bool
	// benchmarks returns the classes of Macrobenchmarks in it; an error if unknown.
	benchmarks func() ([]string, error)
}

// apksFit checks that the APKs are those that the configuration describes. A file that can't be
// read as an APK is left to the device.
func apksFit(cfg *config.Config) error {
	var problems []error
	var app apkFacts
	parts := partsOf(cfg.App.APKs())
	for _, path := range parts {
		part, known := apkFactsOf(path)
		app = part
		if known && part.Package != cfg.App.Package {
			problems = append(problems, exit.Usage(fmt.Errorf("%s is the app %s, and app.package in the configuration is %s", terminal.Plain(part.path), prose.Short(part.Package), cfg.App.Package),
				"app.package is the applicationId of the build that is measured"))
			break
		}
	}
	if len(parts) != 1 && cfg.App.APK != "" { // the class may be in any of them
		app.mayHave = func(string) bool { return true }
	}
	test, tested := apkFactsOf(cfg.App.TestAPK)
	for i, s := range cfg.Scenarios {
		if w := s.Workload.Instrumentation; w != nil && tested {
			at := fmt.Sprintf("scenarios[%d].workload.instrumentation", inFile(cfg, i))
			problems = append(problems, testFits(at, *w, test, app))
		}
	}
	return errors.Join(problems...)
}

// Untraceable reports whether the app's own sections are missing from traces on a retail phone, as
// far as its APKs show: none of them is a debug build or profileable by the shell.
func Untraceable(app config.App) bool {
	known := false
	for _, path := range partsOf(app.APKs()) {
		if facts, ok := apkFactsOf(path); ok {
			if facts.Traceable() {
				return false
			}
			known = true
		}
	}
	return known
}

// partsOf returns the APK files that can be read: those that are named, or those of a folder.
// Archives are left to the device.
func partsOf(paths []string) []string {
	if !splits.Chooses(paths) {
		return paths
	}
	names, err := splits.InFolder(paths[0])
	if err != nil {
		return nil
	}
	for i, name := range names {
		names[i] = filepath.Join(paths[0], name)
	}
	return names
}

// testFits checks that a workload's test is in the test APK.
func testFits(at string, w config.Instrumentation, test, app apkFacts) error {
	runner := apk.Class(w.TestPackage, w.Runner)
	if runner == "" {
		runner = config.DefaultRunner
	}
	switch {
	case test.Package != w.TestPackage:
		return exit.Usage(fmt.Errorf("%s: %s is the package %s, and test-package is %s", at, terminal.Plain(test.path), prose.Short(test.Package), w.TestPackage),
			"test-package is the testApplicationId, as a rule the app's with .test")
	case !slices.Contains(test.Runners, runner):
		return exit.Usage(fmt.Errorf("%s: %s has no runner %s, but %s", at, terminal.Plain(test.path), runner, orNone(test.Runners)), "runner is the testInstrumentationRunner")
	}
	for class := range strings.SplitSeq(w.Class, ",") {
		class, _, _ = strings.Cut(strings.TrimSpace(class), "#")
		if class != "" && !test.mayHave(class) && (app.mayHave == nil || !app.mayHave(class)) {
			return exit.Usage(fmt.Errorf("%s: there is no class %s in %s", at, prose.Short(class), terminal.Plain(test.path)), "correct class, or build the test APK that has it")
		}
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return prose.Short(strings.Join(names, ", "))
}

// apkFactsOf reads an APK, or a simulated app. ok is false for other files.
func apkFactsOf(path string) (_ apkFacts, ok bool) {
	if path == "" {
		return apkFacts{}, false
	}
	if app := simulatedApp(path); app != nil {
		facts := apkFacts{path: path, Manifest: apk.Manifest{
			Package: app.Package, Runners: []string{app.Runner}, Debuggable: app.Power.Debuggable, Shell: !app.Power.Unprofileable,
		}}
		facts.mayHave = func(class string) bool {
			return slices.ContainsFunc(app.TestCases, func(t simapp.TestCase) bool { return t.Class == class })
		}
		facts.benchmarks = func() (classes []string, _ error) {
			for _, t := range app.TestCases {
				if t.Iterations > 0 && !slices.Contains(classes, t.Class) {
					classes = append(classes, t.Class)
				}
			}
			return classes, nil
		}
		return facts, true
	}
	manifest, err := apk.ReadManifest(path)
	if err != nil {
		return apkFacts{}, false
	}
	return apkFacts{
		path: path, Manifest: manifest,
		mayHave: func(class string) bool {
			has, err := apk.MayHave(class, path)
			return has || err != nil
		},
		benchmarks: func() ([]string, error) { return apk.Benchmarks(path) },
	}, true
}

// simulatedApp reads a simulated app, nil if the file is none.
func simulatedApp(path string) *simapp.App {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, simapp.MaxBytes+1))
	if err != nil || !simapp.Is(data) {
		return nil
	}
	app, err := simapp.Parse(data)
	if err != nil {
		return nil
	}
	return app
}

// Identity returns the package of an APK, and the runners of its tests if it has any; ok is false for
// a file that can't be read as one.
func Identity(path string) (pkg string, runners []string, ok bool) {
	facts, ok := apkFactsOf(path)
	return facts.Package, facts.Runners, ok
}
