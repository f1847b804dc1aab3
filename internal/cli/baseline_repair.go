package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline/branch"
	"github.com/apkgate/apkgate/baseline/sqlite"
	"github.com/apkgate/apkgate/internal/words"
)

func (c Command) baselineRepair(f *configFlags) *cobra.Command {
	return &cobra.Command{
		Use: "repair", Short: "Make a whole history of what is sound in a damaged file", Args: noArguments,
		Long: `Writes every run whose record is sound, with the mark that counts, to a new history,
and puts that in the place of the damaged file, which is kept beside it. It tells
what was wrong and what is lost. A whole history stays as it is.

Let nobody else use the history meanwhile.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := storePath(*f)
			if err != nil {
				return err
			}
			if strings.HasPrefix(path, branch.Scheme) || strings.Contains(path, "://") {
				return usage(errors.New("repair makes a new history of a file only"),
					"apkgate baseline copy --to FILE takes what is sound of any history along")
			}
			if err := c.allThere([]string{path}); err != nil {
				return err
			}
			done, err := sqlite.Repair(cmd.Context(), path, sqlite.Options{Now: c.Now})
			if err != nil {
				return storeError(err)
			}
			if done.Found == nil {
				fmt.Fprintln(c.Stdout, "the history is whole: nothing is changed")
				return nil
			}
			for _, d := range done.Found[:min(len(done.Found), shownDamage)] {
				fmt.Fprintln(c.Stdout, plain(d.String()))
			}
			if more := len(done.Found) - shownDamage; more > 0 {
				fmt.Fprintf(c.Stdout, "and %d more\n", more)
			}
			if done.Lost > 0 {
				fmt.Fprintf(c.Stdout, "%d %s lost\n", done.Lost, words.Plural(done.Lost, "run is", "runs are"))
			}
			fmt.Fprintf(c.Stdout, "%d sound %s kept in %s; the damaged history is %s\n",
				done.Kept, words.Plural(done.Kept, "run is", "runs are"), plain(path), plain(done.Original))
			return nil
		},
	}
}
