package measurement

import (
	"context"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// noUsable returns, for each device that adb sees, why it can't be measured on, and what to do
// about it.
func noUsable(infos []adb.Info) error {
	if len(infos) == 0 {
		return exit.WithStatus(exit.StatusInfrastructure, fmt.Errorf("adb sees no device"),
			"connect one with USB debugging on, or start an emulator; devices in apkgate.yml names others; apkgate demo needs none")
	}
	var each, advice []string
	for _, info := range infos {
		each = append(each, fmt.Sprintf("%s is %q", terminal.Plain(info.Serial), terminal.Plain(info.State)))
		advice = append(advice, terminal.Plain(info.Serial)+": "+adviceOn(info.State))
	}
	return exit.WithStatus(exit.StatusInfrastructure, fmt.Errorf("adb sees no usable device: %s", strings.Join(each, ", ")), strings.Join(advice, "\n"))
}

// adviceOn returns what to do about a device in a state in which adb can't use it.
func adviceOn(state string) string {
	switch {
	case state == "unauthorized":
		return "unlock it and allow this computer to debug it, with \"always allow\"; where it does not ask, revoke the authorizations in its developer options and connect it again"
	case state == "authorizing", state == "connecting":
		return "wait a moment: adb is still connecting to it"
	case state == "offline":
		return "connect it again, or restart it; adb reconnect offline does so for all that are offline"
	case strings.HasPrefix(state, "no permissions"):
		return "let this user open it over USB: install Android's udev rules and be in the group plugdev, or run adb kill-server and then the server as a user who may"
	case state == "recovery", state == "sideload", state == "bootloader", state == "rescue":
		return "let it start Android: adb reboot"
	}
	return "connect it again, or restart it"
}

// Unused is a device that adb sees and can't use.
type Unused struct{ Serial, State, Advice string }

// UnusedDevices returns what else adb sees next to the one device on which a configuration without
// devices is measured. A server that does not answer is ignored here.
func UnusedDevices(ctx context.Context, c terminal.Console, cfg *config.Config) (out []Unused) {
	if len(cfg.Devices) > 0 || adb.EnvSerial(c.Getenv) != "" {
		return nil
	}
	server, err := labs.Server(c)
	if err != nil {
		return nil
	}
	infos, err := server.Devices(ctx)
	if err != nil {
		return nil
	}
	for _, info := range infos {
		if info.State != adb.StateDevice {
			out = append(out, Unused{info.Serial, info.State, adviceOn(info.State)})
		}
	}
	return out
}
