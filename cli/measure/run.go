// Package measure implements the commands that measure on devices: run, collect and compare.
//
// Judging belongs to package judging, showing to package output, and finding devices and measuring
// on them to package measurement.
package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/artifact"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/farms"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/replay"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/session"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/worktree"
)

type runFlags struct {
	settings.ConfigFlags
	settings.PolicyFlags
	output.OutputFlags
	measurement.CollectFlags
	dry      bool
	sessions session.Flags
	tape     replay.Flags
	replay   *replay.Replay // nil: devices are measured
	why      explanation.Flags
	accept   bool
	farm     *farms.Lab // nil: devices are measured
	// base is the build to measure alternately with, of the commit baseCommit, and keep the folder for
	// these rounds.
	base, baseCommit, keep string
	// report is the folder for another job to publish, "" for none.
	report   string
	standsOn judging.Lineage
}

// RunCommand returns apkgate run.
func RunCommand(c terminal.Console) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure, compare with the history, and report",
		Long: `Runs the scenarios of apkgate.yml on its devices, checks the runs against the
history, and says pass or fail. The runs are kept in the history; they count as
references once they are accepted.

What the history does not clear is measured alternately with a base build, where there
is one (--base, base in apkgate.yml, or the build that a refresh kept), until it is
settled or rounds are spent; without one, what looks worse is measured once more in
another session. After a regression a few more rounds of both builds are recorded, to
explain it (--why): they judge nothing.

With --accept, as on a main branch, runs that are no regression are accepted.

With --replay it measures from a recording (apkgate record-device), which is compared
with the history that --store names, if any.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAndGate(c, cmd, f) },
	}
	flagset.Config(cmd, &f.ConfigFlags)
	flagset.Policy(cmd, &f.PolicyFlags)
	f.OutputFlags.Register(cmd)
	flagset.Collect(cmd, &f.CollectFlags)
	flagset.DryRun(cmd, &f.dry)
	flagset.Session(cmd, &f.sessions)
	flagset.Replay(cmd, &f.tape)
	flagset.Why(cmd, &f.why)
	cmd.Flags().StringVar(&f.base, "base", "", "the build to measure against alternately, where the history does not clear the new one, instead of the configuration's")
	cmd.Flags().StringVar(&f.baseCommit, "base-commit", "", "the commit the base was built from")
	cmd.Flags().StringVar(&f.keep, "keep", "", "leave what is measured alternately in this folder, as base.jsonl and head.jsonl")
	cmd.Flags().StringVar(&f.report, "report", "", "leave the report's files in this folder, for another job to show (apkgate publish)")
	cmd.Flags().BoolVar(&f.accept, "accept", false, "accept the runs that are no regression")
	return cmd
}

func runAndGate(c terminal.Console, cmd *cobra.Command, f runFlags) (err error) {
	if f.report != "" && !f.dry {
		if err := artifact.Clear(f.report); err != nil {
			return exit.Infrastructure(err)
		}
	}
	if f.replay, err = f.tape.Begin(&c, cmd.Flags().Changed, &f.Config, &f.CollectFlags); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.replay.End(c)) }()
	ctx := cmd.Context()
	cfg, err := f.sessions.Config(c, f.Config, f.CollectFlags)
	if err != nil {
		return err
	}
	if f.dry {
		return showPlan(c, cfg, f.OnFarm)
	}
	if f.replay != nil && f.replay.Own() {
		cfg.Report = config.Report{}
		f.Store = cmp.Or(f.Store, f.replay.Store())
	}
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return err
	}
	if err := f.checkOutputs(c, cfg, set.Store); err != nil {
		return err
	}
	within, err := f.why.Within(cfg)
	if err != nil {
		return err
	}
	if f.farm, err = farms.For(ctx, c, cfg, &f.CollectFlags, f.sessions); err != nil {
		return err
	}
	defer f.farm.Close()
	base, err := interleaved.Named(c, cfg, f.base, f.baseCommit)
	if err != nil {
		return err
	}
	if f.keep != "" {
		if err := atomicfile.Writable(f.keep); err != nil {
			return err
		}
	}
	f.Evidence.Folder = openstore.Kept(set.Store)
	f.standsOn = worktree.StandsOn(ctx, c.Dir, cmp.Or(f.Commit, c.Getenv("GITHUB_SHA")))
	store, err := openstore.Open(ctx, c, set.Store)
	if err != nil {
		return err
	}
	if base.APK == "" && f.replay == nil {
		base = interleaved.Kept(ctx, c, cfg, store, f.Evidence.Folder, nil)
	}
	defer base.Close(c)
	if f.replay == nil { // a replay takes no time, and is not resumed
		measuring, err := session.Begin(session.Command{Console: c, Path: cmd.CommandPath(), Resume: func() string { return flagset.ResumeLine(cmd) }, Config: cfg, File: f.ConfigFlags.File(), Name: runSession(c.Now())}, f.sessions, &f.CollectFlags)
		if err != nil {
			return errors.Join(err, store.Close())
		}
		defer measuring.End(ctx)
	}
	f.Pool = labs.NewPool(c, f.Session)
	defer f.Pool.Close()
	if f.farm != nil {
		set.Policy.Settling = "measure it with the base build, in rounds: apkgate run --farm --base OLD.apk, or apkgate compare --farm"
	}
	if f.accept {
		set.Policy.Accepting = "this run is accepted, and each further apkgate run --accept adds one"
	}
	measured, err := measurement.MeasureInto(ctx, c, cfg, f.CollectFlags, store)
	if err == nil {
		if note := measured.Note(); note != "" {
			set.Notes = append(set.Notes, note)
		}
		set.Policy.Budget = interleaved.BudgetOf(cfg, base, measured, f.Farm)
		s := interleaved.Settler{Console: c, Config: cfg, Set: set, Flags: f.CollectFlags, Base: base, Store: store, Keep: f.keep}
		err = gateRuns(ctx, s, store, measured, within, f)
	}
	return errors.Join(err, store.Close())
}

// checkOutputs completes what is written where, and checks that before anything is measured.
func (f *runFlags) checkOutputs(c terminal.Console, cfg *config.Config, store string) error {
	f.OutputFlags.Defaults(cfg.Report)
	f.OutputFlags.Places = sourcelocation.Of(c, cfg, f.ConfigFlags.File())
	if err := f.OutputFlags.Check(); err != nil {
		return err
	}
	if f.report != "" {
		if err := atomicfile.Writable(f.report); err != nil {
			return err
		}
		f.Evidence.Report, f.keep = f.report, cmp.Or(f.keep, runevidence.InReport(f.report))
	}
	written := slices.Concat(f.OutputFlags.Files(), interleaved.KeptFiles(f.keep))
	read := append([]string{store, f.ConfigFlags.File(), cfg.App.TestAPK, cmp.Or(f.base, cfg.Base)}, f.sessions.Merge...)
	return atomicfile.KeepsInput(written, read, cfg.App.APKs())
}

// gateRuns checks the runs, measures more if that leaves something undecided, accepts them if
// requested, and fails for a lost run even if the others pass.
func gateRuns(ctx context.Context, s interleaved.Settler, store runstore.Store, measured measurement.Measured, within time.Duration, f runFlags) error {
	c, set, sound := s.Console, s.Set, runstore.SoundOf(store)
	s.Judge = func(runs []run.Run) (layout.Input, error) {
		return judging.Judge(runs, judging.OfStore(ctx, sound, set, f.standsOn), set)
	}
	in, err := s.Judge(measured.Runs)
	if err != nil {
		return err
	}
	var unsettled error
	if f.replay == nil { // which can measure nothing more
		in, unsettled = s.Settle(ctx, in, measured) // what was measured has its report anyway
	}
	if note := f.farm.Note(); note != "" {
		in.Notes = append(in.Notes, note)
	}
	loss := errors.Join(measured.Lost, unsettled, openstore.Damage(c, sound))
	in.Verdict = in.Verdict.WithLoss(measured.Lacking(loss))
	if f.replay == nil || set.Store != f.replay.Store() { // which is removed at the end
		in.Kept = runevidence.LinkFrom(f.Path(output.FormatHTML), runevidence.InHistory(in.Runs, openstore.Kept(set.Store), repeated(f.ConfigFlags)))
	}
	in.Meta.Base = layout.Origin{Commit: s.Base.Source.Commit, At: worktree.CommittedAt(ctx, c.Dir, s.Base.Source.Commit)}
	verdict := in.Verdict
	marked := openstore.Judged(ctx, store, verdict)
	if f.accept && marked == nil {
		marked = acceptAll(ctx, c, store, verdict)
	}
	if f.replay == nil {
		in.Next = nextStep(verdict, f)
	}
	switch {
	case f.farm != nil:
		in = f.farm.Explained(ctx, in, within)
	case f.replay == nil:
		in = f.explained(ctx, s, in, measured, within) // from here on nothing is decided
	}
	if err := errors.Join(output.Write(c, layout.Verdict(in), f.OutputFlags), f.leave(c, s, in), marked); err != nil {
		return err
	}
	if f.replay == nil {
		printReports(c, f)
	}
	return exit.Of(verdict.Verdict, set.FailOn, loss)
}

// leave writes the report's files, and what another job needs to show it.
func (f runFlags) leave(c terminal.Console, s interleaved.Settler, in layout.Input) error {
	if f.report == "" {
		return nil
	}
	in.Kept = runevidence.ForArtifact(f.report, "", in.Runs)
	folder, err := artifact.WriteFolder(f.report, artifact.Report{
		Input: in, Places: sourcelocation.Find(c, s.Config, f.ConfigFlags.File()), Builds: BuildsOf(c, s.Config, f.OnFarm, s.Base),
	})
	if err == nil {
		err = artifact.WriteRuns(folder.Dir, in.Runs)
	}
	if err != nil {
		return exit.Infrastructure(err)
	}
	return nil
}

// acceptAll accepts the runs that are neither a regression nor incomplete.
func acceptAll(ctx context.Context, c terminal.Console, store runstore.Store, v gate.Verdict) error {
	var ids []string
	for _, r := range v.Runs {
		if r.Verdict != gate.Regression && r.Verdict != gate.Invalid {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := store.Mark(ctx, ids, runstore.Mark{State: runstore.Accepted, Note: "run --accept"}); err != nil {
		return openstore.Error(err)
	}
	fmt.Fprintf(c.Stderr, "%d of %d %s accepted\n", len(ids), len(v.Runs), prose.Plural(len(v.Runs), "run", "runs"))
	return nil
}

// runSession returns a name for an unnamed session, so that all runs of one command can be accepted
// together.
func runSession(now time.Time) string { return "run-" + now.UTC().Format("20060102T150405.000Z") }
