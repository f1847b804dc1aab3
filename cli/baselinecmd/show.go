package baselinecmd

import (
	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func showCommand(c terminal.Console, f *settings.ConfigFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Print one run as JSON", Args: atLeastOneRun,
		Long: `Prints a run's record as JSON, with what the gate said of it last ("judged"). On the
standard error it says what was decided about the run, and lists files that were kept
with it, such as traces; apkgate baseline evidence copies them.`,
		RunE: func(cmd *cobra.Command, ids []string) error {
			address, err := settings.StoreAddress(*f)
			if err != nil {
				return err
			}
			return reading(cmd.Context(), c, *f, func(s runstore.Store) error {
				for _, id := range ids {
					e, err := runNamed(cmd.Context(), s, id)
					if err != nil {
						return err
					}
					data, err := run.Encode(e.Run)
					if err != nil {
						return exit.Infrastructure(err)
					}
					if _, err := c.Stdout.Write(data); err != nil {
						return exit.Infrastructure(err)
					}
					printNote(c, fateOf(e))
					if len(e.Run.Evidence) > 0 {
						_ = runevidence.List(c.Stderr, openstore.Kept(address), e.Run) // in addition to the answer
					}
				}
				return nil
			})
		},
	}
}

// fateOf returns the gate's last outcome of a run, and what was decided about it, since when and
// why.
func fateOf(e runstore.Entry) string {
	const day = "2006-01-02 15:04 UTC"
	text := "run " + e.Run.ID + ": " + outcomeOf(e.Run)
	if e.Run.Judged != nil {
		text += " on " + e.Run.Judged.At.UTC().Format(day)
	}
	text += ", " + stateOf(e)
	if e.Mark.State != runstore.Unmarked {
		text += " on " + e.Mark.At.UTC().Format(day)
	}
	if e.Mark.Note != "" {
		text += ": " + e.Mark.Note
	}
	return text
}
