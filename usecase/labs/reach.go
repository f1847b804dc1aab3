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

// Server returns the adb server that the environment names.
func Server(c terminal.Console) (*adb.Server, error) {
	addr, err := adb.ServerAddress(c.Getenv)
	if err != nil {
		return nil, exit.Usage(err, "")
	}
	return adb.NewServer(addr, Keys(c)), nil
}

// ServerIsHere reports whether the adb server runs on this computer, so that its emulators do so
// too.
func ServerIsHere(c terminal.Console) bool {
	addr, err := adb.ServerAddress(c.Getenv)
	if err != nil {
		return false
	}
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// Keys returns the user's keys, by which devices identify this computer.
func Keys(c terminal.Console) adb.Options {
	return adb.Options{Keys: func() ([]*adb.Key, error) { return adb.UserKeys(c.Getenv) }}
}

// Reach connects to a booted device: through the adb server, since not every device accepts a
// connection besides the server's own, or directly to the device's port if no server runs.
func Reach(ctx context.Context, c terminal.Console, b *boot.Booted) (device.Device, error) {
	server, err := Server(c)
	if err != nil {
		return nil, err
	}
	infos, err := server.Devices(ctx)
	listed := slices.ContainsFunc(infos, func(i adb.Info) bool { return i.Serial == b.Serial })
	_, _, noPort := net.SplitHostPort(b.Serial)
	switch {
	case err == nil && !listed && noPort == nil: // a server that Genymotion has not connected to it
		return server.Connect(ctx, b.Serial)
	case !listed && b.Address != "":
		return adb.Dial(ctx, b.Address, Keys(c))
	}
	return server.Device(b.Serial), nil
}
