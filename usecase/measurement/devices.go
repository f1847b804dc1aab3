// Package measurement turns a configuration into devices and runs: it finds and claims devices,
// measures and shows the progress, and classifies what was lost.
//
// Measuring a run belongs to package collect. Problems that can be known beforehand are reported
// before any device is used.
package measurement

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/apkgate/apkgate/collect/network"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	emulator "github.com/apkgate/apkgate/device/console"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/secrets"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// Device is one existing device, or a simulated one.
type Device struct {
	Name  string
	Spec  config.Device
	Open  func(ctx context.Context) (device.Device, error)
	key   string       // by which it is claimed; "": nobody else can use it
	Clock device.Clock // nil: this computer's
	Close func() error
	port  int // of the emulator's console on this computer; 0: none
}

// Ready prepares the existing devices of the configuration, or the one that adb sees. Each is
// connected when it is opened; simulated ones run from now on. Devices that apkgate boots are not
// included.
func Ready(ctx context.Context, c terminal.Console, cfg *config.Config) (devices []Device, closing func() error, err error) {
	closing = func() error {
		var errs []error
		for _, d := range devices {
			errs = append(errs, d.Close())
		}
		return errors.Join(errs...)
	}
	specs, err := specs(ctx, c, cfg)
	if err == nil {
		err = serverRuns(ctx, c, specs)
	}
	if err != nil {
		return nil, closing, err
	}
	if err := validate.MaestroSees(ctx, c, cfg, specs); err != nil {
		return nil, closing, err
	}
	for _, spec := range specs {
		if spec.Booted() {
			continue
		}
		d, err := readyOne(c, spec)
		if err != nil {
			return nil, func() error { return nil }, errors.Join(err, closing())
		}
		devices = append(devices, d)
	}
	return devices, closing, nil
}

// Networks returns what a run would do for each of the configuration's networks on the connected
// device. It changes nothing.
func (d Device) Networks(ctx context.Context, connected device.Device, cfg *config.Config) ([]device.Finding, error) {
	return network.Findings(ctx, connected, d.port, networksOf(cfg, d.Spec), cfg.Conditions.Refuses())
}

func readyOne(c terminal.Console, spec config.Device) (Device, error) {
	if spec.Simulated == "" {
		return connected(c, spec)
	}
	phones, err := simulated.Of(c, 0)
	if err != nil {
		return Device{}, err
	}
	phone, err := phones.Start(spec.Name, spec.Simulated)
	if err != nil {
		return Device{}, err
	}
	return Device{Name: spec.Name, Spec: spec, Open: simulated.Open(phone), Clock: phone.Clock(), Close: phone.Close}, nil
}

// connected returns an existing device.
func connected(c terminal.Console, spec config.Device) (Device, error) {
	d := Device{Name: spec.Name, Spec: spec, Clock: c.Clock, Close: func() error { return nil }}
	if spec.Address != "" {
		d.Open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, spec.Address, labs.Keys(c)) }
		d.key = adb.DevicePort(spec.Address)
		return d, nil
	}
	server, err := labs.Server(c)
	if err != nil {
		return d, err
	}
	d.Open = func(context.Context) (device.Device, error) { return server.Device(spec.Serial), nil }
	d.key = spec.Serial
	if labs.ServerIsHere(c) {
		d.port = emulator.PortOf(spec.Serial)
	}
	return d, nil
}

// specs returns the devices that the configuration names, or the one that adb sees.
func specs(ctx context.Context, c terminal.Console, cfg *config.Config) ([]config.Device, error) {
	if len(cfg.Devices) > 0 {
		return cfg.Devices, nil
	}
	if serial := adb.EnvSerial(c.Getenv); serial != "" {
		return []config.Device{{Serial: serial, Name: serial}}, nil
	}
	server, err := labs.Server(c)
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
			usable = append(usable, config.Device{Serial: info.Serial, Name: info.Serial})
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

// serverRuns returns an error if every device is reached through the adb server, and none runs: each
// run would fail alike. What else the server fails with is left to the device that is asked for.
func serverRuns(ctx context.Context, c terminal.Console, devices []config.Device) error {
	if slices.ContainsFunc(devices, func(d config.Device) bool { return d.Serial == "" }) {
		return nil
	}
	server, err := labs.Server(c)
	if err != nil {
		return err
	}
	if _, err := server.Devices(ctx); errors.Is(err, adb.ErrNoServer) {
		return exit.Infrastructure(err)
	}
	return nil
}

// Host returns a function that runs a command on this computer, for Maestro, without apkgate's
// secrets in its environment: a flow may come from a pull request.
func Host(c terminal.Console) func(ctx context.Context, name string, args ...string) ([]byte, int, error) {
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
