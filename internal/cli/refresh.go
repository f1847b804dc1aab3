package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
)

type refreshFlags struct {
	policyFlags
	outputFlags
	collectFlags
	runs, context    []string
	pkg              string
	acceptRegression bool
	found            func(refreshResult) // told of what it comes to; no flag
}

// refreshResult is what a refresh comes to, and how it is shown.
type refreshResult struct {
	layout.Refresh
	sheet layout.Sheet
	data  sheetData
}

func (c Command) baselineRefresh(cf *configFlags) *cobra.Command {
	var f refreshFlags
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Measure the main branch, accept its runs, and say what drifts",
		Long: `Measures as run does, checks the runs against the history, and accepts them: what
later runs are compared with stays new. Where the gate calls one of them a
regression none is accepted, since all are of one build; they are kept unmarked,
and --accept-regression accepts them after all.

It then says how each metric moved since the last refresh, since all that was
accepted before, and by its trend over all of it: a slow creep that no single
refresh shows.

With --run it takes runs that were measured elsewhere instead.`,
		Example: `  apkgate baseline refresh
  apkgate baseline refresh --run nightly.jsonl --format markdown`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.refresh(cmd, *cf, f) },
	}
	f.policyFlags.register(cmd)
	f.outputFlags.register(cmd)
	f.collectFlags.register(cmd)
	cmd.Flags().StringArrayVar(&f.runs, "run", nil, "a file of runs to accept, instead of measuring; may be repeated")
	cmd.Flags().StringVar(&f.pkg, "package", "", "the app, for files of --run that don't name it")
	cmd.Flags().StringArrayVar(&f.context, "context", nil, "a context property, NAME=VALUE, for files of --run that don't name it; may be repeated")
	cmd.Flags().BoolVar(&f.acceptRegression, "accept-regression", false, "accept the runs even if the gate calls one a regression")
	return cmd
}

func (c Command) refresh(cmd *cobra.Command, cf configFlags, f refreshFlags) error {
	if err := oneOf("format", Format(f.format), reportFormats); err != nil {
		return err
	}
	set, err := c.settings(cmd, cf, f.policyFlags)
	if err != nil {
		return err
	}
	f.outputFlags.places = c.placesOf(set.config, cf.file())
	if err := keepsInput(f.outputFlags.files(), f.runs, []string{set.store, cf.file()}); err != nil {
		return err
	}
	measure, err := c.refresher(cf, f)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	store, err := c.openStore(ctx, set.store)
	if err != nil {
		return err
	}
	runs, loss, err := measure(ctx, store)
	switch {
	case err != nil:
	case len(runs) == 0:
		err = loss
	default:
		err = c.refreshWith(ctx, baseline.SoundOf(store), runs, loss, set, f)
	}
	return errors.Join(err, store.Close())
}

// refreshSource makes the new runs and keeps them in the history, not accepted
// yet. loss is why some are not whole: it does not hold up the others.
type refreshSource func(context.Context, baseline.Store) (runs []run.Run, loss, err error)

// refresher is where the new runs come from, with what the user said of it checked.
func (c Command) refresher(cf configFlags, f refreshFlags) (refreshSource, error) {
	if len(f.runs) > 0 {
		runs, err := c.refreshRuns(f)
		return func(ctx context.Context, store baseline.Store) ([]run.Run, error, error) {
			if _, err := store.Add(ctx, runs...); err != nil {
				return nil, nil, storeError(err)
			}
			return runs, nil, nil
		}, err
	}
	cfg, err := c.collectConfig(cf.config, f.collectFlags)
	return func(ctx context.Context, store baseline.Store) ([]run.Run, error, error) {
		results, err := c.measure(ctx, cfg, f.collectFlags, func(r run.Run) error {
			if _, err := store.Add(context.WithoutCancel(ctx), r); err != nil {
				return storeError(err)
			}
			return nil
		})
		return measuredRuns(results), lossOf(results), err
	}, err
}

// refreshRuns reads the files of --run.
func (c Command) refreshRuns(f refreshFlags) ([]run.Run, error) {
	imports := importFlags{pkg: f.pkg, context: f.context, version: f.version, commit: f.commit}
	if len(f.scenarios) == 1 {
		imports.scenario = f.scenarios[0]
	}
	runs, err := c.readRuns(f.runs, imports)
	if err == nil {
		runs, err = distinct(runs, f.runs)
	}
	if err == nil && len(runs) == 0 {
		err = usage(fmt.Errorf("nothing to accept: no run in %s", strings.Join(f.runs, ", ")), "")
	}
	return runs, err
}

// refreshBatch begins the batch of the marks that a refresh makes, by which the
// next one finds them.
const refreshBatch = "refresh "

// refreshWith checks the runs, accepts or refuses them, and reports.
func (c Command) refreshWith(ctx context.Context, store *baseline.Sound, runs []run.Run, loss error, set settings, f refreshFlags) error {
	var err error
	if set.catalogue, err = run.Catalogue(set.catalogue, runs...); err != nil {
		return usage(err, "")
	}
	last, before, err := acceptedBefore(ctx, store, runs)
	if err != nil {
		return storeError(err)
	}
	verdict, err := pastOf(ctx, store, set).check(runs, set, nil)
	if err != nil {
		return err
	}
	in := layout.RefreshInput{
		Refresh:   sortOut(verdict, f.acceptRegression),
		Catalogue: set.catalogue, Version: "apkgate " + version(),
	}
	in.Refresh.Drift = drift.Of(set.policy, set.catalogue, runs, last, before)
	in.Refresh.Warnings = append(in.Refresh.Warnings, damageWarnings(store)...)
	in.Hint = refreshHint(in.Refresh)
	if in.Refresh.Simulated = simulated(runs); in.Refresh.Simulated {
		in.Notes = []string{simulatedNote}
	}
	if ids := in.Refresh.Accepted; len(ids) > 0 {
		if err := store.Mark(ctx, ids, refreshMark(ids)); err != nil {
			return storeError(err)
		}
	}
	data := sheetData{
		json: func(w io.Writer) error { return layout.RefreshJSON(w, in.Refresh) },
		sarif: func(w io.Writer, places layout.Places) error {
			return layout.SARIF(w, layout.Input{Verdict: verdict, Catalogue: set.catalogue, Meta: set.meta(runs)}, places)
		},
	}
	sheet := layout.RefreshSheet(in)
	if f.found != nil {
		f.found(refreshResult{in.Refresh, sheet, data})
	}
	if err := c.writeSheet(sheet, data, f.outputFlags); err != nil {
		return err
	}
	failOn := set.failOn
	if f.acceptRegression && verdict.Verdict == gate.Regression {
		failOn = FailNever
	}
	return exitOf(verdict.Verdict, failOn, errors.Join(loss, c.damageOf(store)))
}

// refreshHint is what to do about runs that a refresh did not accept.
func refreshHint(r layout.Refresh) string {
	isWorse := func(x layout.Refusal) bool { return x.Verdict == gate.Regression }
	switch {
	case len(r.Refused) == 0:
		return ""
	case !slices.ContainsFunc(r.Refused, isWorse):
		return "fix what ended the runs that are refused, and refresh again"
	}
	return "look at the runs that are refused (apkgate check); --accept-regression accepts a change that is wanted, and apkgate baseline rebaseline starts a new level with it"
}

// refreshMark accepts the runs of a refresh as one batch. Its name follows from
// the runs, so that doing it again is no other refresh.
func refreshMark(ids []string) baseline.Mark {
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(ids)), "\x00")))
	return baseline.Mark{State: baseline.Accepted, Note: "baseline refresh", Batch: refreshBatch + hex.EncodeToString(sum[:8])}
}

// sortOut says which runs are accepted. A build that is worse on one device is a
// worse build: its other runs do not become what later ones are measured by.
func sortOut(v gate.Verdict, acceptRegression bool) layout.Refresh {
	r := layout.Refresh{Verdict: v.Verdict, Warnings: v.Warnings}
	refuse := v.Verdict == gate.Regression && !acceptRegression
	for _, x := range v.Runs {
		switch {
		case x.Verdict == gate.Invalid, refuse && x.Verdict == gate.Regression:
			r.Refused = append(r.Refused, layout.Refusal{ID: x.ID, Verdict: x.Verdict, Reason: x.Reason})
		case refuse:
			r.Refused = append(r.Refused, layout.Refusal{ID: x.ID, Verdict: x.Verdict, Reason: "another run of this refresh is a regression"})
		default:
			r.Accepted = append(r.Accepted, x.ID)
		}
	}
	return r
}

// driftRuns bounds the accepted runs of a scenario that a drift is told from.
const driftRuns = 2000

// acceptedBefore are the newest accepted runs of the same scenarios as the new
// ones, on the level that counts, and those of them that the last refresh
// accepted.
func acceptedBefore(ctx context.Context, store baseline.Store, now []run.Run) (last, before []run.Run, err error) {
	isNew, seen := map[string]bool{}, map[[2]string]bool{}
	for _, r := range now {
		isNew[r.ID] = true
	}
	for _, r := range now {
		key := [2]string{r.App.Package, r.Scenario}
		if seen[key] {
			continue
		}
		seen[key] = true
		ofLast, all, err := acceptedOf(ctx, store, key, isNew)
		if err != nil {
			return nil, nil, err
		}
		if len(all) == 0 {
			continue
		}
		for r, err := range baseline.Runs(store.Export(ctx, baseline.Filter{IDs: all})) {
			if err != nil {
				return nil, nil, err
			}
			before = append(before, r)
			if ofLast[r.ID] {
				last = append(last, r)
			}
		}
	}
	return last, before, nil
}

// acceptedOf lists the ids of an app's scenario, and which of them the last
// refresh accepted.
func acceptedOf(ctx context.Context, store baseline.Store, of [2]string, isNew map[string]bool) (last map[string]bool, all []string, err error) {
	var newest baseline.Mark // of a refresh
	batch := map[string]string{}
	filter := baseline.Filter{
		Package: of[0], Scenario: of[1], Status: run.Complete, Limit: driftRuns, Level: true,
		States: []baseline.State{baseline.Accepted, baseline.Rebaselined},
	}
	for e, err := range store.List(ctx, filter) {
		if err != nil {
			return nil, nil, err
		}
		if isNew[e.Run.ID] {
			continue
		}
		all = append(all, e.Run.ID)
		batch[e.Run.ID] = e.Mark.Batch
		if strings.HasPrefix(e.Mark.Batch, refreshBatch) && !e.Mark.At.Before(newest.At) {
			newest = e.Mark
		}
	}
	last = map[string]bool{}
	for id, of := range batch {
		last[id] = of == newest.Batch && newest.Batch != ""
	}
	return last, all, nil
}
