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
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/report/layout"
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
*-benchmarkData.json as Macrobenchmark writes it, flashlight results, and lists of
{name,unit,value}.
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
	before, done, err := c.history(ctx, f, set)
	if err != nil {
		return err
	}
	defer done()
	in, err := c.judge(runs, before, set, f.outputFlags)
	if err != nil {
		return err
	}
	return exitOf(in.Verdict.Verdict, set.failOn, c.damageOf(before.sound))
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
			return nil, sameID(files, r.ID)
		}
	}
	return out, nil
}

// judge makes the verdict on runs and shows it. It returns what it showed.
func (c Command) judge(runs []run.Run, before past, set settings, out outputFlags) (layout.Input, error) {
	energy := make([]*hotspots.Change, len(runs))
	verdict, err := before.check(runs, set, func(i int, refs []run.Summary) (err error) {
		energy[i], err = before.whereItWent(runs[i], refs)
		return err
	})
	if err != nil {
		return layout.Input{}, err
	}
	in := layout.Input{
		Verdict: verdict, Runs: runs, Catalogue: set.catalogue, Notes: append(notesOn(verdict), set.notes...), Meta: set.meta(runs),
	}
	for _, change := range energy {
		if change != nil {
			in.Energy = append(in.Energy, *change)
		}
	}
	in.Verdict.Warnings = append(in.Verdict.Warnings, damageWarnings(before.sound)...)
	return in, c.write(in, out)
}

// history is that of the files, or else of the store, which is to be closed.
func (c Command) history(ctx context.Context, f checkFlags, set settings) (before past, done func() error, err error) {
	if len(f.history) > 0 {
		files, err := c.readHistory(f.history, f.importFlags, set, 0)
		if err != nil {
			return past{}, nil, err
		}
		return files.past(set), func() error { return nil }, nil
	}
	store, err := c.openToRead(ctx, set.store)
	if err != nil {
		return past{}, nil, err
	}
	return pastOf(ctx, baseline.SoundOf(store), set), store.Close, nil
}

// simulated reports whether a run was made on simulated devices.
func simulated(runs []run.Run) bool {
	return slices.ContainsFunc(runs, func(r run.Run) bool { return r.Context[devctx.Simulated] != "" })
}
