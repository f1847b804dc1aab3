// Package farms measures on a device farm: a command's runs, each scenario in a matrix on all
// kinds of phones (Lab), and two builds side by side, in each round a matrix of either build,
// begun together, of the same Macrobenchmark on the same kinds of phones (Both).
//
// It owns the matrices and rounds, what they may cost, and how their results become runs that
// are judged as any others are. Package device/farm and those below it speak with the farm.
//
// It takes a stand: a round is one observation of each build, however often a benchmark
// looked, since its repetitions share a phone and its heat; it counts only where both builds
// have it; and the comparison reports what a farm does not say.
package farms

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/apk/splits"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Builds are two builds, and how they are measured.
type Builds struct {
	Base, Head     string // APK files
	BaseFrom, From run.Source
	Rounds         int
	Session        string
}

// Pair is what was measured of both builds.
type Pair struct {
	Base, Head []run.Run
	// Notes say what the farm does not tell, and what it has cost.
	Notes []string
	// Warnings are of the rounds that are left out.
	Warnings []run.Warning
	// Loss is why something is missing of what was to be measured.
	Loss error
	site *site
}

// Told is a comparison of both with what is to be said of the farm.
func (p Pair) Told(in layout.ComparisonInput) layout.ComparisonInput {
	in.Notes = slices.Concat(in.Notes, p.Notes)
	in.Verdict.Warnings = slices.Concat(in.Verdict.Warnings, p.Warnings)
	return in
}

// Both measures both builds on the farm of a configuration. The error is of what left
// nothing to compare.
func Both(ctx context.Context, c terminal.Console, cfg *config.Config, b Builds) (Pair, error) {
	if err := fits(cfg, b); err != nil {
		return Pair{}, err
	}
	at, err := open(ctx, c, cfg, b.Session)
	if err != nil {
		return Pair{}, err
	}
	m := &measuring{site: at, builds: b}
	if err := m.affordable(2*b.Rounds*len(cfg.Scenarios), "--rounds, "); err != nil {
		return Pair{}, err
	}
	m.all(ctx)
	m.say("%s", m.took())
	if err := context.Cause(ctx); err != nil {
		return Pair{}, err
	}
	return m.pair()
}

// fits looks whether a farm can measure what the configuration names.
func fits(cfg *config.Config, b Builds) error {
	if cfg.Farm == nil {
		return exit.Usage(errors.New("the configuration names no farm"), "add the section farm: docs/farms.md")
	}
	var problems []error
	refuse := func(hint, format string, args ...any) {
		problems = append(problems, exit.Usage(fmt.Errorf(format, args...), hint))
	}
	if cfg.App.TestAPK == "" {
		refuse("name the APK of the Macrobenchmark", "a farm installs the test: app.test-apk is missing")
	}
	for _, path := range []string{b.Base, b.Head, cfg.App.TestAPK} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			problems = append(problems, exit.Usage(atomicfile.Error("read", path, err), ""))
		} else if err := onlyOne(path); err != nil {
			problems = append(problems, exit.Usage(err, "name one APK that has all in it, as Gradle's assemble makes it"))
		}
	}
	for _, s := range cfg.Scenarios {
		if s.Workload.Benchmark() == nil {
			refuse("choose others with --scenario, or make it one", "scenario %s is no Macrobenchmark: there is no adb to the phones of a farm, so that only a test that measures by itself can be run there", prose.Short(s.Name))
		}
	}
	return errors.Join(problems...)
}

// onlyOne refuses what is no single APK.
func onlyOne(path string) error {
	if splits.Chooses([]string{path}) {
		return fmt.Errorf("%s: a farm takes one APK, no folder and no archive of them", terminal.Plain(path))
	}
	return nil
}
