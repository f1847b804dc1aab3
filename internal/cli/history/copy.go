package history

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/cli/arguments"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/stores"
	"github.com/apkgate/apkgate/internal/words"
)

func copyCommand(c console.Console, f *settings.ConfigFlags) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "copy --to HISTORY", Short: "Add every run and its mark to another history", Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return exit.Usage(errors.New("copy needs --to with the other history"), "a file, branch:REMOTE#BRANCH or postgres://…")
			}
			return reading(cmd.Context(), c, *f, func(from baseline.Store) error {
				target, err := stores.Open(cmd.Context(), c, to)
				if err != nil {
					return err
				}
				done, err := baseline.Copy(cmd.Context(), target, from)
				if err = errors.Join(err, target.Close()); err != nil {
					return stores.Error(err)
				}
				fmt.Fprintf(c.Stdout, "%d new %s in %s\n", done.Added, words.Plural(done.Added, "run", "runs"), console.Plain(stores.Shown(to)))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the other history: a file, branch:REMOTE#BRANCH or postgres://…")
	return cmd
}
