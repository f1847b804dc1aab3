package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

// defaultRounds is the least even number of rounds in which a rank test can
// prove a change among some eighty comparisons.
const defaultRounds = 12

// maxRounds bounds --rounds as the configuration bounds repetitions.
const maxRounds = 1000

type compareFlags struct {
	configFlags
	policyFlags
	outputFlags
	importFlags
	base, head             string   // APK files
	baseRuns, headRuns     []string // files of runs
	baseCommit, headCommit string
	headRef                string // no flag
	scenarios              []string
	rounds, parallel       int
	keep                   string
	profiles               string // as of collectFlags
}

func (c Command) compareVerb() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare --base base.apk --head head.apk",
		Short: "Measure two builds in turns and compare them",
		Long: `Measures two APKs on the same devices in the order base, head, head, base, …, so
that heat and drift are the same for both, and says whether the head is worse: for
each metric and UI event the shift with its interval and a rank test, corrected
for the number of comparisons. No history is needed, and none is written.

With --base-run and --head-run it compares runs that were made elsewhere: files of
apkgate.run/1 records, androidx *-benchmarkData.json and what else check reads.`,
		Example: `  apkgate compare --base base.apk --head head.apk
  apkgate compare --base base.apk --head head.apk --rounds 20 --scenario open-message
  apkgate compare --base-run main.jsonl --head-run pr.jsonl --format markdown`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.compare(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "the APK to compare with")
	flags.StringVar(&f.head, "head", "", "the APK that may be worse")
	flags.StringArrayVar(&f.baseRuns, "base-run", nil, "a file of the base build's runs, instead of measuring; may be repeated")
	flags.StringArrayVar(&f.headRuns, "head-run", nil, "a file of the head build's runs, instead of measuring; may be repeated")
	flags.IntVar(&f.rounds, "rounds", defaultRounds, "how often each build is measured on each device")
	flags.StringArrayVar(&f.scenarios, "scenario", nil, "only this scenario; may be repeated")
	flags.StringVar(&f.baseCommit, "base-commit", "", "the commit the base was built from")
	flags.StringVar(&f.headCommit, "head-commit", "", "the commit the head was built from (default: GITHUB_SHA)")
	flags.IntVar(&f.parallel, "parallel", 0, "how many devices work at the same time (0: all)")
	flags.StringVar(&f.keep, "keep", "", "leave the runs in this folder, as base.jsonl and head.jsonl")
	flags.StringVar(&f.config, "config", "", "the configuration (default "+config.FileName+" where there is one)")
	flags.StringVar(&f.failOn, "fail-on", "", "exit with 1 from this outcome on: never, regression or inconclusive (default: the configuration's, else regression)")
	flags.StringVar(&f.grain, "grain", string(gate.Both), "judge whole runs (coarse), UI events (fine), or both")
	f.outputFlags.register(cmd)
	flags.StringVar(&f.pkg, "package", "", "the app, for files that don't name it")
	flags.StringArrayVar(&f.context, "context", nil, "a context property, NAME=VALUE, for files that don't name it; may be repeated")
	return cmd
}

func (c Command) compare(cmd *cobra.Command, f compareFlags) error {
	if err := oneOf("format", Format(f.format), reportFormats); err != nil {
		return err
	}
	offline, err := f.offline()
	if err != nil {
		return err
	}
	set, err := c.settings(cmd, f.configFlags, f.policyFlags)
	if err != nil {
		return err
	}
	f.outputFlags.places = c.placesOf(set.config, f.configFlags.file())
	if err := keepsInput(f.outputFlags.files(), f.baseRuns, f.headRuns, []string{f.base, f.head, f.configFlags.file()}); err != nil {
		return err
	}
	if f.headCommit == "" {
		f.headCommit, f.headRef = c.Getenv("GITHUB_SHA"), c.Getenv("GITHUB_REF")
	}
	var base, head []run.Run
	if offline {
		base, head, err = c.readBoth(f)
	} else {
		base, head, err = c.measureBoth(cmd.Context(), f)
	}
	if err != nil {
		return err
	}
	if set.catalogue, err = run.Catalogue(set.catalogue, append(append([]run.Run{}, base...), head...)...); err != nil {
		return usage(err, "")
	}
	verdict := sidebyside.Compare(set.policy, set.catalogue, base, head)
	in := layout.ABInput{Verdict: verdict, Energy: besideBase(base, head), Catalogue: set.catalogue, Version: "apkgate " + version()}
	if simulated(base) || simulated(head) {
		in.Notes = []string{simulatedNote}
	}
	if err := c.writeSheet(layout.AB(in), abData(in), f.outputFlags); err != nil {
		return err
	}
	return exitOf(verdict.Verdict, set.failOn, nil)
}

// abData is a comparison for other programs.
func abData(in layout.ABInput) sheetData {
	return sheetData{
		json:  func(w io.Writer) error { return layout.ABJSON(w, in) },
		sarif: func(w io.Writer, places layout.Places) error { return layout.ABSARIF(w, in, places) },
	}
}

// offline reports whether runs in files are compared, and refuses what names
// only half of either way.
func (f compareFlags) offline() (bool, error) {
	const hint = "apkgate compare --base base.apk --head head.apk, or --base-run and --head-run with files of runs"
	apks, files := f.base != "" || f.head != "", len(f.baseRuns)+len(f.headRuns) > 0
	switch {
	case apks && files:
		return false, usage(errors.New("--base and --head measure, --base-run and --head-run read what was measured: want one or the other"), hint)
	case files && (len(f.baseRuns) == 0 || len(f.headRuns) == 0):
		return false, usage(errors.New("two builds are compared: want both --base-run and --head-run"), hint)
	case files:
		return true, nil
	case f.base == "" || f.head == "":
		return false, usage(errors.New("two builds are compared: want both --base and --head"), hint)
	case f.rounds < 1 || f.rounds > maxRounds:
		return false, usage(fmt.Errorf("--rounds is %d, want 1 to %d", f.rounds, maxRounds), "")
	case f.parallel < 0:
		return false, usage(fmt.Errorf("--parallel is %d, want 0 or more", f.parallel), "")
	}
	return false, nil
}

// readBoth reads the runs of both builds from files.
func (c Command) readBoth(f compareFlags) (base, head []run.Run, err error) {
	read := func(files []string) []run.Run {
		runs, readErr := c.readRuns(files, f.importFlags)
		if readErr == nil {
			runs, readErr = distinct(runs, files)
		}
		if readErr == nil && len(runs) == 0 {
			readErr = usage(fmt.Errorf("nothing to compare: no run in %s", strings.Join(files, ", ")), "")
		}
		if err == nil {
			err = readErr
		}
		return runs
	}
	base, head = read(f.baseRuns), read(f.headRuns)
	if err != nil {
		return nil, nil, err
	}
	if a, b := base[0].App.Package, head[0].App.Package; a != b {
		return nil, nil, usage(fmt.Errorf("the runs of the base are of %q, those of the head of %q", words.Short(a), words.Short(b)), "compare two builds of one app")
	}
	return base, head, nil
}

// measureBoth measures both builds in turns.
func (c Command) measureBoth(ctx context.Context, f compareFlags) (base, head []run.Run, err error) {
	cfg, err := loadConfig(f.config, false)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(onlyScenarios(cfg, f.scenarios), c.bothThere(f, cfg)); err != nil {
		return nil, nil, err
	}
	profilesTo(f.profiles, cfg.Energy)
	for i := range cfg.Scenarios {
		cfg.Scenarios[i].Repetitions = f.rounds
	}
	baseResults, headResults, err := c.interleave(ctx, cfg, f)
	if err != nil {
		return nil, nil, err
	}
	if f.keep != "" {
		if err := keepBoth(f.keep, baseResults, headResults); err != nil {
			return nil, nil, err
		}
	}
	if err := cmp.Or(lossOf(headResults), lossOf(baseResults)); err != nil {
		return nil, nil, err
	}
	return measuredRuns(baseResults), measuredRuns(headResults), nil
}

// bothThere looks at both builds, and at what else the configuration names, before
// any device is touched.
func (c Command) bothThere(f compareFlags, cfg *config.Config) error {
	for _, path := range []string{f.base, f.head} {
		src, err := c.open(path)
		if err != nil {
			return usage(err, "")
		}
		src.Close()
		build := *cfg
		build.App.APK = path
		if err := filesThere(&build); err != nil {
			return err
		}
	}
	return nil
}

// interleave runs the lab on pairs of jobs that differ in their build alone.
func (c Command) interleave(ctx context.Context, cfg *config.Config, f compareFlags) (base, head []collect.Result, err error) {
	profiles, err := keepProfiles(cfg.Energy)
	if err == nil && f.keep != "" {
		err = writable(f.keep)
	}
	if err != nil {
		return nil, nil, err
	}
	devices, closing, err := c.lab(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	session := "compare " + c.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	of := origin{source: run.Source{Repository: c.Getenv("GITHUB_REPOSITORY"), Commit: f.headCommit, Ref: f.headRef}, session: session}
	bases, heads := jobs(cfg, devices, of), jobs(cfg, devices, of)
	for i := range bases {
		bases[i].App.APK, heads[i].App.APK = f.base, f.head
		bases[i].App.Version, heads[i].App.Version = "", "" // of each, what the device says
		bases[i].App.Build, heads[i].App.Build = sideOf(cfg.App.Build, "base"), sideOf(cfg.App.Build, "head")
		bases[i].Source = run.Source{Repository: of.source.Repository, Commit: f.baseCommit}
	}
	shown := c.progress(append(append([]collect.Job{}, bases...), heads...))
	defer shown.clear()
	pairs := collect.Lab{
		Jobs: bases, Parallel: f.parallel, Finished: shown.finished,
		Options: collect.Options{Host: c.host(), Progress: shown, Now: c.Now},
	}
	base, head = pairs.Interleave(ctx, heads)
	for i, results := range [][]collect.Result{base, head} {
		if err := nameRuns(results); err != nil {
			return nil, nil, err
		}
		for _, r := range results {
			profiles.keep(r, []string{"base", "head"}[i])
		}
	}
	shown.clear()
	return base, head, profiles.told(c.Stderr)
}

// sideOf tells the two builds' runs apart, also where both bear one version.
func sideOf(build, side string) string {
	return strings.TrimSpace(build + " " + side)
}

func keepBoth(dir string, base, head []collect.Result) error {
	for file, results := range map[string][]collect.Result{"base.jsonl": base, "head.jsonl": head} {
		path := filepath.Join(dir, file)
		write := func(w io.Writer) error {
			_, err := baseline.WriteJSONL(w, runsOf(results))
			return err
		}
		if err := writeFile(path, write); err != nil {
			return infrastructure(fileError("write the runs to", path, err))
		}
	}
	return nil
}

func measuredRuns(results []collect.Result) []run.Run {
	var out []run.Run
	for r := range runsOf(results) {
		out = append(out, r)
	}
	return out
}
