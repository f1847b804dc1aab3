package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
)

// collectFlags say what is measured, beside the configuration.
type collectFlags struct {
	apk, version, commit, ref, session string
	scenarios                          []string
	parallel                           int
	profiles                           string // the folder of profiles, where not the configuration's; no flag
}

func (f *collectFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.apk, "apk", "", "the APK to measure, instead of the configuration's")
	cmd.Flags().StringVar(&f.version, "app-version", "", "the version to note, instead of what the device says")
	cmd.Flags().StringVar(&f.commit, "commit", "", "the commit the app was built from (default: GITHUB_SHA)")
	cmd.Flags().StringVar(&f.ref, "ref", "", "the branch or tag of the commit (default: GITHUB_REF)")
	cmd.Flags().StringVar(&f.session, "session", "", "a name for what is measured side by side")
	cmd.Flags().StringArrayVar(&f.scenarios, "scenario", nil, "only this scenario; may be repeated")
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "how many devices work at the same time (0: all)")
}

// apply lets the flags change the configuration.
func (f collectFlags) apply(cfg *config.Config) error {
	if f.apk != "" {
		cfg.App.APK = f.apk
	}
	if f.version != "" {
		cfg.App.Version = f.version
	}
	if f.parallel < 0 {
		return usage(fmt.Errorf("--parallel is %d, want 0 or more", f.parallel), "")
	}
	profilesTo(f.profiles, cfg.Energy)
	return onlyScenarios(cfg, f.scenarios)
}

func (c Command) origin(f collectFlags) origin {
	or := func(value, variable string) string {
		if value != "" {
			return value
		}
		return c.Getenv(variable)
	}
	return origin{
		source:  run.Source{Repository: c.Getenv("GITHUB_REPOSITORY"), Commit: or(f.commit, "GITHUB_SHA"), Ref: or(f.ref, "GITHUB_REF")},
		session: f.session,
	}
}

func (c Command) collectVerb() *cobra.Command {
	var cf configFlags
	var f collectFlags
	var out string
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Measure, without comparing",
		Long: `Runs the scenarios of apkgate.yml on its devices and writes the runs as JSON
Lines. apkgate check compares them later, or elsewhere.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.collectConfig(cf.config, f)
			if err != nil {
				return err
			}
			if err := keepsInput([]string{out}, []string{cf.file(), cfg.App.APK, cfg.App.TestAPK}); err != nil {
				return err
			}
			if out != "" && out != "-" && !special(out) {
				if err := writable(filepath.Dir(out)); err != nil {
					return err
				}
			}
			results, err := c.measure(cmd.Context(), cfg, f, nil)
			if err != nil {
				return err
			}
			write := jsonLines(results)
			if out == "" || out == "-" {
				err = write(c.Stdout)
			} else {
				err = writeFile(out, write)
			}
			return errors.Join(infrastructureIf(err), cmp.Or(lossOf(results), endedOf(results)))
		},
	}
	cmd.Flags().StringVar(&cf.config, "config", "", "the configuration (default apkgate.yml)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write (default: standard output)")
	f.register(cmd)
	return cmd
}

func (c Command) collectConfig(path string, f collectFlags) (*config.Config, error) {
	cfg, err := loadConfig(path, false)
	if err != nil {
		return nil, err
	}
	if err := f.apply(cfg); err != nil {
		return nil, err
	}
	return cfg, filesThere(cfg)
}

// filesThere looks for the files and commands that the configuration names, and
// whether the APKs are those that it speaks of, before any device is kept waiting
// for them.
func filesThere(cfg *config.Config) error {
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
			problems = append(problems, usage(fmt.Errorf("%s: %w", file.key, fileError("find", file.path, err)), "build it first, or correct the path in the configuration"))
		}
	}
	if cfg.Energy.Measured() && len(problems) == 0 {
		if _, _, err := power.ModelOf(cfg.Energy.PowerProfile); err != nil {
			problems = append(problems, usage(fmt.Errorf("energy.power-profile: %w", err), "name a device's power_profile.xml, or none for the reference phone"))
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
			return usage(fmt.Errorf("scenarios[%d].workload.maestro: find the command %s on this computer: %w", i, maestro, errors.Unwrap(err)),
				"install Maestro, or add the folder of its command to PATH, as a rule ~/.maestro/bin")
		}
	}
	return nil
}

// maestro is the command that collect runs for a Maestro flow.
const maestro = "maestro"

// measure makes the runs of a configuration. keep is given each as soon as it is
// there, so that an interrupt loses none that was whole.
func (c Command) measure(ctx context.Context, cfg *config.Config, f collectFlags, keep func(run.Run) error) (results []collect.Result, err error) {
	profiles, err := keepProfiles(cfg.Energy)
	if err != nil {
		return nil, err
	}
	devices, closing, err := c.lab(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	todo := jobs(cfg, devices, c.origin(f))
	shown := c.progress(todo)
	defer shown.clear()
	var kept error
	lab := collect.Lab{
		Jobs: todo, Parallel: f.parallel,
		Options: collect.Options{Host: c.host(), Progress: shown, Now: c.Now},
		Finished: func(r collect.Result) {
			if keep != nil && keepable(r) {
				if err := keep(r.Run); kept == nil { // the first says enough
					kept = err
				}
			}
			profiles.keep(r, "")
			shown.finished(r) // now that it is kept
		},
	}
	results = lab.Collect(ctx)
	if err := nameRuns(results); err != nil {
		return nil, err
	}
	shown.clear()
	return results, errors.Join(kept, profiles.told(c.Stderr))
}

// keepable reports whether a result holds a run to keep: one of which something
// was measured, or one that the app or its test ended, which says so. Where the
// device or the configuration let it down there is nothing to keep.
func keepable(r collect.Result) bool {
	return r.Run.Status != run.Failed || loss.IsWorkload(r.Err)
}

// nameRuns gives each run that is kept its id.
func nameRuns(results []collect.Result) (err error) {
	for i := range results {
		if !keepable(results[i]) {
			continue
		}
		if results[i].Run, err = results[i].Run.Named(); err != nil {
			return infrastructure(fmt.Errorf("name the run of %s: %w", results[i].Device, err))
		}
	}
	return nil
}

// runsOf are the runs that are kept and judged.
func runsOf(results []collect.Result) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		for _, r := range results {
			if keepable(r) && !yield(r.Run, nil) {
				return
			}
		}
	}
}

// jsonLines writes the runs as a history file.
func jsonLines(results []collect.Result) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := baseline.WriteJSONL(w, runsOf(results))
		return err
	}
}

// lossOf is the gravest reason why a run is lost, with its exit status: 3 where
// the infrastructure failed, 2 where the configuration is wrong. What the app or
// its test ended is no loss: the verdict on its run tells it.
func lossOf(results []collect.Result) error {
	var configured error
	for _, r := range results {
		switch {
		case r.Err == nil || loss.IsWorkload(r.Err):
		case !loss.IsConfiguration(r.Err):
			return lost(exitInfrastructure, r)
		case configured == nil:
			configured = lost(exitUsage, r)
		}
	}
	return configured
}

// endedOf is why a run came to no good end by itself, where no verdict tells it.
func endedOf(results []collect.Result) error {
	for _, r := range results {
		if loss.IsWorkload(r.Err) {
			return lost(exitInfrastructure, r)
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
	return withStatus(status, fmt.Errorf("%s, scenario %s%s: %w", r.Device, r.Run.Scenario, repetitionOf(r.Err), r.Err), hint)
}

// repetitionOf names the repetition in which a run was lost, where it was in one.
func repetitionOf(err error) string {
	var lost *loss.Error
	if errors.As(err, &lost) && lost.Repetition > 0 {
		return fmt.Sprintf(", repetition %d", lost.Repetition)
	}
	return ""
}
