package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/internal/cli/lab"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/run"
)

// Builds are two builds and how they are measured in turns.
type Builds struct {
	Base, Head             string // APK files
	BaseCommit, HeadCommit string
	HeadRef                string
	Scenarios              []string // only these, where there are some
	Rounds, Parallel       int
	Keep                   string // the folder to leave the runs in, "" for none
	Profiles               string // as of lab.CollectFlags
}

// Check refuses what can't be measured.
func (b Builds) Check() error {
	switch {
	case b.Base == "" || b.Head == "":
		return exit.Usage(errors.New("two builds are compared: want both --base and --head"), hint)
	case b.Rounds < 1 || b.Rounds > maxRounds:
		return exit.Usage(fmt.Errorf("--rounds is %d, want 1 to %d", b.Rounds, maxRounds), "")
	case b.Parallel < 0:
		return exit.Usage(fmt.Errorf("--parallel is %d, want 0 or more", b.Parallel), "")
	}
	return nil
}

// Both measures both builds in turns, on the devices of a configuration.
func Both(ctx context.Context, c console.Console, configuration string, b Builds) (base, head []run.Run, err error) {
	cfg, err := settings.LoadConfig(configuration, false)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(lab.OnlyScenarios(cfg, b.Scenarios), bothThere(c, b, cfg)); err != nil {
		return nil, nil, err
	}
	if cfg.Evidence.Keeps() {
		fmt.Fprintln(c.Stderr, "warning: evidence is not kept: compare keeps no runs in a history")
	}
	lab.ProfilesTo(b.Profiles, cfg.Energy)
	for i := range cfg.Scenarios {
		cfg.Scenarios[i].Repetitions = b.Rounds
	}
	baseResults, headResults, err := interleave(ctx, c, cfg, b)
	if err != nil {
		return nil, nil, err
	}
	if b.Keep != "" {
		if err := keepBoth(b.Keep, baseResults, headResults); err != nil {
			return nil, nil, err
		}
	}
	if err := cmp.Or(lab.LossOf(headResults), lab.LossOf(baseResults)); err != nil {
		return nil, nil, err
	}
	return lab.MeasuredRuns(baseResults), lab.MeasuredRuns(headResults), nil
}

// bothThere looks at both builds, and at what else the configuration names, before
// any device is touched.
func bothThere(c console.Console, b Builds, cfg *config.Config) error {
	for _, path := range []string{b.Base, b.Head} {
		if _, err := os.Stat(path); err != nil {
			return exit.Usage(files.Error("read", path, err), "")
		}
		build := *cfg
		build.App.Install(path)
		if err := lab.FilesThere(&build); err != nil {
			return err
		}
	}
	return nil
}

// interleave runs the lab on pairs of jobs that differ in their build alone.
func interleave(ctx context.Context, c console.Console, cfg *config.Config, b Builds) (base, head []collect.Result, err error) {
	profiles, err := lab.KeepProfiles(cfg.Energy)
	if err == nil && b.Keep != "" {
		err = files.Writable(b.Keep)
	}
	if err != nil {
		return nil, nil, err
	}
	devices, closing, err := lab.Ready(ctx, c, cfg)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	session := "compare " + c.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	of := lab.Origin{Source: run.Source{Repository: c.Getenv("GITHUB_REPOSITORY"), Commit: b.HeadCommit, Ref: b.HeadRef}, Session: session}
	bases, heads := lab.Jobs(cfg, devices, of), lab.Jobs(cfg, devices, of)
	for i := range bases {
		bases[i].App.Install(b.Base)
		heads[i].App.Install(b.Head)
		bases[i].App.Version, heads[i].App.Version = "", "" // of each, what the device says
		bases[i].App.Build, heads[i].App.Build = sideOf(cfg.App.Build, "base"), sideOf(cfg.App.Build, "head")
		bases[i].Source = run.Source{Repository: of.Source.Repository, Commit: b.BaseCommit}
	}
	shown := lab.NewProgress(c, append(append([]collect.Job{}, bases...), heads...))
	defer shown.Clear()
	pairs := collect.Lab{
		Jobs: bases, Parallel: b.Parallel, Finished: shown.Finished,
		Options: collect.Options{Host: lab.Host(c), Progress: shown, Now: c.Now},
	}
	base, head = pairs.Interleave(ctx, heads, nil, 0)
	for i, results := range [][]collect.Result{base, head} {
		if err := lab.NameRuns(results); err != nil {
			return nil, nil, err
		}
		for _, r := range results {
			profiles.Keep(r, []string{"base", "head"}[i])
		}
	}
	shown.Clear()
	return base, head, profiles.Told(c.Stderr)
}

// sideOf tells the two builds' runs apart, also where both bear one version.
func sideOf(build, side string) string {
	return strings.TrimSpace(build + " " + side)
}

func keepBoth(dir string, base, head []collect.Result) error {
	for file, results := range map[string][]collect.Result{"base.jsonl": base, "head.jsonl": head} {
		path := filepath.Join(dir, file)
		if err := files.Write(path, lab.JSONLines(results)); err != nil {
			return exit.Infrastructure(files.Error("write the runs to", path, err))
		}
	}
	return nil
}
