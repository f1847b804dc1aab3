package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// restoreCommand returns apkgate devices restore.
func restoreCommand(c terminal.Console) *cobra.Command {
	var path string
	var names []string
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Put back what a run that was killed left changed on the devices",
		Long: "Put back what a run that was killed left changed on the devices: settings, installed apps, recorders that run.\n" +
			"What was changed since by anyone else stays. The next run on a device does the same before it begins.",
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.LoadConfig(path, true)
			if err != nil {
				return err
			}
			if err := measurement.OnlyDevices(cfg, names); err != nil {
				return err
			}
			return restore(cmd.Context(), c, cfg)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "the configuration (default apkgate.yml where there is one)")
	cmd.Flags().StringArrayVar(&names, "device", nil, "only this device, by its name, serial or address; may be repeated")
	return cmd
}

func restore(ctx context.Context, c terminal.Console, cfg *config.Config) (err error) {
	real := slices.DeleteFunc(slices.Clone(cfg.Devices), func(d config.Device) bool { return d.Simulated != "" || d.Booted() })
	if len(cfg.Devices) > 0 && len(real) == 0 {
		fmt.Fprintln(c.Stdout, "devices that are simulated or booted end with each run: nothing is left to put back")
		return nil
	}
	cfg.Devices = real
	devices, closing, err := measurement.Ready(ctx, c, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	var failed []error
	for _, d := range devices {
		told, err := d.Restore(ctx, c.Now())
		if err != nil {
			failed = append(failed, fmt.Errorf("restore %s: %w", d.Name, err))
		} else if len(told) == 0 {
			told = []string{"nothing is left to put back"}
		}
		for _, line := range told {
			fmt.Fprintf(c.Stdout, "%s: %s\n", terminal.Plain(d.Name), terminal.Plain(line))
		}
	}
	if len(failed) > 0 {
		return exit.Infrastructure(errors.Join(failed...))
	}
	return nil
}
