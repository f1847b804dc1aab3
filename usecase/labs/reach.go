package labs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/secrets"
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

// startWithin limits how long the adb command may take to start its server.
const startWithin = 20 * time.Second

// StartServer starts the adb server of this computer if none listens, without apkgate's secrets in
// its environment. A server that the environment names is its owner's to start. What fails is left
// to whoever needs the server.
func StartServer(ctx context.Context, c terminal.Console) {
	if c.Getenv("ADB_SERVER_SOCKET") != "" || c.Getenv("ANDROID_ADB_SERVER_ADDRESS") != "" {
		return
	}
	server, err := Server(c)
	if err != nil {
		return
	}
	if _, err := server.Devices(ctx); !errors.Is(err, adb.ErrNoServer) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, "adb", "start-server")
	cmd.Env = secrets.WorkloadEnvironment(os.Environ())
	cmd.WaitDelay = time.Second // the server keeps what it inherits open
	if cmd.Run() == nil {
		fmt.Fprintln(c.Stderr, "note: no adb server ran, and one was started (--start-adb=false leaves that)")
	}
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
