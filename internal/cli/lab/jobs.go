package lab

import (
	"slices"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/internal/cli/arguments"
	"github.com/apkgate/apkgate/run"
)

// Origin is where the measured app comes from.
type Origin struct {
	Source  run.Source
	Session string
}

// Jobs are the runs to make: each scenario on each device and network.
func Jobs(cfg *config.Config, devices []Device, o Origin) []collect.Job {
	networks := cfg.Networks
	if len(networks) == 0 {
		networks = []string{""}
	}
	var out []collect.Job
	for _, d := range devices {
		extra, owner := map[string]string{}, d.owner()
		for _, properties := range []map[string]string{cfg.Context.Extra, d.Spec.Context} {
			for name, value := range properties {
				extra[name] = value
			}
		}
		if d.Spec.Simulated != "" {
			extra[devctx.Simulated] = "true"
		}
		for _, network := range networks {
			for _, scenario := range cfg.Scenarios {
				out = append(out, collect.Job{
					Device: d.Name, Open: d.Open, Owner: owner, OwnFor: ClaimFor, Claim: claimOf(d.key), Clock: d.Clock, App: cfg.App, Scenario: scenario,
					Network: network, Energy: cfg.Energy, Evidence: cfg.Evidence, Extra: extra, Source: o.Source, Session: o.Session,
				})
			}
		}
	}
	return out
}

// chosen are the jobs at the places; nil: all.
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

// OnlyScenarios leaves out the scenarios that the user did not name.
func OnlyScenarios(cfg *config.Config, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var known []string
	for _, s := range cfg.Scenarios {
		known = append(known, s.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return arguments.BadValue("scenario", name, known)
		}
	}
	cfg.Scenarios = slices.DeleteFunc(slices.Clone(cfg.Scenarios), func(s config.Scenario) bool { return !slices.Contains(names, s.Name) })
	return nil
}
