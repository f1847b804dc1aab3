package baselinecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func pruneCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	var keep int
	var yes bool
	cmd := &cobra.Command{
		Use: "prune --keep N", Short: "Remove all but the newest N runs of each app, scenario and context", Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keep < 1 {
				return exit.Usage(fmt.Errorf("--keep is %d, want 1 or more", keep), "apkgate baseline prune --keep 200")
			}
			prune := func(s runstore.Store) error { return prune(cmd.Context(), c, s, keep, yes) }
			if yes {
				address, err := settings.StoreAddress(*f)
				if err != nil {
					return err
				}
				return withStore(cmd.Context(), c, *f, func(s runstore.Store) error {
					if err := prune(s); err != nil {
						return err
					}
					return pruneKept(cmd.Context(), c, s, address)
				})
			}
			return reading(cmd.Context(), c, *f, prune)
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 0, "how many to keep of each app, scenario and context")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove them; without it they are only listed")
	return cmd
}

func prune(ctx context.Context, c terminal.Console, s runstore.Store, keep int, yes bool) error {
	n := 0
	removed, err := s.Prune(ctx, runstore.Retention{Keep: keep, DryRun: !yes}, func(e runstore.Entry) error {
		n++
		_, err := fmt.Fprintf(c.Stdout, "%s  %s  %s  %s\n", terminal.Plain(e.Run.ID), terminal.Plain(e.Run.App.Package), terminal.Plain(e.Run.Scenario), terminal.Plain(devctx.Name(e.Run.Context, devctx.Named)))
		return err
	})
	if err != nil {
		return openstore.Error(err)
	}
	if yes {
		fmt.Fprintf(c.Stdout, "%d %s removed\n", removed, prose.Plural(removed, "run", "runs"))
		if stay := n - removed; stay > 0 {
			fmt.Fprintf(c.Stdout, "%d of those listed %s not: another command marked or removed %s meanwhile\n", stay, prose.Plural(stay, "was", "were"), prose.Plural(stay, "it", "them"))
		}
		return nil
	}
	fmt.Fprintf(c.Stdout, "%d %s would be removed; --yes removes them\n", n, prose.Plural(n, "run", "runs"))
	return nil
}

// pruneKept removes the files of runs that the history does not have any more.
func pruneKept(ctx context.Context, c terminal.Console, s runstore.Store, address string) error {
	gone, err := runevidence.Prune(ctx, openstore.Kept(address), s)
	if gone.Files > 0 {
		fmt.Fprintf(c.Stdout, "%d %s of removed runs removed\n", gone.Files, prose.Plural(gone.Files, "kept file", "kept files"))
	}
	if errors.Is(err, runstore.ErrDamaged) { // which is reported when all is done
		printNote(c, "the files that were kept with the removed runs stay, as a damaged history can't tell which runs it holds")
		return nil
	}
	return exit.InfrastructureIf(err)
}
