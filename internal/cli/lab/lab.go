// Package lab makes of a configuration the devices and runs that are measured: it
// finds and claims devices, measures and shows how far it is, and sorts what was lost.
//
// How a run is measured is package collect's. It takes a stand: what can be known to be
// wrong is told before any device is kept waiting.
package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/secrets"
	"github.com/apkgate/apkgate/internal/simlab"
	"github.com/apkgate/apkgate/internal/words"
)

// Device is one device of the lab and the clock by which it is measured.
type Device struct {
	Name  string
	Spec  config.Device
	Open  func(ctx context.Context) (device.Device, error)
	key   string       // by which it is claimed; "": nobody else can use it
	Clock device.Clock // nil: this computer's
	Close func() error
}

// Ready readies the devices of the configuration, or the one that adb sees. Each
// is connected to when it is opened; simulated ones run from now on.
func Ready(ctx context.Context, c console.Console, cfg *config.Config) (devices []Device, closing func() error, err error) {
	return ReadyAgain(ctx, c, cfg, 0)
}

// ReadyAgain is Ready for another session of the same command, counted from 1: a
// simulated phone is then as a real one would be, a little faster or slower than before.
func ReadyAgain(ctx context.Context, c console.Console, cfg *config.Config, session int) (devices []Device, closing func() error, err error) {
	closing = func() error {
		var errs []error
		for _, d := range devices {
			errs = append(errs, d.Close())
		}
		return errors.Join(errs...)
	}
	specs, err := specs(ctx, c, cfg)
	if err != nil {
		return nil, closing, err
	}
	if err := maestroSees(ctx, c, cfg, specs); err != nil {
		return nil, closing, err
	}
	for _, spec := range specs {
		d, err := readyOne(c, spec, session)
		if err != nil {
			return nil, func() error { return nil }, errors.Join(err, closing())
		}
		devices = append(devices, d)
	}
	return devices, closing, nil
}

func readyOne(c console.Console, spec config.Device, session int) (Device, error) {
	d := Device{Name: nameOf(spec), Spec: spec, Clock: c.Clock, Close: func() error { return nil }}
	switch {
	case spec.Simulated != "":
		return readySimulated(c, d, session)
	case spec.Address != "":
		d.Open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, spec.Address, adbOptions(c)) }
		d.key = adb.DevicePort(spec.Address)
	default:
		server, err := ADBServer(c)
		if err != nil {
			return d, err
		}
		d.Open = func(context.Context) (device.Device, error) { return server.Device(spec.Serial), nil }
		d.key = spec.Serial
	}
	return d, nil
}

// readySimulated starts a simulated phone, which is then spoken to over adb like
// any other.
func readySimulated(c console.Console, d Device, session int) (Device, error) {
	seed, err := simulatedSeed(c, session)
	if err != nil {
		return d, err
	}
	phone, err := simlab.Start(d.Spec.Simulated, seed, simlab.Options{})
	if err != nil {
		return d, exit.Infrastructure(fmt.Errorf("start the simulated %s: %w", d.Spec.Simulated, err))
	}
	noKeys := adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }}
	d.Open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, phone.Address(), noKeys) }
	d.Clock, d.Close = phone.Clock(), phone.Close
	return d, nil
}

// SimulatedSession is the variable of the environment that says which session it is of
// simulated phones: a whole number from 1.
const SimulatedSession = "APKGATE_SIMULATED_SESSION"

// simulatedSeed makes simulated labs the same for everybody, in each session.
func simulatedSeed(c console.Console, session int) (uint64, error) {
	first := uint64(1)
	if text := c.Getenv(SimulatedSession); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return 0, exit.Usage(fmt.Errorf("%s is %q, want a whole number from 1 to %d", SimulatedSession, words.Short(text), 1<<31-1), "")
		}
		first = n
	}
	return first + uint64(session)<<32, nil
}

func nameOf(spec config.Device) string {
	for _, name := range []string{spec.Name, spec.Serial, spec.Address, spec.Simulated} {
		if name != "" {
			return name
		}
	}
	return "device"
}

func adbOptions(c console.Console) adb.Options {
	return adb.Options{Keys: func() ([]*adb.Key, error) { return adb.UserKeys(c.Getenv) }}
}

// ADBServer is the adb server that the environment names.
func ADBServer(c console.Console) (*adb.Server, error) {
	addr, err := adb.ServerAddress(c.Getenv)
	if err != nil {
		return nil, exit.Usage(err, "")
	}
	return adb.NewServer(addr, adbOptions(c)), nil
}

// specs are the devices that the configuration names, or the one that adb sees.
func specs(ctx context.Context, c console.Console, cfg *config.Config) ([]config.Device, error) {
	if len(cfg.Devices) > 0 {
		return cfg.Devices, nil
	}
	if serial := adb.EnvSerial(c.Getenv); serial != "" {
		return []config.Device{{Serial: serial}}, nil
	}
	server, err := ADBServer(c)
	if err != nil {
		return nil, err
	}
	infos, err := server.Devices(ctx)
	if err != nil {
		return nil, exit.Infrastructure(err)
	}
	var usable []config.Device
	for _, info := range infos {
		if info.State == adb.StateDevice {
			usable = append(usable, config.Device{Serial: info.Serial})
		}
	}
	switch len(usable) {
	case 1:
		return usable, nil
	case 0:
		return nil, noUsable(infos)
	}
	return nil, exit.Usage(fmt.Errorf("adb sees %d devices", len(usable)), "name those to measure on in apkgate.yml, or set ANDROID_SERIAL")
}

// Host runs a command of this computer, for Maestro. It has no secret of apkgate's
// in its environment: a flow is what a pull request brought along.
func Host(c console.Console) func(ctx context.Context, name string, args ...string) ([]byte, int, error) {
	return func(ctx context.Context, name string, args ...string) ([]byte, int, error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = c.Dir
		cmd.Env = secrets.WorkloadEnvironment(os.Environ())
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return out, ended.ExitCode(), nil
		}
		return out, 0, err
	}
}
