// Package validate checks that the files and commands that a configuration names exist and fit
// together, before any device is used.
//
// It owns what can be known from files alone. All problems are reported at once, and a file that
// can't be read as an APK is left to the device.
package validate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/apk/splits"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Files checks the files and commands that the configuration names, and that the APKs are
// those that it describes, before any device is used.
func Files(cfg *config.Config) error {
	named := []struct{ key, path string }{{"app.test-apk", cfg.App.TestAPK}, {"app.orchestrator-apk", cfg.App.OrchestratorAPK}, {"app.test-services-apk", cfg.App.TestServicesAPK}}
	for _, path := range cfg.App.APKs() {
		named = append(named, struct{ key, path string }{"app.apk", path})
	}
	if cfg.Energy.Measured() {
		named = append(named, struct{ key, path string }{"energy.power-profile", cfg.Energy.PowerProfile}, struct{ key, path string }{"app.mapping", cfg.App.Mapping})
	}
	for i, s := range cfg.Scenarios {
		at := fmt.Sprintf("scenarios[%d].workload.", inFile(cfg, i))
		switch w := s.Workload; {
		case w.Shell != nil:
			named = append(named, struct{ key, path string }{at + "shell.script", w.Shell.Script})
		case w.Maestro != nil:
			named = append(named, struct{ key, path string }{at + "maestro.flow", w.Maestro.Flow})
		}
	}
	var problems []error
	for _, file := range named {
		if file.path == "" {
			continue
		}
		if _, err := os.Stat(file.path); err != nil {
			problems = append(problems, exit.Usage(fmt.Errorf("%s: %w", file.key, atomicfile.Error("find", file.path, err)), "build it first, or correct the path in the configuration"))
		}
	}
	if cfg.Energy.Measured() && len(problems) == 0 {
		if _, _, err := energymeter.ModelOf(cfg.Energy.PowerProfile); err != nil {
			problems = append(problems, exit.Usage(fmt.Errorf("energy.power-profile: %w", err), "name a device's power_profile.xml, or none for the reference phone"))
		}
	}
	return errors.Join(append(problems, installable(cfg.App), areAPKs(cfg.App), findMaestro(cfg), apksFit(cfg))...)
}

// installable checks that the configuration's app can be installed: APKs, or a single folder or
// archive of them.
func installable(app config.App) error {
	var problems []error
	paths := app.APKs()
	for _, path := range paths {
		switch {
		case strings.EqualFold(filepath.Ext(path), ".aab"):
			problems = append(problems, exit.Usage(fmt.Errorf("app.apk: %s is an app bundle, which no device installs", terminal.Plain(path)),
				"make APKs of it (bundletool build-apks --bundle=app.aab --output=app.apks), and name that archive"))
		case len(paths) > 1 && splits.Chooses([]string{path}):
			problems = append(problems, exit.Usage(fmt.Errorf("app.apk: %s is in a list, and is no APK itself", terminal.Plain(path)),
				"a folder or an archive of APKs is named alone; a list has APK files"))
		}
	}
	return errors.Join(problems...)
}

// areAPKs checks that the files which are to be installed are archives, as APKs are: what a build
// that was cut short or Git LFS leaves is none. What is in an archive is left to the device.
func areAPKs(app config.App) error {
	var problems []error
	for _, path := range append(app.APKs(), app.TestAPK, app.OrchestratorAPK, app.TestServicesAPK) {
		head := headOf(path)
		if head == nil || bytes.HasPrefix(head, []byte("PK")) || simapp.Is(head) || strings.EqualFold(filepath.Ext(path), ".aab") || splits.Chooses([]string{path}) {
			continue
		}
		hint := "see that the build has ended, and that the path is the APK's"
		if bytes.HasPrefix(head, []byte("version https://git-lfs")) {
			hint = "it is a pointer of Git LFS: git lfs pull fetches the file"
		}
		problems = append(problems, exit.Usage(fmt.Errorf("%s is no APK: it is no ZIP archive", terminal.Plain(path)), hint))
	}
	return errors.Join(problems...)
}

// headOf returns the beginning of a regular file, nil if there is none.
func headOf(path string) []byte {
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil
	}
	return head[:n]
}

// findMaestro finds the command that a Maestro flow needs.
func findMaestro(cfg *config.Config) error {
	for i, s := range cfg.Scenarios {
		if s.Workload.Maestro == nil {
			continue
		}
		if _, err := exec.LookPath("maestro"); err != nil {
			return exit.Usage(fmt.Errorf("scenarios[%d].workload.maestro: find the command %s on this computer: %w", inFile(cfg, i), "maestro", errors.Unwrap(err)),
				"install Maestro, or add the folder of its command to PATH, as a rule ~/.maestro/bin")
		}
	}
	return nil
}
