// Package settings joins the configuration with the flags that override it, into the
// policy, the catalogue and the history that a command works with.
//
// It doesn't read YAML: that is package config's, and judging package gate's.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/validate"
)

// Settings are a configuration with the flags that override it.
type Settings struct {
	Config    *config.Config
	Policy    gate.Policy
	Catalogue *metric.Catalogue
	FailOn    gate.FailOn
	Store     string
	Notes     []string
}

// Fails is FailOn as a verdict has it: "" where that is the usual one.
func (s Settings) Fails() gate.FailOn {
	if s.FailOn == gate.FailRegression {
		return ""
	}
	return s.FailOn
}

// ConfigFlags say where the configuration and the history are.
type ConfigFlags struct{ Config, Store string }

// PolicyFlags override the configuration's gate. None has a default of its own but
// the grain, which the configuration doesn't know.
type PolicyFlags struct {
	Preset                                   string
	OutlierFactor, MinSupport, MinConfidence float64
	FailOn                                   string
	Grain                                    string
}

// Read reads the configuration and lets the flags override it that were given, by their
// names.
func Read(given func(flag string) bool, cf ConfigFlags, pf PolicyFlags) (Settings, error) {
	cfg, err := LoadConfig(cf.Config, true)
	if err != nil {
		return Settings{}, err
	}
	s := Settings{Config: cfg, Store: cfg.Store.Address(), FailOn: cfg.Gate.FailOn}
	if cf.Store != "" {
		s.Store = cf.Store
	}
	if s.Catalogue, err = cfg.Catalogue(); err != nil {
		return Settings{}, exit.Usage(err, "")
	}
	gateOf := cfg.Gate
	if given("preset") {
		if !slices.Contains(gate.Presets(), pf.Preset) {
			return Settings{}, exit.BadValue("preset", pf.Preset, gate.Presets())
		}
		gateOf = withPreset(gateOf, pf.Preset)
	}
	s.Policy = gateOf.Policy(cfg.Context)
	return s, pf.override(given, &s)
}

// withPreset is another preset's policy with what the configuration says of
// metrics and events.
func withPreset(g config.Gate, preset string) config.Gate {
	out := config.DefaultGate(preset)
	out.Thresholds, out.FailOn, out.DriftBudget = g.Thresholds, g.FailOn, g.DriftBudget
	if !slices.Equal(g.Metrics, config.DefaultGate(g.Preset).Metrics) {
		out.Metrics = g.Metrics
	}
	return out
}

func (f PolicyFlags) override(given func(flag string) bool, s *Settings) error {
	for _, flag := range []struct {
		name   string
		value  float64
		to     *float64
		lo, hi float64
	}{
		{"outlier-factor", f.OutlierFactor, &s.Policy.OutlierFactor, 0.1, 100},
		{"min-support", f.MinSupport, &s.Policy.MinSupport, 0, 1},
		{"min-confidence", f.MinConfidence, &s.Policy.MinConfidence, 0, 1},
	} {
		if !given(flag.name) {
			continue
		}
		if !(flag.value >= flag.lo && flag.value <= flag.hi) {
			return exit.Usage(fmt.Errorf("--%s is %g, want %g to %g", flag.name, flag.value, flag.lo, flag.hi), "")
		}
		*flag.to = flag.value
	}
	s.Policy.SupportOfAll = s.Policy.SupportOfAll || given("min-support")
	if given("fail-on") {
		s.FailOn = gate.FailOn(f.FailOn)
	}
	s.Policy.Grain = gate.Grain(f.Grain)
	if err := exit.OneOf("fail-on", s.FailOn, gate.FailOns()); err != nil || !given("grain") {
		return err
	}
	return exit.OneOf("grain", s.Policy.Grain, gate.Grains())
}

// LoadConfig reads the named configuration, or apkgate.yml where there is one,
// or else the defaults. gateOnly lets it leave out what collecting needs.
func LoadConfig(path string, gateOnly bool) (*config.Config, error) {
	if path == "" {
		if _, err := os.Stat(config.FileName); errors.Is(err, fs.ErrNotExist) && gateOnly {
			cfg := config.Default()
			return &cfg, nil
		}
		path = config.FileName
	}
	cfg, err := config.LoadFile(path, config.Options{Profiles: simulatedNames(), GateOnly: gateOnly})
	if err != nil {
		return nil, configError(err)
	}
	return cfg, validate.Classes(cfg)
}

// configError shows the hint of a single problem as any other hint; where there
// are several, each stands with its own.
func configError(err error) error {
	var problems config.Problems
	if errors.As(err, &problems) && len(problems) == 1 {
		return exit.Usage(errors.New(problems[0].String()), problems[0].Hint)
	}
	return exit.Usage(err, "")
}

func simulatedNames() []string {
	var names []string
	for _, p := range simulator.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// StoreAddress is the history that the flags and the configuration name.
func StoreAddress(f ConfigFlags) (string, error) {
	if f.Store != "" {
		return f.Store, nil
	}
	cfg, err := LoadConfig(f.Config, true)
	if err != nil {
		return "", err
	}
	return cfg.Store.Address(), nil
}

// File is the configuration that is read.
func (f ConfigFlags) File() string {
	if f.Config != "" {
		return f.Config
	}
	return config.FileName
}
