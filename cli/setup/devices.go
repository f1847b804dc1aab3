package setup

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// DevicesCommand returns apkgate devices.
func DevicesCommand(c terminal.Console) *cobra.Command {
	var sims bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that adb sees, and what apkgate has booted",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sims {
				return listSimulated(c)
			}
			return errors.Join(listDevices(c, cmd), listLeases(c))
		},
	}
	cmd.AddCommand(restoreCommand(c), cleanCommand(c))
	cmd.Flags().BoolVar(&sims, "simulated", false, "list the profiles of simulated devices instead")
	return cmd
}

func listDevices(c terminal.Console, cmd *cobra.Command) error {
	server, err := labs.Server(c)
	if err != nil {
		return err
	}
	infos, err := server.Devices(cmd.Context())
	if err != nil {
		return exit.Infrastructure(err)
	}
	if len(infos) == 0 {
		fmt.Fprintln(c.Stdout, "adb sees no device; apkgate devices --simulated lists those that need none")
		return nil
	}
	table := terminal.NewTable(c.Stdout, "serial", "state", "model", "product")
	for _, d := range infos {
		if err := table.Append(terminal.Plain(d.Serial), terminal.Plain(d.State), terminal.Plain(d.Model), terminal.Plain(d.Product)); err != nil {
			return err
		}
	}
	return table.Render()
}

// listLeases lists the devices that apkgates of this user have booted on this computer.
func listLeases(c terminal.Console) error {
	leases, problems := lease.List(lease.Folder())
	if len(leases) > 0 {
		table := terminal.NewTable(c.Stdout, "booted by apkgate", "lab", "for", "by")
		for _, l := range leases {
			by := "nobody any more: apkgate devices clean stops it"
			if labs.InUse(l) {
				by = l.Owner.String()
			}
			if err := table.Append(l.ID, terminal.Plain(l.Kind), terminal.Plain(l.Name), terminal.Plain(by)); err != nil {
				return err
			}
		}
		if err := table.Render(); err != nil {
			return err
		}
	}
	return problems
}

func listSimulated(c terminal.Console) error {
	table := terminal.NewTable(c.Stdout, "profile (simulated)", "manufacturer", "model", "Android", "API", "screen")
	for _, p := range simulator.Profiles() {
		if err := table.Append(p.Name, p.Manufacturer, p.Model, p.SDK, p.API, p.Screen); err != nil {
			return err
		}
	}
	return table.Render()
}
