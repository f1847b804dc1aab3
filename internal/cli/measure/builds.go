package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/files"
	"github.com/apkgate/apkgate/internal/cli/fit"
	"github.com/apkgate/apkgate/internal/cli/lab"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/turns"
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
	Session                string // "" for one of this moment, by which the order in each round is drawn
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
		fmt.Fprintln(c.Stderr, "warning: evidence is not kept, but read: compare keeps no runs in a history")
	}
	lab.ProfilesTo(b.Profiles, cfg.Energy)
	baseResults, headResults, err := interleave(ctx, c, cfg, b)
	if err != nil {
		return nil, nil, err
	}
	if err := turns.KeepBoth(b.Keep, baseResults, headResults); err != nil {
		return nil, nil, err
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
		if err := fit.FilesThere(&build); err != nil {
			return err
		}
	}
	return nil
}

// interleave measures both in turns.
func interleave(ctx context.Context, c console.Console, cfg *config.Config, b Builds) (base, head []collect.Result, err error) {
	if b.Keep != "" {
		if err := files.Writable(b.Keep); err != nil {
			return nil, nil, err
		}
	}
	repository := c.Getenv("GITHUB_REPOSITORY")
	return lab.Interleave(ctx, c, cfg, lab.InTurns{
		Base: b.Base, Head: b.Head, Rounds: b.Rounds, Parallel: b.Parallel, Profiles: true, Reads: cfg.Evidence.Keeps(),
		BaseFrom: run.Source{Repository: repository, Commit: b.BaseCommit},
		From:     run.Source{Repository: repository, Commit: b.HeadCommit, Ref: b.HeadRef},
		Session:  cmp.Or(b.Session, "compare "+c.Now().UTC().Format("2006-01-02T15:04:05.000Z")),
	})
}
