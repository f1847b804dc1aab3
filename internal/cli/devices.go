package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/internal/simlab"
)

func (c Command) devicesVerb() *cobra.Command {
	var sims bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that adb sees",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sims {
				return c.listSimulated()
			}
			return c.listDevices(cmd)
		},
	}
	cmd.Flags().BoolVar(&sims, "simulated", false, "list the profiles of simulated devices instead")
	return cmd
}

func (c Command) listDevices(cmd *cobra.Command) error {
	server, err := c.adbServer()
	if err != nil {
		return err
	}
	infos, err := server.Devices(cmd.Context())
	if err != nil {
		return infrastructure(err)
	}
	if len(infos) == 0 {
		fmt.Fprintln(c.Stdout, "adb sees no device; apkgate devices --simulated lists those that need none")
		return nil
	}
	table := newTable(c.Stdout, "serial", "state", "model", "product")
	for _, d := range infos {
		if err := table.Append(plain(d.Serial), plain(d.State), plain(d.Model), plain(d.Product)); err != nil {
			return err
		}
	}
	return table.Render()
}

func (c Command) listSimulated() error {
	table := newTable(c.Stdout, "profile (simulated)", "manufacturer", "model", "Android", "API", "screen")
	for _, p := range simlab.Profiles() {
		if err := table.Append(p.Name, p.Manufacturer, p.Model, p.SDK, p.API, p.Screen); err != nil {
			return err
		}
	}
	return table.Render()
}
