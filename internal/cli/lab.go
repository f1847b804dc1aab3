package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/claim"
	"github.com/apkgate/apkgate/internal/simlab"
	"github.com/apkgate/apkgate/run"
)

// labDevice is one device of the lab and the clock by which it is measured.
type labDevice struct {
	name  string
	spec  config.Device
	open  func(ctx context.Context) (device.Device, error)
	claim func(ctx context.Context, waiting func(string)) (release func(), err error) // nil: nobody else can use it
	clock device.Clock                                                                // nil: this computer's
	close func() error
}

// lab readies the devices of the configuration, or the one that adb sees. Each
// is connected to when it is opened; simulated ones run from now on.
func (c Command) lab(ctx context.Context, cfg *config.Config) (devices []labDevice, closing func() error, err error) {
	closing = func() error {
		var errs []error
		for _, d := range devices {
			errs = append(errs, d.close())
		}
		return errors.Join(errs...)
	}
	specs, err := c.specs(ctx, cfg)
	if err != nil {
		return nil, closing, err
	}
	for _, spec := range specs {
		d, err := c.ready(spec)
		if err != nil {
			return nil, func() error { return nil }, errors.Join(err, closing())
		}
		devices = append(devices, d)
	}
	return devices, closing, nil
}

func (c Command) ready(spec config.Device) (labDevice, error) {
	d := labDevice{name: nameOf(spec), spec: spec, clock: c.Clock, close: func() error { return nil }}
	switch {
	case spec.Simulated != "":
		return readySimulated(d)
	case spec.Address != "":
		d.open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, spec.Address, c.adbOptions()) }
		d.claim = claimOf(adb.DevicePort(spec.Address))
	default:
		server, err := c.adbServer()
		if err != nil {
			return d, err
		}
		d.open = func(context.Context) (device.Device, error) { return server.Device(spec.Serial), nil }
		d.claim = claimOf(spec.Serial)
	}
	return d, nil
}

// claimFor is how long a device is waited for that another apkgate uses.
const claimFor = time.Hour

// claimOf takes the device for this process, for as long as a run takes. Where that
// can't be done at all the run is made, since most devices have one user.
func claimOf(serial string) func(context.Context, func(string)) (func(), error) {
	return func(ctx context.Context, waiting func(string)) (func(), error) {
		taken, err := claim.Wait(ctx, claim.Folder(), serial, claimFor, func(by claim.Holder) {
			waiting(fmt.Sprintf("is in use by %v: waiting up to %v", by, claimFor))
		})
		var held *claim.HeldError
		switch {
		case err == nil:
			return taken.Release, nil
		case errors.As(err, &held):
			return nil, fmt.Errorf("wait %v for the device: %w", claimFor, err)
		case ctx.Err() != nil:
			return nil, err
		}
		waiting(fmt.Sprintf("is not kept from other apkgates on this computer: %v", err))
		return func() {}, nil
	}
}

// readySimulated starts a simulated phone, which is then spoken to over adb like
// any other.
func readySimulated(d labDevice) (labDevice, error) {
	phone, err := simlab.Start(d.spec.Simulated, simulatedSeed, simlab.Options{})
	if err != nil {
		return d, infrastructure(fmt.Errorf("start the simulated %s: %w", d.spec.Simulated, err))
	}
	noKeys := adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }}
	d.open = func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, phone.Address(), noKeys) }
	d.clock, d.close = phone.Clock(), phone.Close
	return d, nil
}

// simulatedSeed makes simulated labs the same for everybody.
const simulatedSeed = 1

func nameOf(spec config.Device) string {
	for _, name := range []string{spec.Name, spec.Serial, spec.Address, spec.Simulated} {
		if name != "" {
			return name
		}
	}
	return "device"
}

func (c Command) adbOptions() adb.Options {
	return adb.Options{Keys: func() ([]*adb.Key, error) { return adb.UserKeys(c.Getenv) }}
}

func (c Command) adbServer() (*adb.Server, error) {
	addr, err := adb.ServerAddress(c.Getenv)
	if err != nil {
		return nil, usage(err, "")
	}
	return adb.NewServer(addr, c.adbOptions()), nil
}

// specs are the devices that the configuration names, or the one that adb sees.
func (c Command) specs(ctx context.Context, cfg *config.Config) ([]config.Device, error) {
	if len(cfg.Devices) > 0 {
		return cfg.Devices, nil
	}
	if serial := adb.EnvSerial(c.Getenv); serial != "" {
		return []config.Device{{Serial: serial}}, nil
	}
	server, err := c.adbServer()
	if err != nil {
		return nil, err
	}
	infos, err := server.Devices(ctx)
	if err != nil {
		return nil, infrastructure(err)
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
	return nil, usage(fmt.Errorf("adb sees %d devices", len(usable)), "name those to measure on in apkgate.yml, or set ANDROID_SERIAL")
}

// origin is where the measured app comes from.
type origin struct {
	source  run.Source
	session string
}

// jobs are the runs to make: each scenario on each device and network.
func jobs(cfg *config.Config, devices []labDevice, o origin) []collect.Job {
	networks := cfg.Networks
	if len(networks) == 0 {
		networks = []string{""}
	}
	var out []collect.Job
	for _, d := range devices {
		extra := map[string]string{}
		for _, properties := range []map[string]string{cfg.Context.Extra, d.spec.Context} {
			for name, value := range properties {
				extra[name] = value
			}
		}
		if d.spec.Simulated != "" {
			extra[devctx.Simulated] = "true"
		}
		for _, network := range networks {
			for _, scenario := range cfg.Scenarios {
				out = append(out, collect.Job{
					Device: d.name, Open: d.open, Claim: d.claim, Clock: d.clock, App: cfg.App, Scenario: scenario,
					Network: network, Energy: cfg.Energy, Extra: extra, Source: o.source, Session: o.session,
				})
			}
		}
	}
	return out
}

// onlyScenarios leaves out the scenarios that the user did not name.
func onlyScenarios(cfg *config.Config, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var known []string
	for _, s := range cfg.Scenarios {
		known = append(known, s.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return badValue("scenario", name, known)
		}
	}
	cfg.Scenarios = slices.DeleteFunc(slices.Clone(cfg.Scenarios), func(s config.Scenario) bool { return !slices.Contains(names, s.Name) })
	return nil
}

// host runs a command of this computer, for Maestro. It has no secret of apkgate's
// in its environment: a flow is what a pull request brought along.
func (c Command) host() func(ctx context.Context, name string, args ...string) ([]byte, int, error) {
	return func(ctx context.Context, name string, args ...string) ([]byte, int, error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = c.dir
		cmd.Env = workloadEnvironment(os.Environ())
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return out, ended.ExitCode(), nil
		}
		return out, 0, err
	}
}
