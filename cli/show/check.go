// Package show implements the commands that need no device: check and noise judge what was
// measured, report shows a saved verdict again, and inspect shows the contents of a recording.
//
// It changes neither runs nor the history.
package show

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/flagset"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/explanation"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/sourcelocation"
	"github.com/apkgate/apkgate/usecase/terminal"
)

type checkFlags struct {
	settings.ConfigFlags
	settings.PolicyFlags
	output.OutputFlags
	inputfiles.ImportFlags
	history, runs []string
}

// CheckCommand returns apkgate check.
func CheckCommand(c terminal.Console) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Check measured runs against the history, without a device",
		Long: `Checks runs against the history of accepted ones and says pass or fail.

FILE (or --run) is one of apkgate.run/1 records (JSON, JSON Lines, also .gz and .zst), androidx
*-benchmarkData.json as Macrobenchmark writes it, flashlight results, lists of
{name,unit,value}, CSV with the header name,unit,value, or lines of name=value such as
search=31ms; - is standard input.
--history takes the same; without it the store of apkgate.yml is asked.`,
		Example: `  apkgate check run.json
  apkgate check --history history.jsonl run.json --preset dune --format json
  echo search=31ms | apkgate check --package com.example.mail --scenario search -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.runs = slices.Concat(f.runs, args)
			return check(c, cmd, f)
		},
	}
	cmd.Flags().StringArrayVar(&f.runs, "run", nil, "a file of runs to check, as FILE is; may be repeated")
	cmd.Flags().StringArrayVar(&f.history, "history", nil, "a file of accepted runs instead of the store; may be repeated")
	flagset.Config(cmd, &f.ConfigFlags)
	flagset.Policy(cmd, &f.PolicyFlags)
	f.OutputFlags.Register(cmd)
	flagset.Import(cmd, &f.ImportFlags)
	return cmd
}

func check(c terminal.Console, cmd *cobra.Command, f checkFlags) error {
	ctx := cmd.Context()
	if len(f.runs) == 0 {
		return exit.Usage(errors.New("nothing to check: no file of runs is named"), "apkgate check --history history.jsonl run.json")
	}
	if err := f.OutputFlags.Check(); err != nil {
		return err
	}
	set, err := settings.Read(cmd.Flags().Changed, f.ConfigFlags, f.PolicyFlags)
	if err != nil {
		return err
	}
	f.OutputFlags.Places = sourcelocation.Of(c, set.Config, f.ConfigFlags.File())
	if err := atomicfile.KeepsInput(f.OutputFlags.Files(), f.runs, f.history, []string{set.Store, f.ConfigFlags.File()}); err != nil {
		return err
	}
	runs, err := inputfiles.Runs(c, f.runs, f.ImportFlags)
	if err != nil {
		return err
	}
	if runs, err = inputfiles.Distinct(runs, f.runs); err != nil {
		return err
	}
	if len(runs) == 0 {
		return exit.Usage(fmt.Errorf("nothing to check: no run in %s", strings.Join(f.runs, ", ")), "")
	}
	if set.Catalogue, err = run.Catalogue(set.Catalogue, runs...); err != nil {
		return exit.Usage(err, "")
	}
	before, done, err := historyOf(ctx, c, f, &set, runs[0].ID)
	if err != nil {
		return err
	}
	defer done()
	set.Policy.Budget = gate.Budget{Alone: true}
	if runs[0].Context[importer.MeasuredBy] != "" {
		set.Policy.Settling = "compare runs of both builds that were measured alternately: apkgate compare BASE HEAD"
	}
	in, err := judging.Judge(runs, before, set)
	if err != nil {
		return err
	}
	in.Why = toExplain(in)
	in.Kept = runevidence.LinkFrom(f.Path(output.FormatHTML), keptWith(runs, f.runs))
	if err := output.Write(c, layout.Verdict(in), f.OutputFlags); err != nil {
		return err
	}
	return exit.Of(in.Verdict.Verdict, set.FailOn, openstore.Damage(c, before.Sound))
}

// toExplain returns how to explain what nothing explains yet.
func toExplain(in layout.Input) string {
	return explanation.Next(judging.RegressedIn(in), "apkgate run --base OLD.apk, with the build before the change, records both")
}

// keptWith returns where the files are that were kept with the runs of files.
func keptWith(runs []run.Run, names []string) map[string]layout.KeptFile {
	var folders []*evidence.Folder
	for _, name := range names {
		folders = append(folders, openstore.Kept(name))
	}
	return runevidence.ForReport(runs, folders...)
}

// historyOf returns that of the files, or else of the store, which is to be closed. It sets how the
// runs, of which one is given, are accepted: only what is in a store has an id there.
func historyOf(ctx context.Context, c terminal.Console, f checkFlags, set *settings.Settings, one string) (before judging.Past, done func() error, err error) {
	if len(f.history) > 0 {
		files, err := judging.OfFiles(c, f.history, f.ImportFlags, *set, 0)
		if err != nil {
			return judging.Past{}, nil, err
		}
		set.Policy.Accepting = "add what the main branch measured to a file of --history"
		return files.Past(*set), func() error { return nil }, nil
	}
	store, err := openstore.OpenToRead(ctx, c, set.Store)
	if err != nil {
		return judging.Past{}, nil, err
	}
	if _, err := store.Get(ctx, one); errors.Is(err, runstore.ErrNotFound) {
		set.Policy.Accepting = "apkgate baseline import FILE accepts what the main branch measured"
	}
	return judging.OfStore(ctx, runstore.SoundOf(store), *set, judging.Lineage{}), store.Close, nil
}
