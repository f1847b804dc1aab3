// Package settings combines the configuration with the flags that override it into the policy, the
// catalogue and the history that a command uses.
//
// It doesn't read YAML, which belongs to package config, nor judge, which belongs to package gate.
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

// Fails returns FailOn as in a verdict: "" for the default.
func (s Settings) Fails() gate.FailOn {
	if s.FailOn == gate.FailRegression {
		return ""
	}
	return s.FailOn
}

// ConfigFlags name the configuration and the history.
type ConfigFlags struct{ Config, Store string }

// PolicyFlags override the configuration's gate. Only the grain has a default, since the
// configuration doesn't have it.
type PolicyFlags struct {
	Preset                                   string
	OutlierFactor, MinSupport, MinConfidence float64
	FailOn                                   string
	Grain                                    string
}

// Read reads the configuration and applies the flags that were given, by their names.
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

// withPreset returns another preset's policy with the configuration's settings of metrics and
// events.
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

// LoadConfig reads the named configuration, or apkgate.yml if it exists, or else the defaults.
// gateOnly allows it to lack what collecting needs.
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

// configError shows the hint of a single problem like any other hint; each of several problems has
// its own.
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

// StoreAddress returns the history that the flags or the configuration name.
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

// File returns the configuration file that is read.
func (f ConfigFlags) File() string {
	if f.Config != "" {
		return f.Config
	}
	return config.FileName
}

// CatalogueAt returns the configuration's catalogue of metrics, if it is checked out; nil is the
// built-in catalogue.
func CatalogueAt(path string) *metric.Catalogue {
	cfg, err := LoadConfig(path, true)
	if err != nil {
		return nil
	}
	catalogue, err := cfg.Catalogue()
	if err != nil {
		return nil
	}
	return catalogue
}
