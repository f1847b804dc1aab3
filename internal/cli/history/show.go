package history

import (
	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/kept"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/stores"
	"github.com/apkgate/apkgate/run"
)

func showCommand(c console.Console, f *settings.ConfigFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Print one run as JSON", Args: atLeastOneRun,
		Long: `Prints a run's record as JSON. Files that were kept with it, such as traces, are
listed on the standard error; apkgate baseline evidence copies them.`,
		RunE: func(cmd *cobra.Command, ids []string) error {
			address, err := settings.StoreAddress(*f)
			if err != nil {
				return err
			}
			return reading(cmd.Context(), c, *f, func(s baseline.Store) error {
				for _, id := range ids {
					e, err := s.Get(cmd.Context(), id)
					if err != nil {
						return stores.Error(err)
					}
					data, err := run.Encode(e.Run)
					if err != nil {
						return exit.Infrastructure(err)
					}
					if _, err := c.Stdout.Write(data); err != nil {
						return exit.Infrastructure(err)
					}
					if len(e.Run.Evidence) > 0 {
						_ = kept.List(c.Stderr, stores.Kept(address), e.Run) // beside what was asked for
					}
				}
				return nil
			})
		},
	}
}
