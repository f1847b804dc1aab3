package baselinecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func copyCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "copy --to HISTORY", Short: "Add every run and its mark to another history", Args: arguments.None,
		Long: `Copies all runs and their current state to another history. Files kept with runs,
such as traces, are copied too if both histories are files; a branch or a database
holds only runs.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return exit.Usage(errors.New("copy needs --to with the other history"), openstore.Forms())
			}
			address, err := settings.StoreAddress(*f)
			if err != nil {
				return err
			}
			return reading(cmd.Context(), c, *f, func(from runstore.Store) error {
				target, err := openstore.Open(cmd.Context(), c, to)
				if err != nil {
					return err
				}
				var load runevidence.Load
				done, err := runstore.Take(cmd.Context(), target, load.Entries(from.Export(cmd.Context(), runstore.Filter{})))
				if err = errors.Join(err, target.Close()); err != nil {
					return openstore.Error(err)
				}
				fmt.Fprintf(c.Stdout, "%d new %s in %s\n", done.Added, prose.Plural(done.Added, "run", "runs"), terminal.Plain(openstore.Shown(to)))
				return carry(cmd.Context(), c, &load, address, to)
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the other history: "+openstore.Forms())
	return cmd
}

// carry copies the files of runs from one history's folder to another's, if both are files.
func carry(ctx context.Context, c terminal.Console, load *runevidence.Load, from, to string) error {
	if openstore.IsShared(to) {
		printNote(c, load.Staying(openstore.Kept(from)))
		return nil
	}
	said, err := load.Bring(ctx, openstore.Kept(to), openstore.Kept(from))
	printNote(c, said)
	return exit.InfrastructureIf(err)
}

// printNote prints a line on standard error, unless it is empty.
func printNote(c terminal.Console, line string) {
	if line != "" {
		fmt.Fprintln(c.Stderr, terminal.Plain(line))
	}
}
