package measurement

import (
	"cmp"
	"fmt"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/run"
)

// Origin is the source of the measured app.
type Origin struct {
	Source  run.Source
	Session string
}

// jobs returns the runs to make, in the order of Units: each scenario on each profile of devices
// and network.
func jobs(cfg *config.Config, devices []config.Device, o Origin) (out []collect.Job) {
	for _, p := range profilesOf(devices) {
		extra := map[string]string{}
		for _, properties := range []map[string]string{cfg.Context.Extra, p.devices[0].Context} {
			maps.Copy(extra, properties)
		}
		if p.devices[0].Simulated != "" {
			extra[devctx.Simulated] = "true"
		}
		for _, network := range networksOf(cfg, p.devices[0]) {
			for _, scenario := range cfg.Scenarios {
				out = append(out, collect.Job{
					Device: p.name, Cost: costOf(scenario, cfg.Energy), App: cfg.App, Scenario: scenario,
					Network: network, Energy: cfg.Energy, Conditions: cfg.Conditions, Evidence: cfg.Evidence, Methods: cfg.Methods, Extra: extra, Source: o.Source, Session: o.Session,
				})
			}
		}
	}
	return out
}

// chosen returns the jobs with these indices; nil: all.
func chosen(jobs []collect.Job, places []int) []collect.Job {
	if places == nil {
		return jobs
	}
	out := make([]collect.Job, len(places))
	for i, place := range places {
		out[i] = jobs[place]
	}
	return out
}

// OnlyScenarios removes the scenarios that the user did not name.
func OnlyScenarios(cfg *config.Config, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var known []string
	for _, s := range cfg.Scenarios {
		if s.Module != "" && !slices.Contains(known, s.Module) {
			known = append(known, s.Module)
		}
		known = append(known, s.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return exit.BadValue("scenario", name, known)
		}
	}
	cfg.Scenarios = slices.DeleteFunc(slices.Clone(cfg.Scenarios), func(s config.Scenario) bool {
		return !slices.Contains(names, s.Name) && (s.Module == "" || !slices.Contains(names, s.Module))
	})
	return nil
}

// OnlyDevices keeps the named devices. If the configuration names none, these are serials.
func OnlyDevices(cfg *config.Config, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if len(cfg.Devices) == 0 {
		for _, name := range names {
			cfg.Devices = append(cfg.Devices, config.Device{Serial: name})
		}
		return nil
	}
	chosen := map[int]bool{}
	for _, name := range names {
		i := slices.IndexFunc(cfg.Devices, func(d config.Device) bool {
			return name != "" && slices.Contains([]string{d.Name, d.Serial, d.Address}, name)
		})
		if i < 0 {
			return exit.Usage(fmt.Errorf("--device %s: the configuration has %s", name, prose.List(namesOf(cfg.Devices))), "")
		}
		chosen[i] = true
	}
	var left []config.Device
	for i, d := range cfg.Devices {
		if chosen[i] {
			left = append(left, d)
		}
	}
	cfg.Devices = left
	return nil
}

func namesOf(devices []config.Device) (names []string) {
	for _, d := range devices {
		names = append(names, cmp.Or(d.Name, d.Serial, d.Address, d.Simulated))
	}
	return names
}
