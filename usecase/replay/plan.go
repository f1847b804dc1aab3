package replay

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/config"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
)

// recordedSerial stands for a device that is not there.
const recordedSerial = "recorded"

// Plan is the part of a configuration that is recorded.
type Plan struct {
	Config *config.Config
	// Bare leaves out the files that the configuration names.
	Bare  bool
	Black *recording.Blackout
}

// Write writes the configuration of a recording, and the files that it names. properties are those
// of the context that only the recording computer knows.
func (p Plan) Write(dir string, properties map[string]string) error {
	cfg := *p.Config
	cfg.Base, cfg.Rounds, cfg.Metrics, cfg.Gate, cfg.Store, cfg.Report = "", config.Rounds{}, nil, config.Gate{}, config.Store{}, config.Report{}
	cfg.Context.Use, cfg.Context.Rules = nil, nil
	cfg.Devices = []config.Device{p.device(properties)}
	cfg.Scenarios = slices.Clone(cfg.Scenarios)
	if cfg.Energy != nil {
		energy := *cfg.Energy
		energy.Profiles = ""
		cfg.Energy = &energy
	}
	if err := p.copyFiles(dir, &cfg); err != nil {
		return err
	}
	text, err := yaml.Marshal(cfg)
	if err != nil {
		return exit.Infrastructure(fmt.Errorf("write what was measured: %w", err))
	}
	head := "# What a recording of apkgate measured; docs/recording.md describes recordings.\n"
	path := filepath.Join(dir, ConfigFile)
	err = atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(append([]byte(head), p.Black.Bytes(text)...))
		return err
	})
	if err != nil {
		return exit.Infrastructure(atomicfile.Error("write", path, err))
	}
	return nil
}

// device returns the recorded device as the configuration names it.
func (p Plan) device(properties map[string]string) config.Device {
	d := config.Device{Serial: recordedSerial, Name: "device", Context: map[string]string{}}
	if len(p.Config.Devices) == 1 {
		its := p.Config.Devices[0]
		if its.Name != "" {
			d.Name = its.Name
		}
		d.Profile, d.Networks = its.Profile, its.Networks
		if its.Simulated != "" {
			d.Name, d.Context[devctx.Simulated] = its.Stations()[0], "true"
		}
		for name, value := range its.Context {
			d.Context[name] = value
		}
	}
	for name, value := range properties {
		if d.Context[name] == "" {
			d.Context[name] = value
		}
	}
	return d
}

// copyFiles copies the files that the configuration names, and names the copies.
func (p Plan) copyFiles(dir string, cfg *config.Config) error {
	if err := os.MkdirAll(filepath.Join(dir, BuildsFolder), 0o700); err != nil {
		return exit.Infrastructure(fmt.Errorf("make the folder of builds: %w", err))
	}
	named := []*string{&cfg.App.APK, &cfg.App.TestAPK, &cfg.App.OrchestratorAPK, &cfg.App.TestServicesAPK, &cfg.App.Mapping}
	cfg.App.Splits = slices.Clone(cfg.App.Splits)
	for i := range cfg.App.Splits {
		named = append(named, &cfg.App.Splits[i])
	}
	if cfg.Energy != nil {
		named = append(named, &cfg.Energy.PowerProfile)
	}
	for i := range cfg.Scenarios {
		if w := &cfg.Scenarios[i].Workload; w.Shell != nil {
			w.Shell = &config.Shell{Script: w.Shell.Script}
			named = append(named, &w.Shell.Script)
		}
	}
	taken := map[string]string{} // what was copied, by the copy's name
	for _, path := range named {
		if *path == "" {
			continue
		}
		name := filepath.Base(*path)
		for n := 2; taken[name] != "" && taken[name] != *path; n++ {
			name = strconv.Itoa(n) + "-" + filepath.Base(*path)
		}
		if taken[name] == "" && !p.Bare {
			if err := copyInto(filepath.Join(dir, BuildsFolder, name), *path); err != nil {
				return exit.Infrastructure(atomicfile.Error("copy", *path, err))
			}
		}
		taken[name] = *path
		*path = filepath.ToSlash(filepath.Join(BuildsFolder, name))
	}
	return nil
}

// copyInto copies a file, or a folder of them, unless it is there already.
func copyInto(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err := os.Stat(to); err == nil {
			return nil
		}
		return os.CopyFS(to, os.DirFS(from))
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	return atomicfile.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
