package measurement

import (
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/labs"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// CollectFlags select what is measured, in addition to the configuration.
type CollectFlags struct {
	APK, Version, Commit, Ref, Session string
	Scenarios, Devices                 []string // by name; none: all
	Repetitions                        int      // of each scenario; 0: the configuration's
	Parallel                           int
	OnFarm                             bool       // whether it was requested; Farm is what is then used
	Profiles                           string     // the folder of profiles, if not the configuration's; no flag
	Evidence                           Evidence   // no flag
	Pull                               run.Source // head, base and merge of a pull request; no flag
	// Again is the session of the same command for which devices are prepared, and Only are the
	// indices of the configuration's runs among Units that are made: nil is all. No flags.
	Again int
	Only  []int
	// Pool boots devices that stay for what the command measures next; nil boots them for this
	// alone. No flag.
	Pool *labs.Pool
	// Known returns the result of a unit that is measured already: it is not repeated. Ended
	// receives each unit that was made, as soon as it has ended and before its run is stored. Both
	// may be nil. Merged reports that other processes have measured what is known, on devices of
	// their own. No flags.
	Merged bool
	// Farm makes the runs instead of devices; nil makes none. No flag.
	Farm Farm
	// Tape records what is measured, or measures from a recording; nil does neither. No flag.
	Tape  Tape
	Known func(Unit) (collect.Result, bool)
	Ended func(Unit, collect.Result) error
}

// apply applies the flags to the configuration.
func (f CollectFlags) apply(cfg *config.Config) error {
	if f.APK != "" {
		cfg.App.Install(f.APK)
	}
	if f.Version != "" {
		cfg.App.Version = f.Version
	}
	if f.Parallel < 0 {
		return exit.Usage(fmt.Errorf("--parallel is %d, want 0 or more", f.Parallel), "")
	}
	ProfilesTo(f.Profiles, cfg.Energy)
	if err := OnlyScenarios(cfg, f.Scenarios); err != nil {
		return err
	}
	if f.OnFarm && len(f.Devices) > 0 {
		return exit.Usage(errors.New("--device names a device of one's own, and --farm measures on those of the farm"), "farm in the configuration names the farm's devices")
	}
	if err := OnlyDevices(cfg, f.Devices); err != nil {
		return err
	}
	return f.repeat(cfg)
}

// maxRepetitions limits --repetitions as the configuration limits those of a scenario.
const maxRepetitions = 1000

// repeat sets how often each scenario is measured.
func (f CollectFlags) repeat(cfg *config.Config) error {
	if f.Repetitions == 0 {
		return nil
	}
	if f.Repetitions < 1 || f.Repetitions > maxRepetitions {
		return exit.Usage(fmt.Errorf("--repetitions is %d, want 1 to %d", f.Repetitions, maxRepetitions), "")
	}
	for i := range cfg.Scenarios {
		cfg.Scenarios[i].Repetitions = f.Repetitions
	}
	return nil
}

// OriginOf returns the source of the app, by the flags or by the build server.
func OriginOf(c terminal.Console, f CollectFlags) Origin {
	or := func(value, variable string) string {
		if value != "" {
			return value
		}
		return c.Getenv(variable)
	}
	return Origin{
		Source:  run.Source{Repository: c.Getenv("GITHUB_REPOSITORY"), Commit: or(f.Commit, "GITHUB_SHA"), Ref: or(f.Ref, "GITHUB_REF"), Head: f.Pull.Head, Base: f.Pull.Base, Merge: f.Pull.Merge},
		Session: f.Session,
	}
}

// Config reads the configuration, applies the flags, and checks that it fits the files that it
// names.
func Config(path string, f CollectFlags) (*config.Config, error) {
	cfg, err := settings.LoadConfig(path, false)
	if err != nil {
		return nil, err
	}
	if err := f.apply(cfg); err != nil {
		return nil, err
	}
	return cfg, validate.Files(cfg)
}
