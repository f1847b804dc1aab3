package labs

import (
	"context"
	"net"
	"slices"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Server is the adb server that the environment names.
func Server(c terminal.Console) (*adb.Server, error) {
	addr, err := adb.ServerAddress(c.Getenv)
	if err != nil {
		return nil, exit.Usage(err, "")
	}
	return adb.NewServer(addr, Keys(c)), nil
}

// ServerIsHere reports whether the adb server runs on this computer, so that emulators
// that it knows do so too.
func ServerIsHere(c terminal.Console) bool {
	addr, err := adb.ServerAddress(c.Getenv)
	if err != nil {
		return false
	}
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// Keys are the user's keys, by which devices know this computer.
func Keys(c terminal.Console) adb.Options {
	return adb.Options{Keys: func() ([]*adb.Key, error) { return adb.UserKeys(c.Getenv) }}
}

// Reach connects to what was booted: through the adb server, which has a connection of its
// own beside which not every device takes another, or where no server runs at the
// device's own port.
func Reach(ctx context.Context, c terminal.Console, b *boot.Booted) (device.Device, error) {
	server, err := Server(c)
	if err != nil {
		return nil, err
	}
	infos, err := server.Devices(ctx)
	listed := slices.ContainsFunc(infos, func(i adb.Info) bool { return i.Serial == b.Serial })
	_, _, noPort := net.SplitHostPort(b.Serial)
	switch {
	case err == nil && !listed && noPort == nil: // a server that Genymotion has not told of it
		return server.Connect(ctx, b.Serial)
	case !listed && b.Address != "":
		return adb.Dial(ctx, b.Address, Keys(c))
	}
	return server.Device(b.Serial), nil
}
