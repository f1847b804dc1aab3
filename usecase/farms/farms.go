// Package farms measures on a device farm: a command's runs, each scenario in a matrix on all kinds
// of phones (Lab), and two builds side by side, in each round a matrix of either build, started
// together, of the same Macrobenchmark on the same kinds of phones (Both).
//
// It owns the matrices and rounds, their cost limits, and the conversion of their results into
// runs, which are judged like any others. Package device/farm and those below it talk to the farm.
//
// A round is one observation of each build, however many iterations a benchmark has, since its
// repetitions share a phone and its heat. It counts only if both builds have it. The comparison
// reports what a farm does not.
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

// Pair are the measurements of both builds.
type Pair struct {
	Base, Head []run.Run
	// Notes say what the farm does not report, and what it has cost.
	Notes []string
	// Warnings are of the rounds that are left out.
	Warnings []run.Warning
	// Loss is the reason that measurements are missing.
	Loss error
	site *site
}

// WithNotes adds the farm's notes and warnings to a comparison of both.
func (p Pair) WithNotes(in layout.ComparisonInput) layout.ComparisonInput {
	in.Notes = slices.Concat(in.Notes, p.Notes)
	in.Verdict.Warnings = slices.Concat(in.Verdict.Warnings, p.Warnings)
	return in
}

// Both measures both builds on the farm of a configuration. It returns an error if there is nothing
// to compare.
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

// fits checks whether a farm can measure the configuration.
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
			problems = append(problems, exit.Usage(err, "name one APK that contains everything, as Gradle's assemble builds it"))
		}
	}
	for _, s := range cfg.Scenarios {
		if s.Workload.Benchmark() == nil {
			refuse("choose others with --scenario, or make it one", "scenario %s is no Macrobenchmark: there is no adb to the phones of a farm, so only a test with its own measurements can run there", prose.Short(s.Name))
		}
	}
	return errors.Join(problems...)
}

// onlyOne refuses paths that are not a single APK.
func onlyOne(path string) error {
	if splits.Chooses([]string{path}) {
		return fmt.Errorf("%s: a farm takes one APK, no folder and no archive of them", terminal.Plain(path))
	}
	return nil
}
