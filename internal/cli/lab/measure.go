package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/stores"
	"github.com/apkgate/apkgate/run"
)

// CollectFlags say what is measured, beside the configuration.
type CollectFlags struct {
	Apk, Version, Commit, Ref, Session string
	Scenarios                          []string
	Parallel                           int
	Profiles                           string   // the folder of profiles, where not the configuration's; no flag
	Evidence                           Evidence // no flag
}

func (f *CollectFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Apk, "apk", "", "the APK to measure, instead of the configuration's")
	cmd.Flags().StringVar(&f.Version, "app-version", "", "the version to note, instead of what the device says")
	cmd.Flags().StringVar(&f.Commit, "commit", "", "the commit the app was built from (default: GITHUB_SHA)")
	cmd.Flags().StringVar(&f.Ref, "ref", "", "the branch or tag of the commit (default: GITHUB_REF)")
	cmd.Flags().StringVar(&f.Session, "session", "", "a name for what is measured side by side")
	cmd.Flags().StringArrayVar(&f.Scenarios, "scenario", nil, "only this scenario; may be repeated")
	cmd.Flags().IntVar(&f.Parallel, "parallel", 0, "how many devices work at the same time (0: all)")
}

// apply lets the flags change the configuration.
func (f CollectFlags) apply(cfg *config.Config) error {
	if f.Apk != "" {
		cfg.App.APK = f.Apk
	}
	if f.Version != "" {
		cfg.App.Version = f.Version
	}
	if f.Parallel < 0 {
		return exit.Usage(fmt.Errorf("--parallel is %d, want 0 or more", f.Parallel), "")
	}
	ProfilesTo(f.Profiles, cfg.Energy)
	return OnlyScenarios(cfg, f.Scenarios)
}

func originOf(c console.Console, f CollectFlags) Origin {
	or := func(value, variable string) string {
		if value != "" {
			return value
		}
		return c.Getenv(variable)
	}
	return Origin{
		Source:  run.Source{Repository: c.Getenv("GITHUB_REPOSITORY"), Commit: or(f.Commit, "GITHUB_SHA"), Ref: or(f.Ref, "GITHUB_REF")},
		Session: f.Session,
	}
}

func Config(c console.Console, path string, f CollectFlags) (*config.Config, error) {
	cfg, err := settings.LoadConfig(path, false)
	if err != nil {
		return nil, err
	}
	if err := f.apply(cfg); err != nil {
		return nil, err
	}
	return cfg, FilesThere(cfg)
}

// FilesThere looks for the files and commands that the configuration names, and
// whether the APKs are those that it speaks of, before any device is kept waiting
// for them.
func FilesThere(cfg *config.Config) error {
	named := []struct{ key, path string }{{"app.apk", cfg.App.APK}, {"app.test-apk", cfg.App.TestAPK}}
	if cfg.Energy.Measured() {
		named = append(named, struct{ key, path string }{"energy.power-profile", cfg.Energy.PowerProfile}, struct{ key, path string }{"app.mapping", cfg.App.Mapping})
	}
	for i, s := range cfg.Scenarios {
		at := fmt.Sprintf("scenarios[%d].workload.", i)
		switch w := s.Workload; {
		case w.Shell != nil:
			named = append(named, struct{ key, path string }{at + "shell.script", w.Shell.Script})
		case w.Maestro != nil:
			named = append(named, struct{ key, path string }{at + "maestro.flow", w.Maestro.Flow})
		}
	}
	var problems []error
	for _, file := range named {
		if file.path == "" {
			continue
		}
		if _, err := os.Stat(file.path); err != nil {
			problems = append(problems, exit.Usage(fmt.Errorf("%s: %w", file.key, files.Error("find", file.path, err)), "build it first, or correct the path in the configuration"))
		}
	}
	if cfg.Energy.Measured() && len(problems) == 0 {
		if _, _, err := power.ModelOf(cfg.Energy.PowerProfile); err != nil {
			problems = append(problems, exit.Usage(fmt.Errorf("energy.power-profile: %w", err), "name a device's power_profile.xml, or none for the reference phone"))
		}
	}
	return errors.Join(append(problems, maestroThere(cfg), apksFit(cfg))...)
}

// maestroThere looks for the command that a Maestro flow needs.
func maestroThere(cfg *config.Config) error {
	for i, s := range cfg.Scenarios {
		if s.Workload.Maestro == nil {
			continue
		}
		if _, err := exec.LookPath(maestro); err != nil {
			return exit.Usage(fmt.Errorf("scenarios[%d].workload.maestro: find the command %s on this computer: %w", i, maestro, errors.Unwrap(err)),
				"install Maestro, or add the folder of its command to PATH, as a rule ~/.maestro/bin")
		}
	}
	return nil
}

// maestro is the command that collect runs for a Maestro flow.
const maestro = "maestro"

// Measure makes the runs of a configuration. keep is given each as soon as it is
// there, so that an interrupt loses none that was whole.
func Measure(ctx context.Context, c console.Console, cfg *config.Config, f CollectFlags, keep func(run.Run) error) (results []collect.Result, err error) {
	profiles, err := KeepProfiles(cfg.Energy)
	if err != nil {
		return nil, err
	}
	devices, closing, err := Ready(ctx, c, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	keeper, err := f.Evidence.keeper(c)
	if err != nil {
		return nil, exit.Infrastructure(err)
	}
	defer func() { err = errors.Join(err, exit.InfrastructureIf(keeper.close())) }()
	todo := Jobs(cfg, devices, originOf(c, f))
	shown := NewProgress(c, todo)
	defer shown.Clear()
	var kept error
	lab := collect.Lab{
		Jobs: todo, Parallel: f.Parallel,
		Options: collect.Options{Host: Host(c), Evidence: keeper.taking(), Progress: shown, Now: c.Now},
		Finished: func(r collect.Result) {
			if keep != nil && keepable(r) {
				if err := keep(r.Run); kept == nil { // the first says enough
					kept = err
				}
			}
			if keepable(r) {
				keeper.finished(context.WithoutCancel(ctx), r.Run)
			}
			profiles.Keep(r, "")
			shown.Finished(r) // now that it is kept
		},
	}
	results = lab.Collect(ctx)
	if err := NameRuns(results); err != nil {
		return nil, err
	}
	shown.Clear()
	return results, errors.Join(kept, profiles.Told(c.Stderr))
}

// MeasureInto makes the runs of a configuration and keeps each in the store as soon
// as it is there; nil keeps none. lost is why some are missing: it does not hold up
// the others, but where there is none at all, it is the error.
func MeasureInto(ctx context.Context, c console.Console, cfg *config.Config, f CollectFlags, store baseline.Store) (runs []run.Run, lost, err error) {
	results, err := Measure(ctx, c, cfg, f, func(r run.Run) error {
		if store == nil {
			return nil
		}
		if _, err := store.Add(context.WithoutCancel(ctx), r); err != nil {
			return stores.Error(err)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	lost = LossOf(results)
	if runs = MeasuredRuns(results); len(runs) == 0 {
		return nil, nil, cmp.Or(lost, exit.Infrastructure(errors.New("nothing was measured")))
	}
	return runs, lost, nil
}

// keepable reports whether a result holds a run to keep: one of which something
// was measured, or one that the app or its test ended, which says so. Where the
// device or the configuration let it down there is nothing to keep.
func keepable(r collect.Result) bool {
	return r.Run.Status != run.Failed || loss.IsWorkload(r.Err)
}

// NameRuns gives each run that is kept its id.
func NameRuns(results []collect.Result) (err error) {
	for i := range results {
		if !keepable(results[i]) {
			continue
		}
		if results[i].Run, err = results[i].Run.Named(); err != nil {
			return exit.Infrastructure(fmt.Errorf("name the run of %s: %w", results[i].Device, err))
		}
	}
	return nil
}

// RunsOf are the runs that are kept and judged.
func RunsOf(results []collect.Result) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		for _, r := range results {
			if keepable(r) && !yield(r.Run, nil) {
				return
			}
		}
	}
}

// JSONLines writes the runs as a history file.
func JSONLines(results []collect.Result) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := baseline.WriteJSONL(w, RunsOf(results))
		return err
	}
}

// LossOf is the gravest reason why a run is lost, with its exit status: 3 where
// the infrastructure failed, 2 where the configuration is wrong. What the app or
// its test ended is no loss: the verdict on its run tells it.
func LossOf(results []collect.Result) error {
	var configured error
	for _, r := range results {
		switch {
		case r.Err == nil || loss.IsWorkload(r.Err):
		case !loss.IsConfiguration(r.Err):
			return lost(exit.StatusInfrastructure, r)
		case configured == nil:
			configured = lost(exit.StatusUsage, r)
		}
	}
	return configured
}

// EndedOf is why a run came to no good end by itself, where no verdict tells it.
func EndedOf(results []collect.Result) error {
	for _, r := range results {
		if loss.IsWorkload(r.Err) {
			return lost(exit.StatusInfrastructure, r)
		}
	}
	return nil
}

func lost(status int, r collect.Result) error {
	hint := ""
	var hinted interface{ Hint() string }
	if errors.As(r.Err, &hinted) {
		hint = hinted.Hint()
	}
	return exit.WithStatus(status, fmt.Errorf("%s, scenario %s%s: %w", r.Device, r.Run.Scenario, repetitionOf(r.Err), r.Err), hint)
}

// repetitionOf names the repetition in which a run was lost, where it was in one.
func repetitionOf(err error) string {
	var lost *loss.Error
	if errors.As(err, &lost) && lost.Repetition > 0 {
		return fmt.Sprintf(", repetition %d", lost.Repetition)
	}
	return ""
}

// MeasuredRuns are the runs that are kept and judged.
func MeasuredRuns(results []collect.Result) []run.Run {
	var out []run.Run
	for r := range RunsOf(results) {
		out = append(out, r)
	}
	return out
}
