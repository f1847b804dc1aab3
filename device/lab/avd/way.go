package avd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/lab/boot"
)

// way is how emulators are connected to: through the adb server, or at their own adb ports
// without one.
type way struct {
	server  *adb.Server // nil for none
	options adb.Options
}

// way finds the adb server that the environment names, and starts it if there is an adb
// program. An emulator announces itself to the server when it starts, so the server has to be
// running before that.
func (l *Lab) way(ctx context.Context, s sdk, tell func(string)) (way, error) {
	w, err := l.serverOf()
	if err != nil {
		return way{}, failure("find the adb server: "+err.Error(), "")
	}
	if _, err = w.server.Devices(ctx); err == nil {
		return w, nil
	}
	if ctx.Err() != nil {
		return way{}, context.Cause(ctx)
	}
	if errors.Is(err, adb.ErrNoServer) && s.adb != "" {
		tell("starting the adb server")
		out, started := l.run(ctx, s.adb, nil, "start-server")
		if _, err = w.server.Devices(ctx); err == nil {
			return w, nil
		}
		if started != nil {
			return way{}, l.broken(ctx, "start the adb server", started)
		}
		return way{}, retryable(fmt.Sprintf("start the adb server: it does not answer (exit code %d: %s)", out.ExitCode, out.Said()), "see what `adb start-server` says")
	}
	if errors.Is(err, adb.ErrNoServer) {
		tell("there is neither an adb server nor adb: emulators are reached at their own ports")
		w.server = nil
		return w, nil
	}
	return way{}, retryable("ask the adb server: "+err.Error(), "")
}

// serverOf returns the adb server that the environment names, which need not be running.
func (l *Lab) serverOf() (way, error) {
	w := way{options: adb.Options{Keys: func() ([]*adb.Key, error) { return adb.UserKeys(l.computer.Getenv) }}}
	address, err := adb.ServerAddress(l.computer.Getenv)
	if err != nil {
		return w, err
	}
	w.server = adb.NewServer(address, w.options)
	return w, nil
}

// reach connects to the emulator on these ports.
func (w way) reach(p *port) func(context.Context) (device.Device, error) {
	return func(ctx context.Context) (device.Device, error) {
		if w.server != nil {
			return w.server.Device(p.serial()), nil
		}
		d, err := adb.Dial(ctx, addressOf(p.adb()), w.options)
		if err != nil {
			return nil, err
		}
		return d, nil
	}
}

// booted returns how to connect to the emulator on these ports from now on.
func (w way) booted(p *port) *boot.Booted {
	b := &boot.Booted{Serial: p.serial(), ConsolePort: p.console}
	if w.server == nil {
		b.Address = addressOf(p.adb())
	}
	return b
}

func addressOf(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
