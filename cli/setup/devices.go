package setup

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// DevicesCommand returns apkgate devices.
func DevicesCommand(c terminal.Console) *cobra.Command {
	var sims bool
	var format string
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that adb sees, and what apkgate has booted",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.CheckListFormat(output.Format(format)); err != nil {
				return err
			}
			asJSON := output.Format(format) == output.FormatJSON
			switch {
			case sims && asJSON:
				return printJSON(c, simulatedProfiles())
			case sims:
				return listSimulated(c)
			case asJSON:
				return devicesAsJSON(c, cmd)
			}
			return errors.Join(listDevices(c, cmd), listLeases(c))
		},
	}
	cmd.AddCommand(restoreCommand(c), cleanCommand(c))
	output.ListFormat(cmd, &format)
	cmd.Flags().BoolVar(&sims, "simulated", false, "list the profiles of simulated devices instead")
	return cmd
}

func listDevices(c terminal.Console, cmd *cobra.Command) error {
	infos, err := seen(c, cmd)
	if err != nil {
		return err
	}
	if len(infos) == 0 {
		fmt.Fprintln(c.Stdout, "adb sees no device; apkgate devices --simulated lists those that need none")
		return nil
	}
	table := terminal.NewTable(c, "serial", "state", "model", "product")
	for _, d := range infos {
		if err := table.Append(terminal.Plain(d.Serial), terminal.Plain(d.State), terminal.Plain(d.Model), terminal.Plain(d.Product)); err != nil {
			return err
		}
	}
	return table.Render()
}

// seen returns the devices that adb sees.
func seen(c terminal.Console, cmd *cobra.Command) ([]adb.Info, error) {
	server, err := labs.Server(c)
	if err != nil {
		return nil, err
	}
	infos, err := server.Devices(cmd.Context())
	if err != nil {
		return nil, exit.Infrastructure(err)
	}
	return infos, nil
}

// seenDevice, booted and profile are entries of apkgate.devices/1.
type seenDevice struct {
	Serial  string `json:"serial"`
	State   string `json:"state"`
	Model   string `json:"model,omitempty"`
	Product string `json:"product,omitempty"`
}

type booted struct {
	ID    string `json:"id"`
	Lab   string `json:"lab"`
	For   string `json:"for,omitempty"`
	InUse bool   `json:"in_use"`
	By    string `json:"by,omitempty"`
}

type profile struct {
	Name         string `json:"name"`
	Manufacturer string `json:"manufacturer"`
	Model        string `json:"model"`
	Android      string `json:"android"`
	API          int    `json:"api"`
	Screen       string `json:"screen"`
}

const devicesFormat = "apkgate.devices/1"

func devicesAsJSON(c terminal.Console, cmd *cobra.Command) error {
	infos, err := seen(c, cmd)
	leases, problems := lease.List(lease.Folder())
	out := struct {
		Format  string       `json:"format"`
		Devices []seenDevice `json:"devices"`
		Booted  []booted     `json:"booted"`
	}{devicesFormat, []seenDevice{}, []booted{}}
	for _, d := range infos {
		out.Devices = append(out.Devices, seenDevice{d.Serial, d.State, d.Model, d.Product})
	}
	for _, l := range leases {
		one := booted{ID: l.ID, Lab: l.Kind, For: l.Name, InUse: labs.InUse(l)}
		if one.InUse {
			one.By = l.Owner.String()
		}
		out.Booted = append(out.Booted, one)
	}
	return errors.Join(printJSON(c, out), err, problems)
}

func simulatedProfiles() any {
	out := struct {
		Format    string    `json:"format"`
		Simulated []profile `json:"simulated"`
	}{Format: devicesFormat}
	for _, p := range simulator.Profiles() {
		out.Simulated = append(out.Simulated, profile{p.Name, p.Manufacturer, p.Model, p.SDK, p.API, p.Screen})
	}
	return out
}

// listLeases lists the devices that apkgates of this user have booted on this computer.
func listLeases(c terminal.Console) error {
	leases, problems := lease.List(lease.Folder())
	if len(leases) > 0 {
		table := terminal.NewTable(c, "booted by apkgate", "lab", "for", "by")
		for _, l := range leases {
			by := "no running apkgate: apkgate devices clean stops it"
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
	table := terminal.NewTable(c, "profile (simulated)", "manufacturer", "model", "Android", "API", "screen")
	for _, p := range simulator.Profiles() {
		if err := table.Append(p.Name, p.Manufacturer, p.Model, p.SDK, p.API, p.Screen); err != nil {
			return err
		}
	}
	return table.Render()
}
