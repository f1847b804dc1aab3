package baselinecmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"github.com/apkgate/apkgate/cli/flagset"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/farms"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/session"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Refreshing configures a refresh, in addition to the configuration.
type Refreshing struct {
	settings.PolicyFlags
	measurement.CollectFlags
	Sessions         session.Flags
	AcceptRegression bool
	// Decided returns who accepted what a verdict calls worse, and why; "" for nobody. since is the
	// commit of the newest accepted run, "" if unknown. nil: nobody.
	Decided       func(v gate.Verdict, catalogue *metric.Catalogue, since string) string
	runs, context []string // files instead of measuring, and what they lack
	pkg           string
}

// Refreshed is the result of a refresh.
type Refreshed struct {
	layout.RefreshInput
	FailOn gate.FailOn
	// Loss is what was not measured, or what is wrong with the history, though the rest was done;
	// nil for nothing.
	Loss error
}

// Answer returns the refresh as a document.
func (r Refreshed) Answer() document.Document { return layout.Refresh(r.RefreshInput) }

func refreshCommand(c terminal.Console, cf *settings.ConfigFlags) *cobra.Command {
	var f Refreshing
	var out output.OutputFlags
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Measure the main branch, accept its runs, and say what drifts",
		Long: `Measures as run does, checks the runs against the history, and accepts them: what
later runs are compared with stays new. Where the gate calls one of them a
regression none is accepted, since all are of one build; they are kept, marked with
why they were refused, and --accept-regression accepts them after all.

It then says how each metric moved since the last refresh, since all that was
accepted before, and by its trend within the quarter: a slow creep that no single
refresh shows. It fails nothing unless --fail-on drift asks for it: then a creep for
the worse beyond gate.drift-budget is a regression, though the runs are accepted.

With --run it takes runs that were measured elsewhere instead.`,
		Example: `  apkgate baseline refresh
  apkgate baseline refresh --run nightly.jsonl --format markdown`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return showRefresh(c, cmd, *cf, f, out) },
	}
	flagset.Policy(cmd, &f.PolicyFlags)
	out.Register(cmd)
	flagset.Collect(cmd, &f.CollectFlags)
	flagset.Session(cmd, &f.Sessions)
	cmd.Flags().StringArrayVar(&f.runs, "run", nil, "a file of runs to accept, instead of measuring; may be repeated")
	cmd.Flags().StringVar(&f.pkg, "package", "", "the app, for files of --run that don't name it")
	cmd.Flags().StringArrayVar(&f.context, "context", nil, "a context property, NAME=VALUE, for files of --run that don't name it; may be repeated")
	cmd.Flags().BoolVar(&f.AcceptRegression, "accept-regression", false, "accept the runs even if the gate calls one a regression")
	return cmd
}

// showRefresh refreshes and shows the result.
func showRefresh(c terminal.Console, cmd *cobra.Command, cf settings.ConfigFlags, f Refreshing, out output.OutputFlags) error {
	if err := out.Check(); err != nil {
		return err
	}
	set, err := settings.Read(cmd.Flags().Changed, cf, f.PolicyFlags)
	if err != nil {
		return err
	}
	out.Places = sourcelocation.Of(c, set.Config, cf.File())
	if err := atomicfile.KeepsInput(out.Files(), f.runs, []string{set.Store, cf.File()}); err != nil {
		return err
	}
	done, err := Refresh(c, cmd, cf, set, f)
	if err != nil {
		return err
	}
	done.Judged.Kept = runevidence.LinkFrom(out.Path(output.FormatHTML), done.Judged.Kept)
	if err := output.Write(c, done.Answer(), out); err != nil {
		return errors.Join(err, done.Loss)
	}
	return exit.Of(done.Refresh.Outcome(), done.FailOn, done.Loss)
}

// Refresh makes the new runs and accepts or refuses them.
func Refresh(c terminal.Console, cmd *cobra.Command, cf settings.ConfigFlags, set settings.Settings, f Refreshing) (*Refreshed, error) {
	ctx := cmd.Context()
	f.Evidence.Folder = openstore.Kept(set.Store)
	cfg, err := refreshConfig(c, cf, f)
	if err != nil {
		return nil, err
	}
	var farm *farms.Lab
	if cfg != nil {
		if farm, err = farms.For(ctx, c, cfg, &f.CollectFlags, f.Sessions); err != nil {
			return nil, err
		}
		defer farm.Close()
	}
	measure, end, err := refresher(session.Command{Console: c, Path: cmd.CommandPath(), Resume: func() string { return flagset.ResumeLine(cmd) }, Config: cfg, File: cf.File()}, &f)
	if err != nil {
		return nil, err
	}
	defer end(ctx)
	f.Pool = labs.NewPool(c, f.Session)
	defer f.Pool.Close()
	store, err := openstore.Open(ctx, c, set.Store)
	if err != nil {
		return nil, err
	}
	var base interleaved.Base // what was kept before
	if cfg != nil {
		base = interleaved.Kept(ctx, c, cfg, store, f.Evidence.Folder, nil)
		defer base.Close(c)
	}
	measured, err := measure(ctx, store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	sound := runstore.SoundOf(store)
	set.Policy.Budget = interleaved.BudgetOf(cfg, base, measured, f.Farm)
	settler := interleaved.Settler{Console: c, Config: cfg, Flags: f.CollectFlags, Base: base, Store: store}
	done, err := refreshWith(ctx, sound, measured, set, f, settler)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if note := farm.Note(); note != "" {
		done.Notes = append(done.Notes, note)
	}
	done.Loss = errors.Join(measured.Lost, done.Loss, openstore.Damage(c, sound), store.Close())
	done.Refresh.Lost = measured.Lacking(done.Loss)
	return done, nil
}

// refreshSource makes the new runs and stores them in the history, not accepted yet. A loss does
// not affect the others.
type refreshSource func(context.Context, runstore.Store) (measurement.Measured, error)

// refreshConfig returns the configuration to measure; nil if the runs come from files.
func refreshConfig(c terminal.Console, cf settings.ConfigFlags, f Refreshing) (*config.Config, error) {
	if len(f.runs) > 0 {
		return nil, f.Sessions.Refuse("--run takes runs from a file, and nothing is measured")
	}
	return f.Sessions.Config(c, cf.Config, f.CollectFlags)
}

// refresher returns the source of the new runs, after checking the flags, and what is to be done at
// the end.
func refresher(c session.Command, f *Refreshing) (refreshSource, func(context.Context), error) {
	if c.Config == nil {
		runs, err := refreshRuns(c.Console, *f)
		return func(ctx context.Context, store runstore.Store) (measurement.Measured, error) {
			if _, err := store.Add(ctx, runs...); err != nil {
				return measurement.Measured{}, openstore.Error(err)
			}
			return measurement.Measured{Runs: runs}, nil
		}, func(context.Context) {}, err
	}
	f.Evidence.APK = c.Config.Evidence.APK
	measuring, err := session.Begin(c, f.Sessions, &f.CollectFlags)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, store runstore.Store) (measurement.Measured, error) {
		return measurement.MeasureInto(ctx, c.Console, c.Config, f.CollectFlags, store)
	}, measuring.End, nil
}

// refreshRuns reads the files of --run.
func refreshRuns(c terminal.Console, f Refreshing) ([]run.Run, error) {
	imports := inputfiles.ImportFlags{Pkg: f.pkg, Context: f.context, Version: f.Version, Commit: f.Commit}
	if len(f.Scenarios) == 1 {
		imports.Scenario = f.Scenarios[0]
	}
	runs, err := inputfiles.Runs(c, f.runs, imports)
	if err == nil {
		runs, err = inputfiles.Distinct(runs, f.runs)
	}
	if err == nil && len(runs) == 0 {
		err = exit.Usage(fmt.Errorf("nothing to accept: no run in %s", strings.Join(f.runs, ", ")), "")
	}
	return runs, err
}

// refreshBatch is the prefix of the batch of a refresh's marks, by which the next one finds them.
const refreshBatch = "refresh "

// refreshWith checks the runs, measures more if that leaves something undecided, and accepts or
// refuses them.
func refreshWith(ctx context.Context, store *runstore.Sound, measured measurement.Measured, set settings.Settings, f Refreshing, settler interleaved.Settler) (*Refreshed, error) {
	var err error
	runs := measured.Runs
	if set.Catalogue, err = run.Catalogue(set.Catalogue, runs...); err != nil {
		return nil, exit.Usage(err, "")
	}
	last, before, err := acceptedBefore(ctx, store, runs)
	if err != nil {
		return nil, openstore.Error(err)
	}
	settler.Set, settler.Judge = set, func(runs []run.Run) (layout.Input, error) {
		verdict, err := judging.OfStore(ctx, store, set, judging.Lineage{}).Check(runs, set, nil)
		return layout.Input{Verdict: verdict, Runs: runs}, err
	}
	judged, err := settler.Judge(runs)
	if err != nil {
		return nil, err
	}
	judged, unsettled := settler.Settle(ctx, judged, measured)
	if unsettled != nil && ctx.Err() != nil {
		return nil, unsettled
	}
	runs, verdict := judged.Runs, judged.Verdict
	decided := ""
	if f.Decided != nil && verdict.Verdict == gate.Regression && !f.AcceptRegression {
		decided = f.Decided(verdict, set.Catalogue, newestCommit(before))
	}
	acceptRegression := f.AcceptRegression || decided != ""
	did := sortOut(verdict, acceptRegression)
	did.Drift = drift.Of(set.Policy, set.Catalogue, runs, last, before)
	did.DriftFails = set.FailOn == gate.FailDrift && slices.ContainsFunc(did.Drift, drift.Line.Creeps)
	did.Warnings = append(did.Warnings, openstore.DamageWarnings(store)...)
	did.Simulated = judging.Simulated(runs)
	if err := keepRefused(ctx, store, verdict, did); err != nil {
		return nil, err
	}
	if ids := did.Accepted; len(ids) > 0 {
		if err := store.Mark(ctx, ids, refreshMark(ids, decided)); err != nil {
			return nil, openstore.Error(err)
		}
	}
	done := Refreshed{
		RefreshInput: judging.CompletedRefresh(layout.RefreshInput{Refresh: did}, set.Catalogue), FailOn: set.FailOn, Loss: unsettled,
	}
	if decided != "" {
		done.Notes = append(done.Notes, "The regression was "+decided+".")
	}
	done.Notes = append(done.Notes, judged.Notes...)
	done.Judged = &layout.Input{Verdict: verdict, Catalogue: set.Catalogue, Meta: judging.MetaOf(runs), Runs: runs, Kept: runevidence.ForReport(runs, openstore.Kept(set.Store))}
	if acceptRegression && verdict.Verdict == gate.Regression && !did.DriftFails {
		done.FailOn = gate.FailNever
	}
	return &done, nil
}

// withAnother is why a refresh refuses a run that is no regression itself.
const withAnother = "another run of this refresh is a regression"

// keepRefused stores the gate's outcome of each run, and why runs were refused.
func keepRefused(ctx context.Context, store runstore.Store, v gate.Verdict, did saved.Refresh) error {
	if err := openstore.Judged(ctx, store, v); err != nil {
		return err
	}
	var others []string
	for _, r := range did.Refused {
		if r.Reason == withAnother {
			others = append(others, r.ID)
		}
	}
	return openstore.Refuse(ctx, store, others, "refused by baseline refresh: "+withAnother)
}

// refreshMark accepts the runs of a refresh as one batch. Its name follows from the runs, so that
// repeating it is no other refresh.
// decided is who accepted a regression among them, and why.
func refreshMark(ids []string, decided string) runstore.Mark {
	note := "baseline refresh"
	if decided != "" {
		note = prose.Fit(note+", "+decided, run.MaxText)
	}
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(ids)), "\x00")))
	return runstore.Mark{State: runstore.Accepted, Note: note, Batch: refreshBatch + hex.EncodeToString(sum[:8])}
}

// newestCommit returns the commit of the newest run that has one, "" for none.
func newestCommit(runs []run.Run) string {
	var newest run.Run
	for _, r := range runs {
		if r.Source.Commit != "" && !r.Started.Before(newest.Started) {
			newest = r
		}
	}
	return newest.Source.Commit
}

// sortOut decides which runs are accepted. A build that is worse on one device is a worse build:
// its other runs do not become references.
func sortOut(v gate.Verdict, acceptRegression bool) saved.Refresh {
	r := saved.Refresh{Verdict: v.Verdict, Warnings: v.Warnings}
	refuse := v.Verdict == gate.Regression && !acceptRegression
	for _, x := range v.Runs {
		switch {
		case x.Verdict == gate.Invalid, refuse && x.Verdict == gate.Regression:
			r.Refused = append(r.Refused, saved.Refusal{ID: x.ID, Verdict: x.Verdict, Reason: x.Reason})
		case refuse:
			r.Refused = append(r.Refused, saved.Refusal{ID: x.ID, Verdict: x.Verdict, Reason: withAnother})
		default:
			r.Accepted = append(r.Accepted, x.ID)
		}
	}
	return r
}
