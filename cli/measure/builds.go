package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// Builds are two builds and how they are measured alternately.
type Builds struct {
	Base, Head             string // APK files
	BaseCommit, HeadCommit string
	HeadRef                string
	// BaseCompile and HeadCompile are how each is compiled, "" as its scenario says.
	BaseCompile, HeadCompile string
	Scenarios                []string // only these, if there are some
	Rounds, Parallel         int
	Keep                     string // the folder for the runs, "" for none
	Profiles                 string // as of measurement.CollectFlags
	Session                  string // "" for a new one, by which the order in each round is drawn
	// Pool is as that of measurement.CollectFlags.
	Pool *labs.Pool
}

// Pair are the measurements of both builds.
type Pair struct {
	Base, Head []run.Run
	Config     *config.Config
	// Units are those of the head's runs, by their ids.
	Units map[string]measurement.Unit
}

// CompareSession returns a new session name for a comparison.
func CompareSession(c terminal.Console) string {
	return "compare " + c.Now().UTC().Format("2006-01-02T15:04:05.000Z")
}

// Check rejects what can't be measured.
func (b Builds) Check() error {
	for flag, how := range map[string]string{"base-compile": b.BaseCompile, "head-compile": b.HeadCompile} {
		if how != "" && !slices.Contains(config.Compilations(), how) {
			return exit.BadValue(flag, how, config.Compilations())
		}
	}
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

// Both measures both builds alternately, on the devices of a configuration.
func Both(ctx context.Context, c terminal.Console, configuration string, b Builds) (Pair, error) {
	cfg, err := settings.LoadConfig(configuration, false)
	if err != nil {
		return Pair{}, err
	}
	if err := errors.Join(measurement.OnlyScenarios(cfg, b.Scenarios), checkFiles(c, b, cfg)); err != nil {
		return Pair{}, err
	}
	if err := b.compilable(cfg); err != nil {
		return Pair{}, err
	}
	if cfg.Evidence.Keeps() {
		fmt.Fprintln(c.Stderr, "warning: evidence is not kept, but read: compare keeps no runs in a history")
	}
	measurement.ProfilesTo(b.Profiles, cfg.Energy)
	baseResults, headResults, err := interleave(ctx, c, cfg, b)
	if err != nil {
		return Pair{}, err
	}
	if err := interleaved.KeepBoth(b.Keep, baseResults, headResults); err != nil {
		return Pair{}, err
	}
	if err := cmp.Or(measurement.LossOf(headResults), measurement.LossOf(baseResults)); err != nil {
		return Pair{}, err
	}
	p := Pair{Base: measurement.MeasuredRuns(baseResults), Head: measurement.MeasuredRuns(headResults), Config: cfg, Units: map[string]measurement.Unit{}}
	for i, u := range measurement.Units(cfg) {
		if id := headResults[i].Run.ID; id != "" {
			p.Units[id] = u
		}
	}
	return p, nil
}

// Explain records what explains a regression of the head build, within the time; 0 records nothing.
// It does not change the verdict. before is called first, if there is anything to record.
func (b Builds) Explain(ctx context.Context, c terminal.Console, p Pair, in layout.ComparisonInput, within time.Duration, before func(layout.ComparisonInput) bool) layout.ComparisonInput {
	base, head := b.from(c)
	r := explanation.Recorder{
		Console: c, Config: p.Config, Base: b.Base, Head: b.Head, BaseFrom: base, From: head,
		Session: b.Session, Parallel: b.Parallel, Pool: b.Pool, Within: within, Keep: b.Keep,
	}
	if !r.Todo(judging.RegressedBuild(in, p.Head), p.Units) || ctx.Err() != nil || !before(in) {
		return in
	}
	in, _ = r.Comparison(ctx, in, p.Head, p.Units) // failures are reported
	return in
}

// compiles reports whether ways of compiling are compared.
func (b Builds) compiles() bool { return b.BaseCompile != "" || b.HeadCompile != "" }

// compilable rejects scenarios whose compilation the command can't control.
func (b Builds) compilable(cfg *config.Config) error {
	for _, s := range cfg.Scenarios {
		if b.compiles() && s.Workload.Benchmark() != nil {
			return exit.Usage(fmt.Errorf("scenario %s is a Macrobenchmark, which has a CompilationMode of its own: --base-compile and --head-compile can't change it", prose.Short(s.Name)),
				"make the mode a parameter of the test, each of which is an event of its run; or choose other scenarios: --scenario")
		}
	}
	return nil
}

// from returns the sources of the builds.
func (b Builds) from(c terminal.Console) (base, head run.Source) {
	repository := c.Getenv("GITHUB_REPOSITORY")
	return run.Source{Repository: repository, Commit: b.BaseCommit}, run.Source{Repository: repository, Commit: b.HeadCommit, Ref: b.HeadRef}
}

// checkFiles checks both builds, and the other files of the configuration, before any device is
// touched.
func checkFiles(c terminal.Console, b Builds, cfg *config.Config) error {
	for _, path := range []string{b.Base, b.Head} {
		if _, err := os.Stat(path); err != nil {
			return exit.Usage(atomicfile.Error("read", path, err), "")
		}
		build := *cfg
		build.App.Install(path)
		if err := validate.Files(&build); err != nil {
			return err
		}
	}
	return nil
}

// interleave measures both alternately.
func interleave(ctx context.Context, c terminal.Console, cfg *config.Config, b Builds) (base, head []collect.Result, err error) {
	if b.Keep != "" {
		if err := atomicfile.Writable(b.Keep); err != nil {
			return nil, nil, err
		}
	}
	baseFrom, from := b.from(c)
	return measurement.Interleave(ctx, c, cfg, measurement.InTurns{
		Base: b.Base, Head: b.Head, BaseCompile: b.BaseCompile, HeadCompile: b.HeadCompile, Rounds: b.Rounds, Parallel: b.Parallel, Pool: b.Pool, Profiles: true, Reads: cfg.Evidence.Keeps(),
		BaseFrom: baseFrom, From: from, Session: cmp.Or(b.Session, CompareSession(c)),
	})
}
