package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/flagset"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/farms"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// DefaultRounds is the least even number of rounds in which a rank test can prove a change among
// some eighty comparisons at 1 %: one order of signs in 2¹⁴.
const DefaultRounds = 14

// maxRounds limits --rounds as the configuration limits repetitions.
const maxRounds = 1000

type compareFlags struct {
	settings.ConfigFlags
	settings.PolicyFlags
	output.OutputFlags
	inputfiles.ImportFlags
	Builds
	why                explanation.Flags
	baseRuns, headRuns []string // files of runs
	farm               bool     // on the configuration's farm
}

// CompareCommand returns apkgate compare.
func CompareCommand(c terminal.Console) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Measure two builds alternately and compare them",
		Long: `Measures two APKs alternately on the same devices, in random order within each round,
so that heat and drift are the same for both, and says whether the head is worse: for
each metric and UI event the shift with its interval and a rank test, corrected
for the number of comparisons. No history is needed, and none is written. After a
regression a few more rounds of both are recorded, to explain it (--why): they judge
nothing.

With --farm both are measured on the phones of the farm that the configuration names
(docs/farms.md): what it can cost is said, and held to farm.max-usd, before anything is
started.

With --base-run and --head-run it compares runs that were made elsewhere: files of
apkgate.run/1 records, androidx *-benchmarkData.json and what else check reads.

BASE and HEAD are either two builds (--base and --head) or two files of runs.`,
		Example: `  apkgate compare base.apk head.apk
  apkgate compare --base base.apk --head head.apk --rounds 20 --scenario open-message
  apkgate compare --base base.apk --head head.apk --farm
  apkgate compare --head app.apk --base-compile verify --head-compile speed-profile
  apkgate compare main.jsonl pr.jsonl --format markdown`,
		Args: arguments.AtMost("BASE", "HEAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.named(args); err != nil {
				return err
			}
			return compare(c, cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Base, "base", "", "the APK to compare with")
	flags.StringVar(&f.Head, "head", "", "the APK that may be worse")
	flags.StringArrayVar(&f.baseRuns, "base-run", nil, "a file of the base build's runs, instead of measuring; may be repeated")
	flags.StringArrayVar(&f.headRuns, "head-run", nil, "a file of the head build's runs, instead of measuring; may be repeated")
	flags.StringVar(&f.BaseCompile, "base-compile", "", "how the base's code is compiled, instead of as its scenario says: speed-profile, speed, verify or none")
	flags.StringVar(&f.HeadCompile, "head-compile", "", "how the head's code is compiled; with either, --base is --head where it is left out")
	flags.IntVar(&f.Rounds, "rounds", DefaultRounds, "how often each build is measured on each device")
	flags.StringArrayVar(&f.Scenarios, "scenario", nil, "only this scenario; may be repeated")
	flags.StringVar(&f.BaseCommit, "base-commit", "", "the commit the base was built from")
	flags.StringVar(&f.HeadCommit, "head-commit", "", "the commit the head was built from (default: GITHUB_SHA)")
	flags.IntVar(&f.Parallel, "parallel", 0, "how many devices work at the same time (0: all, but one of those that are booted on this computer)")
	flags.BoolVar(&f.farm, "farm", false, "measure on the farm of the configuration, not on its devices")
	flags.StringVar(&f.Keep, "keep", "", "leave the runs in this folder, as base.jsonl and head.jsonl")
	flags.StringVar(&f.Config, "config", "", "the configuration (default "+config.FileName+" where there is one)")
	flags.StringVar(&f.FailOn, "fail-on", "", "exit with 1 from this outcome on: never, regression or inconclusive (default: the configuration's, else regression)")
	flags.StringVar(&f.Grain, "grain", string(gate.Both), "judge whole runs (coarse), UI events (fine), or both")
	f.OutputFlags.Register(cmd)
	flagset.Why(cmd, &f.why)
	flags.StringVar(&f.Pkg, "package", "", "the app, for files that don't name it")
	flags.StringArrayVar(&f.Context, "context", nil, "a context property, NAME=VALUE, for files that don't name it; may be repeated")
	return cmd
}

func compare(c terminal.Console, cmd *cobra.Command, f compareFlags) error {
	if err := f.OutputFlags.Check(); err != nil {
		return err
	}
	if f.compiles() && f.Base == "" {
		f.Base = f.Head
	}
	offline, err := f.offline(cmd)
	if err != nil {
		return err
	}
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return err
	}
	f.OutputFlags.Places = sourcelocation.Of(c, set.Config, f.ConfigFlags.File())
	if err := atomicfile.KeepsInput(f.OutputFlags.Files(), f.baseRuns, f.headRuns, []string{f.Base, f.Head, f.ConfigFlags.File()}); err != nil {
		return err
	}
	if f.HeadCommit == "" {
		f.HeadCommit, f.HeadRef = c.Getenv("GITHUB_SHA"), c.Getenv("GITHUB_REF")
	}
	within, err := f.why.Within(set.Config)
	if err != nil {
		return err
	}
	var p Pair
	var farm farms.Pair
	switch {
	case offline:
		p.Base, p.Head, err = readBoth(c, f)
	case f.farm:
		farm, err = f.OnFarm(cmd.Context(), c, f.Config)
		p.Base, p.Head = farm.Base, farm.Head
	default:
		f.Session = CompareSession(c)
		f.Pool = labs.NewPool(c, f.Session)
		defer f.Pool.Close()
		p, err = Both(cmd.Context(), c, f.Config, f.Builds)
	}
	if err != nil {
		return err
	}
	in, err := judging.Compare(p.Base, p.Head, set)
	switch {
	case err != nil:
		return err
	case f.farm:
		in = farm.Explained(cmd.Context(), farm.WithNotes(in), within)
	case f.compiles(): // usually both are one build, and the difference is explained
		in.Verdict.Warnings = slices.Concat(in.Verdict.Warnings, compiledOtherwise("base", p.Base), compiledOtherwise("head", p.Head))
	case !offline:
		in = f.explained(cmd.Context(), c, p, in, within)
	}
	if err := output.Write(c, layout.Comparison(in), f.OutputFlags); err != nil {
		return err
	}
	return exit.Of(in.Verdict.Verdict, set.FailOn, farm.Loss)
}

// compiledOtherwise returns the warnings of a build's runs that its code was not compiled as
// requested, without duplicates.
func compiledOtherwise(build string, runs []run.Run) (out []run.Warning) {
	for _, r := range runs {
		for _, w := range r.Warnings {
			told := run.Warning{Text: "the " + build + ": " + w.Text}
			if strings.Contains(w.Text, "compiled") && !slices.Contains(out, told) {
				out = append(out, told)
			}
		}
	}
	return out
}

// named takes the two positional arguments for the flags that say the same.
func (f *compareFlags) named(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if len(args) == 1 {
		return exit.Usage(fmt.Errorf("two builds are compared, but only %s is named", prose.Short(args[0])), hint)
	}
	if f.Base != "" || f.Head != "" || len(f.baseRuns)+len(f.headRuns) > 0 {
		return exit.Usage(errors.New("what is compared is named twice, by arguments and by flags"), hint)
	}
	switch base, head := isBuild(args[0]), isBuild(args[1]); {
	case base != head:
		return exit.Usage(fmt.Errorf("a build can't be compared with runs: %s and %s", prose.Short(args[0]), prose.Short(args[1])), hint)
	case base:
		f.Base, f.Head = args[0], args[1]
	default:
		f.baseRuns, f.headRuns = args[:1], args[1:]
	}
	return nil
}

// isBuild reports whether a path is that of a build: an APK, an archive or a folder of its parts.
func isBuild(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".apk", ".apks", ".apkm", ".xapk", ".aab":
		return true
	}
	i, err := os.Stat(path)
	return err == nil && i.IsDir()
}

// offline reports whether runs in files are compared, and rejects incomplete or mixed flags of the
// two ways.
func (f compareFlags) offline(cmd *cobra.Command) (bool, error) {
	if f.farm && cmd.Flags().Changed("parallel") {
		return false, exit.Usage(errors.New("--parallel does not apply to a farm"), "farm.parallel in the configuration says how many rounds are under way at once")
	}
	if f.farm && f.compiles() {
		return false, exit.Usage(errors.New("--base-compile and --head-compile say nothing of a farm, whose tests have a CompilationMode of their own"), "measure on a device of the configuration: leave out --farm")
	}
	apks, files := f.Base != "" || f.Head != "", len(f.baseRuns)+len(f.headRuns) > 0
	switch {
	case f.farm && files:
		return false, exit.Usage(errors.New("--farm measures, --base-run and --head-run read what was measured: want one or the other"), hint)
	case apks && files:
		return false, exit.Usage(errors.New("--base and --head measure, --base-run and --head-run read what was measured: want one or the other"), hint)
	case files && f.compiles():
		return false, exit.Usage(errors.New("--base-compile and --head-compile have code compiled that is measured, and --base-run and --head-run read what was measured: want one or the other"), hint)
	case files && (len(f.baseRuns) == 0 || len(f.headRuns) == 0):
		return false, exit.Usage(errors.New("two builds are compared: want both --base-run and --head-run"), hint)
	case files:
		return true, nil
	}
	return false, f.Builds.Check()
}

// hint shows both ways to name two builds.
const hint = "apkgate compare base.apk head.apk, or with two files of runs"

// readBoth reads the runs of both builds from files.
func readBoth(c terminal.Console, f compareFlags) (base, head []run.Run, err error) {
	// Two files have two names, and what is compared has one.
	f.Unnamed = "imported"
	if len(f.Scenarios) == 1 {
		f.Unnamed = f.Scenarios[0]
	}
	read := func(files []string) []run.Run {
		runs, readErr := inputfiles.Runs(c, files, f.ImportFlags)
		if readErr == nil {
			runs, readErr = inputfiles.Distinct(runs, files)
		}
		if readErr == nil && len(runs) == 0 {
			readErr = exit.Usage(fmt.Errorf("nothing to compare: no run in %s", strings.Join(files, ", ")), "")
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
		return nil, nil, exit.Usage(fmt.Errorf("the runs of the base are of %q, those of the head of %q", prose.Short(a), prose.Short(b)), "compare two builds of one app")
	}
	return base, head, nil
}
