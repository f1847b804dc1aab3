package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report"
	"github.com/apkgate/apkgate/run"
)

type checkFlags struct {
	configFlags
	policyFlags
	outputFlags
	importFlags
	history, runs []string
}

func (c Command) checkVerb() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check --run FILE [--run FILE …]",
		Short: "Check measured runs against the history, without a device",
		Long: `Checks runs against the history of accepted ones and says pass or fail.

--run takes apkgate.run/1 records (JSON, JSON Lines, also .gz and .zst), androidx
*-benchmarkData.json as Macrobenchmark writes it, and lists of {name,unit,value}.
--history takes the same; without it the store of apkgate.yml is asked.`,
		Example: `  apkgate check --history history.jsonl --run run.json
  apkgate check --history history.jsonl --run run.json --preset dune --format json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.check(cmd, f) },
	}
	cmd.Flags().StringArrayVar(&f.runs, "run", nil, "a file of runs to check; may be repeated")
	cmd.Flags().StringArrayVar(&f.history, "history", nil, "a file of accepted runs instead of the store; may be repeated")
	f.configFlags.register(cmd)
	f.policyFlags.register(cmd)
	f.outputFlags.register(cmd)
	f.importFlags.register(cmd)
	return cmd
}

func (c Command) check(cmd *cobra.Command, f checkFlags) error {
	ctx := cmd.Context()
	if len(f.runs) == 0 {
		return usage(errors.New("nothing to check: --run names no file"), "apkgate check --history history.jsonl --run run.json")
	}
	if err := oneOf("format", Format(f.format), reportFormats); err != nil {
		return err
	}
	set, err := c.settings(cmd, f.configFlags, f.policyFlags)
	if err != nil {
		return err
	}
	f.outputFlags.places = c.placesOf(set.config, f.configFlags.file())
	if err := keepsInput(f.outputFlags.files(), f.runs, f.history, []string{set.store, f.configFlags.file()}); err != nil {
		return err
	}
	runs, err := c.readRuns(f.runs, f.importFlags)
	if err != nil {
		return err
	}
	if runs, err = distinct(runs, f.runs); err != nil {
		return err
	}
	if len(runs) == 0 {
		return usage(fmt.Errorf("nothing to check: no run in %s", strings.Join(f.runs, ", ")), "")
	}
	if set.catalogue, err = run.Catalogue(set.catalogue, runs...); err != nil {
		return usage(err, "")
	}
	var before past
	if len(f.history) > 0 {
		var history []run.Run
		history, err = c.readHistory(f.history, f.importFlags)
		before = past{historyOf(history, set), wholeOf(history)}
	} else {
		var store baseline.Store
		if store, err = c.openExisting(ctx, set.store); err == nil {
			defer store.Close()
			before = past{storeHistory(ctx, store, set), wholeFrom(ctx, store)}
		}
	}
	if err != nil {
		return err
	}
	in, err := c.judge(runs, before, set, f.outputFlags)
	if err != nil {
		return err
	}
	return exitOf(in.Verdict.Verdict, set.failOn, nil)
}

// distinct leaves out runs that are given twice. Two runs of one id with other
// content can't be told apart in a verdict, so they are refused.
func distinct(runs []run.Run, files []string) ([]run.Run, error) {
	digestOf := map[string]string{}
	var out []run.Run
	for _, r := range runs {
		digest, err := r.Digest()
		if err != nil {
			return nil, usage(err, "")
		}
		switch known, ok := digestOf[r.ID]; {
		case !ok:
			digestOf[r.ID] = digest
			out = append(out, r)
		case known != digest:
			return nil, usage(fmt.Errorf("read runs of %s: two runs have the id %q and other content", strings.Join(files, ", "), clip(r.ID)),
				"give each an id of its own, or none: it is then named by its content")
		}
	}
	return out, nil
}

// judge makes the verdict on runs and shows it. It returns what it showed.
func (c Command) judge(runs []run.Run, before past, set settings, out outputFlags) (report.Input, error) {
	subjects := make([]gate.Subject, len(runs))
	for i, r := range runs {
		refs, err := before.like(r)
		if err != nil {
			return report.Input{}, err
		}
		subjects[i] = gate.Subject{Run: r, References: refs}
	}
	energy, err := whereItWent(subjects, before.whole)
	if err != nil {
		return report.Input{}, err
	}
	in := report.Input{
		Verdict: gate.Check(set.policy, set.catalogue, subjects), Runs: runs, Energy: energy,
		Catalogue: set.catalogue, Notes: set.notes, Meta: set.meta(runs),
	}
	if simulated(runs) {
		in.Notes = append([]string{simulatedNote}, set.notes...)
	}
	return in, c.write(in, out)
}

// readHistory reads files of runs, all of which count as accepted.
func (c Command) readHistory(files []string, f importFlags) ([]run.Run, error) {
	history, err := c.readRuns(files, f)
	if err != nil {
		return nil, err
	}
	return distinct(history, files)
}

// historyOf answers from runs that were read. Runs of one context get one answer,
// worked out once; the gate leaves out of it the run itself.
func historyOf(history []run.Run, set settings) func(run.Run) ([]run.Summary, error) {
	answers := map[string][]run.Summary{}
	return func(r run.Run) ([]run.Summary, error) {
		q := query(r, set)
		key := fmt.Sprintf("%q %q %q", q.Package, q.Scenario, q.Properties()) // maps print sorted
		if refs, ok := answers[key]; ok {
			return refs, nil
		}
		refs, err := baseline.FromRuns(history, q)
		if err != nil {
			return nil, usage(fmt.Errorf("read the history: %w", err), "")
		}
		answers[key] = refs
		return refs, nil
	}
}

func query(r run.Run, set settings) baseline.Query {
	q := baseline.For(r)
	q.Use, q.Centre = set.policy.Use, set.policy.Centre
	return q
}

func storeHistory(ctx context.Context, store baseline.Store, set settings) func(run.Run) ([]run.Summary, error) {
	return func(r run.Run) ([]run.Summary, error) {
		refs, err := store.References(ctx, query(r, set))
		if err != nil {
			return nil, infrastructure(fmt.Errorf("ask the history for runs like %s: %w", r.ID, err))
		}
		return refs, nil
	}
}

// simulated reports whether a run was made on simulated devices.
func simulated(runs []run.Run) bool {
	return slices.ContainsFunc(runs, func(r run.Run) bool { return r.Context[devctx.Simulated] != "" })
}
