package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// cleanCommand returns apkgate devices clean.
func cleanCommand(c terminal.Console) *cobra.Command {
	var path string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Stop what an apkgate that was killed has booted, and put back what it left changed",
		Long: "Stop and delete the emulators and instances that an apkgate has booted that was killed,\n" +
			"cancel what it has begun on a farm, and put back what it left changed on the devices of the configuration that stay (as\n" +
			"apkgate devices restore does). What an apkgate that still runs has booted is left alone.",
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.LoadConfig(path, true)
			if err != nil {
				return err
			}
			return clean(cmd.Context(), c, cfg, dryRun)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "the configuration (default apkgate.yml where there is one)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be stopped")
	return cmd
}

func clean(ctx context.Context, c terminal.Console, cfg *config.Config, dryRun bool) error {
	leases, problems := lease.List(lease.Folder())
	if dryRun {
		for _, l := range leases {
			what := "would be stopped: " + l.Kind
			if labs.InUse(l) {
				what = "is in use by " + l.Owner.String()
			}
			fmt.Fprintf(c.Stdout, "%s: %s\n", terminal.Plain(labs.Called(l)), terminal.Plain(what))
		}
		return problems
	}
	err := labs.Clean(ctx, c, leases, func(line string) { fmt.Fprintln(c.Stdout, terminal.Plain(line)) })
	if len(leases) == 0 && problems == nil {
		fmt.Fprintln(c.Stdout, "nothing that apkgate has booted is left")
	}
	stays, staysErr := thatStay(ctx, c, cfg)
	if staysErr == nil && stays {
		staysErr = restore(ctx, c, cfg)
	}
	return errors.Join(problems, err, staysErr)
}

// thatStay reports whether there are permanent devices that a killed run can have left changed:
// those of the configuration that are neither simulated nor booted, or if it names none the one
// that adb sees.
func thatStay(ctx context.Context, c terminal.Console, cfg *config.Config) (bool, error) {
	for _, d := range cfg.Devices {
		if d.Serial != "" || d.Address != "" {
			return true, nil
		}
	}
	if len(cfg.Devices) > 0 {
		return false, nil
	}
	server, err := labs.Server(c)
	if err != nil {
		return false, err
	}
	infos, err := server.Devices(ctx)
	if err != nil {
		return false, nil // without an adb server there is none
	}
	usable := 0
	for _, i := range infos {
		if i.State == adb.StateDevice {
			usable++
		}
	}
	return usable == 1, nil
}
