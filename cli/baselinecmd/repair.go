package baselinecmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore/sqlite"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func repairCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	return &cobra.Command{
		Use: "repair", Short: "Make a whole history of what is sound in a damaged file", Args: arguments.None,
		Long: `Writes every run whose record is sound, with the mark that counts, to a new history,
and replaces the damaged file with it; the damaged file is kept next to it. It
reports what was wrong and what is lost. A sound history is left as it is.

Nothing else may use the history meanwhile.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := settings.StoreAddress(*f)
			if err != nil {
				return err
			}
			if openstore.IsShared(path) {
				return exit.Usage(errors.New("repair makes a new history of a file only"),
					"apkgate baseline copy --to FILE takes what is sound of any history along")
			}
			if err := inputfiles.CheckFiles(c, []string{path}); err != nil {
				return err
			}
			done, err := sqlite.Repair(cmd.Context(), path, sqlite.Options{Now: c.Now})
			if err != nil {
				return openstore.Error(err)
			}
			if done.Found == nil {
				fmt.Fprintln(c.Stdout, "the history is whole: nothing is changed")
				return nil
			}
			for _, d := range done.Found[:min(len(done.Found), openstore.ShownDamage)] {
				fmt.Fprintln(c.Stdout, terminal.Plain(d.String()))
			}
			if more := len(done.Found) - openstore.ShownDamage; more > 0 {
				fmt.Fprintf(c.Stdout, "and %d more\n", more)
			}
			if done.Lost > 0 {
				fmt.Fprintf(c.Stdout, "%d %s lost\n", done.Lost, prose.Plural(done.Lost, "run is", "runs are"))
			}
			fmt.Fprintf(c.Stdout, "%d sound %s kept in %s; the damaged history is %s\n",
				done.Kept, prose.Plural(done.Kept, "run is", "runs are"), terminal.Plain(path), terminal.Plain(done.Original))
			return nil
		},
	}
}
