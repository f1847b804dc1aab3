package history

import (
	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/settings"
	"github.com/apkgate/apkgate/internal/cli/stores"
	"github.com/apkgate/apkgate/run"
)

func showCommand(c console.Console, f *settings.ConfigFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Print one run as JSON", Args: atLeastOneRun,
		RunE: func(cmd *cobra.Command, ids []string) error {
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
				}
				return nil
			})
		},
	}
}
