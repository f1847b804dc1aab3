// Package baselinecmd is the command apkgate baseline: what looks at and changes the
// history that runs are compared with, and the refresh by the main branch.
//
// It keeps nothing itself: a store of package baseline does. Runs never change; what
// is decided about them is a mark.
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

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Command is apkgate baseline, with all that it can be told to do.
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
		contextsCommand(c, &f), anrsCommand(c, &f), importCommand(c, &f), exportCommand(c, &f), copyCommand(c, &f), pruneCommand(c, &f), verifyCommand(c, &f), repairCommand(c, &f),
	)
	return cmd
}

// onlyCommands are the Args of baseline itself: what others call a command of theirs that removes
// runs is none here.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && slices.Contains([]string{"rm", "remove", "delete", "del"}, args[0]) {
		return exit.Usage(fmt.Errorf("%s has no command %q: a run is never removed by itself", cmd.CommandPath(), args[0]),
			"apkgate baseline reject keeps a run out of what later ones are compared with; apkgate baseline prune removes old runs")
	}
	return arguments.OnlyCommands(cmd, args)
}

// runNamed is the run of an id, or of the beginning of one.
func runNamed(ctx context.Context, s baseline.Store, id string) (baseline.Entry, error) {
	e, err := s.Get(ctx, id)
	switch {
	case err == nil:
		return e, nil
	case errors.Is(err, baseline.ErrNotFound) && len(id) < baseline.MinPrefix:
		return e, exit.Usage(fmt.Errorf("%w: %q is too short to be the beginning of an id, want %d characters or more", baseline.ErrNotFound, id, baseline.MinPrefix), listsRuns)
	case errors.Is(err, baseline.ErrNotFound):
		return e, exit.Usage(err, listsRuns)
	}
	return e, openstore.Error(err)
}

// listsRuns says where the ids of runs are shown.
const listsRuns = "apkgate baseline list --by run shows each run with its id"

// withStore runs do on the sound part of the history, which has to be there. What
// was damaged is told when it is done.
func withStore(ctx context.Context, c terminal.Console, f settings.ConfigFlags, do func(baseline.Store) error) error {
	return with(ctx, c, f, openstore.OpenExisting, do)
}

// reading runs do, which changes nothing, on the history, which has to be there.
func reading(ctx context.Context, c terminal.Console, f settings.ConfigFlags, do func(baseline.Store) error) error {
	return with(ctx, c, f, openstore.OpenToRead, do)
}

// opener opens the history at an address.
type opener func(ctx context.Context, c terminal.Console, address string) (baseline.Store, error)

func with(ctx context.Context, c terminal.Console, f settings.ConfigFlags, open opener, do func(baseline.Store) error) error {
	path, err := settings.StoreAddress(f)
	if err != nil {
		return err
	}
	store, err := open(ctx, c, path)
	if err != nil {
		return err
	}
	sound := baseline.SoundOf(store)
	return errors.Join(do(sound), openstore.Damage(c, sound), store.Close())
}

// verifyGCPercent is how much may be allocated beside what is in use, in percent
// of that: some 10 MB are in use.
const verifyGCPercent = 800

func verifyCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Read the whole history and say what is damaged", Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reading(cmd.Context(), c, *f, func(s baseline.Store) error {
				// Millions of small, short-lived values and next to nothing that
				// stays: collected less often, they cost half the time.
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
