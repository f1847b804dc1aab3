// Package baselinecmd implements the command apkgate baseline: showing and changing the history
// that runs are compared with, and the refresh by the main branch.
//
// It stores nothing itself, which belongs to package runstore. Runs never change; decisions about
// them are marks.
//
// It has more files than other packages: each of the commands has one.
package baselinecmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Command returns apkgate baseline, with its subcommands.
func Command(c terminal.Console) *cobra.Command {
	var f settings.ConfigFlags
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Look at and change the history that runs are compared with",
		Long: `The history holds every run that was measured. Only accepted ones are compared
with. Runs never change, and only prune removes any: accept and reject mark them.`,
		Args: onlyCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&f.Config, "config", "", "the configuration (default apkgate.yml where there is one)")
	cmd.PersistentFlags().StringVar(&f.Store, "store", "", "the history, instead of the configuration's: "+openstore.Forms())
	cmd.AddCommand(
		listCommand(c, &f), showCommand(c, &f), evidenceCommand(c, &f), refreshCommand(c, &f),
		acceptCommand(c, &f), rejectCommand(c, &f), rebaselineCommand(c, &f),
		contextsCommand(c, &f), trendCommand(c, &f), anrsCommand(c, &f), importCommand(c, &f), exportCommand(c, &f), copyCommand(c, &f), pruneCommand(c, &f), verifyCommand(c, &f), repairCommand(c, &f),
	)
	return cmd
}

// removing are words of other tools for what a history does not have: a command that removes a run.
var removing = []string{"rm", "remove", "delete", "del"}

// onlyCommands are the Args of baseline itself: it explains the absence of a command that removes a
// run, which other tools have.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && slices.Contains(removing, args[0]) {
		return exit.Usage(fmt.Errorf("%s has no command %q: a run is never removed by itself", cmd.CommandPath(), args[0]),
			"apkgate baseline reject keeps a run out of what later ones are compared with; apkgate baseline prune removes old runs")
	}
	return arguments.OnlyCommands(cmd, args)
}

// runNamed returns the run of an id, or of the beginning of one.
func runNamed(ctx context.Context, s runstore.Store, id string) (runstore.Entry, error) {
	e, err := s.Get(ctx, id)
	switch {
	case err == nil:
		return e, nil
	case errors.Is(err, runstore.ErrNotFound) && len(id) < runstore.MinPrefix:
		return e, exit.Usage(fmt.Errorf("%w: %q is too short to be the beginning of an id, want %d characters or more", runstore.ErrNotFound, id, runstore.MinPrefix), listsRuns)
	case errors.Is(err, runstore.ErrNotFound):
		return e, exit.Usage(err, listsRuns)
	}
	return e, openstore.Error(err)
}

// listsRuns is where the ids of runs are shown.
const listsRuns = "apkgate baseline list --by run shows each run with its id"

// withStore calls do with the sound part of the history, which must exist. Damage is reported
// afterwards.
func withStore(ctx context.Context, c terminal.Console, f settings.ConfigFlags, do func(runstore.Store) error) error {
	return with(ctx, c, f, openstore.OpenExisting, do)
}

// reading calls do, which changes nothing, with the history, which must exist.
func reading(ctx context.Context, c terminal.Console, f settings.ConfigFlags, do func(runstore.Store) error) error {
	return with(ctx, c, f, openstore.OpenToRead, do)
}

// opener opens the history at an address.
type opener func(ctx context.Context, c terminal.Console, address string) (runstore.Store, error)

func with(ctx context.Context, c terminal.Console, f settings.ConfigFlags, open opener, do func(runstore.Store) error) error {
	path, err := settings.StoreAddress(f)
	if err != nil {
		return err
	}
	store, err := open(ctx, c, path)
	if err != nil {
		return err
	}
	sound := runstore.SoundOf(store)
	return errors.Join(do(sound), openstore.Damage(c, sound), store.Close())
}

// verifyGCPercent is how much may be allocated in addition to what is in use, in percent of that:
// some 10 MB are in use.
const verifyGCPercent = 800

func verifyCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Read the whole history and say what is damaged", Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reading(cmd.Context(), c, *f, func(s runstore.Store) error {
				// Millions of small, short-lived values and next to nothing that stays: collected
				// less often, they cost half the time.
				defer debug.SetGCPercent(debug.SetGCPercent(verifyGCPercent))
				damages, err := s.Verify(cmd.Context())
				if err != nil {
					return openstore.Error(err)
				}
				for _, d := range damages {
					fmt.Fprintln(c.Stdout, d)
				}
				if len(damages) > 0 {
					return exit.WithStatus(exit.StatusInfrastructure, fmt.Errorf("%d %s damaged", len(damages), prose.Plural(len(damages), "part of the history is", "parts of the history are")), openstore.RepairHint)
				}
				fmt.Fprintln(c.Stdout, "the history is whole")
				return nil
			})
		},
	}
}

func atLeastOneRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return exit.Usage(fmt.Errorf("%s takes the id of a run", cmd.CommandPath()), listsRuns)
	}
	return nil
}
