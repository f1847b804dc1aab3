package validate

import (
	"context"
	"fmt"
	"net"
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// maestroServer is the adb server at which Maestro looks for devices, regardless of the environment
// (its library dadb; Maestro's issue 2517).
const maestroServer = "127.0.0.1:5037"

// MaestroSees checks that Maestro will find the devices that its flows are to run on. apkgate finds
// them in more ways: at their address, and by another adb server.
func MaestroSees(ctx context.Context, c terminal.Console, cfg *config.Config, devices []config.Device) error {
	if !slices.ContainsFunc(cfg.Scenarios, func(s config.Scenario) bool { return s.Workload.Maestro != nil }) {
		return nil
	}
	own, err := adb.ServerAddress(c.Getenv)
	if err != nil {
		return exit.Usage(err, "")
	}
	var asked, network []string
	for _, d := range devices {
		serial := d.Serial
		if d.Address != "" {
			serial = adb.DevicePort(d.Address)
		}
		if _, _, none := net.SplitHostPort(serial); none == nil {
			network = append(network, serial)
		}
		if serial != "" && (d.Address != "" || own != maestroServer) {
			asked = append(asked, serial)
		}
	}
	if len(network) > 1 { // Maestro's issue 2167
		return exit.Usage(fmt.Errorf("run a Maestro flow on %s: Maestro finds none of several devices of the network", network[0]),
			"measure on one of them at a time, or connect them by USB")
	}
	if len(asked) == 0 {
		return nil
	}
	known, _ := adb.NewServer(maestroServer, labs.Keys(c)).Devices(ctx) // no server knows no device
	for _, serial := range asked {
		if !slices.ContainsFunc(known, func(i adb.Info) bool { return i.Serial == serial }) {
			return exit.Usage(fmt.Errorf("run a Maestro flow on %s: Maestro finds the devices of the adb server on port 5037 alone, which does not know it", serial), connectFirst(serial))
		}
	}
	return nil
}

// connectFirst returns how to make Maestro's adb server find a device.
func connectFirst(serial string) string {
	if _, _, err := net.SplitHostPort(serial); err != nil {
		return "connect it to this computer's own adb server, without ADB_SERVER_SOCKET and ANDROID_ADB_SERVER_PORT"
	}
	return "run `adb connect " + serial + "` before, without ADB_SERVER_SOCKET and ANDROID_ADB_SERVER_PORT"
}
