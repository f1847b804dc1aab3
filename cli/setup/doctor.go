// Package setup implements the commands that come before measuring: init writes a configuration,
// devices lists what is connected, and doctor checks both.
//
// It changes nothing on a device, except to undo what a killed run left.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/collect/conditions"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// DoctorCommand returns apkgate doctor.
func DoctorCommand(c terminal.Console) *cobra.Command {
	var path, format string
	var startADB bool
	a := &answer{Console: c}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the configuration and the devices before measuring",
		Long: `Checks the configuration, the files that it names, and the devices, and changes nothing
on them. Problems come first, each with what to do about it; what is fine is counted.

Where devices of adb are needed and no adb server runs on this computer, it starts one.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.CheckListFormat(output.Format(format)); err != nil {
				return err
			}
			cfg, err := settings.LoadConfig(path, true)
			if err != nil {
				return err
			}
			a.as = output.Format(format)
			wrong := configFit(path)
			if wrong != nil {
				a.problem("the configuration")
			}
			if startADB && usesServer(cfg) {
				labs.StartServer(cmd.Context(), c)
			}
			known := len(a.problems)
			err = doctor(cmd.Context(), a, cfg)
			if err != nil && len(a.problems) == known {
				a.problem("the devices")
			}
			return errors.Join(a.end(), err, wrong)
		},
	}
	output.ListFormat(cmd, &format)
	cmd.Flags().StringVar(&path, "config", "", "the configuration (default apkgate.yml where there is one)")
	cmd.Flags().BoolVar(&a.verbose, "verbose", false, "list what is fine, too, and what a run does about it")
	cmd.Flags().BoolVar(&startADB, "start-adb", true, "start the adb server where devices need it and none runs")
	return cmd
}

// usesServer reports whether a device of the configuration is reached through the adb server.
func usesServer(cfg *config.Config) bool {
	if len(cfg.Devices) == 0 {
		return cfg.Farm == nil
	}
	return slices.ContainsFunc(cfg.Devices, func(d config.Device) bool { return d.Serial != "" })
}

// configFit returns what a run would miss in the configuration, if there is one.
func configFit(path string) error {
	if path == "" {
		if _, err := os.Stat(config.FileName); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	cfg, err := settings.LoadConfig(path, false)
	if err != nil {
		return err
	}
	return validate.Files(cfg)
}

func doctor(ctx context.Context, a *answer, cfg *config.Config) (err error) {
	if cfg.Farm != nil {
		if err := checkFarm(ctx, a, *cfg.Farm); err != nil || len(cfg.Devices) == 0 {
			return err
		}
	}
	devices, closing, err := measurement.Ready(ctx, a.Console, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	unfit := 0
	var lost error // the devices that could not be reached; the others still are
	for _, d := range devices {
		fit, err := examine(ctx, a, d, cfg)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			a.problem(d.Name)
			lost = errors.Join(lost, fmt.Errorf("examine %s: %w", d.Name, err))
		}
		if !fit && err == nil {
			unfit++
		}
	}
	cannot := checkLabs(ctx, a, cfg)
	a.others(measurement.UnusedDevices(ctx, a.Console, cfg))
	if lost != nil {
		return exit.Infrastructure(lost)
	}
	if unfit > 0 {
		return exit.Infrastructure(fmt.Errorf("not fit to measure on: %d of %d %s", unfit, len(devices), prose.Plural(len(devices), "device", "devices")))
	}
	if len(cannot) > 0 {
		return exit.Infrastructure(fmt.Errorf("devices of the configuration can't be booted here: %s", prose.List(cannot)))
	}
	return nil
}

// examine shows the findings of the check before a run on one device.
func examine(ctx context.Context, a *answer, d measurement.Device, cfg *config.Config) (fit bool, err error) {
	by := d.InUse(a.Now())
	connected, err := d.Open(ctx)
	if err != nil {
		return false, err
	}
	defer connected.Close()
	clock := d.Clock
	if clock == nil {
		clock = target.HostClock()
	}
	var findings []device.Finding
	for _, look := range []func() ([]device.Finding, error){
		func() ([]device.Finding, error) { return device.Preflight(ctx, connected) },
		func() ([]device.Finding, error) {
			return conditions.Findings(ctx, connected, clock, cfg.Conditions, cfg.Energy.Measured())
		},
		func() ([]device.Finding, error) {
			if !d.Shared() {
				return nil, nil
			}
			return useOf(ctx, connected, by)
		},
		func() ([]device.Finding, error) { return energyFit(ctx, connected, cfg.Energy) },
		func() ([]device.Finding, error) { return installedFit(ctx, connected, cfg) },
		func() ([]device.Finding, error) { return conditionsFit(ctx, connected, cfg) },
		func() ([]device.Finding, error) { return tasksFit(ctx, connected, cfg) },
		func() ([]device.Finding, error) { return d.Networks(ctx, connected, cfg) },
	} {
		more, err := look()
		findings = append(findings, more...)
		if err != nil {
			a.show(d.Name, connected.Serial(), findings)
			return false, err
		}
	}
	return a.show(d.Name, connected.Serial(), findings), nil
}

// useOf reports who uses the device, here or anywhere, and else what a killed run left changed on
// it.
func useOf(ctx context.Context, d device.Device, by string) ([]device.Finding, error) {
	left, owner, err := target.Left(ctx, d)
	if err != nil {
		return nil, err
	}
	if owner != nil {
		by = owner.String()
	}
	if by != "" {
		return []device.Finding{{Name: "use", OK: true, Detail: fmt.Sprintf("in use by %s: a run waits for it, up to %s", by, prose.Duration(measurement.ClaimFor)), Hint: "another device can be measured on meanwhile: --device"}}, nil
	}
	if len(left) > 0 {
		return []device.Finding{{
			Name: "left", OK: true, Detail: "a killed run left this to do: " + strings.Join(left, "; "),
			Hint: "the next run does it, or now: apkgate devices restore",
		}}, nil
	}
	return nil, nil
}

// installedFit checks that the packages without a configured APK are on the device.
func installedFit(ctx context.Context, d device.Device, cfg *config.Config) ([]device.Finding, error) {
	var findings []device.Finding
	for _, s := range cfg.Scenarios {
		err := workload.Installed(ctx, d, cfg.App, s)
		if err != nil && !loss.IsConfiguration(err) {
			return findings, err
		}
		f := device.Finding{Name: "app", OK: err == nil, Detail: "everything that scenario " + s.Name + " needs is on the device, or a run installs it"}
		if err != nil {
			f.Detail, f.Hint = err.Error(), exit.HintOf(err)
		}
		findings = append(findings, f)
	}
	return findings, nil
}
