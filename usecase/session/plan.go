package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
)

// planOf returns the digest of everything that affects what is measured and how, in the
// configuration and besides. Paths do not matter: of scripts, flows and power profiles the content
// counts. What is installed belongs to buildOf.
func planOf(cfg *config.Config, besides ...string) (string, error) {
	plan := *cfg
	plan.Base, plan.Rounds, plan.Metrics, plan.Gate, plan.Store, plan.Report = "", config.Rounds{}, nil, config.Gate{}, config.Store{}, config.Report{}
	plan.Evidence.Why, plan.Farm = 0, nil // whose phones replace devices
	plan.Context.Use, plan.Context.Rules = nil, nil
	plan.App.APK, plan.App.Splits, plan.App.TestAPK, plan.App.OrchestratorAPK, plan.App.TestServicesAPK, plan.App.Mapping = "", nil, "", "", "", ""
	var digests contents
	if cfg.Energy != nil {
		energy := *cfg.Energy
		energy.Profiles, energy.PowerProfile = "", digests.of(energy.PowerProfile)
		plan.Energy = &energy
	}
	plan.Scenarios = slices.Clone(cfg.Scenarios)
	for i := range plan.Scenarios {
		w := &plan.Scenarios[i].Workload
		switch {
		case w.Shell != nil:
			w.Shell = &config.Shell{Script: digests.of(w.Shell.Script)}
		case w.Maestro != nil:
			w.Maestro = &config.Maestro{Flow: digests.of(w.Maestro.Flow)}
		}
	}
	if digests.err != nil {
		return "", digests.err
	}
	data, err := json.Marshal([]any{plan, besides})
	if err != nil {
		return "", exit.Infrastructure(fmt.Errorf("sum up what is measured: %w", err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// contents computes the digests of files.
type contents struct{ err error }

// of returns the digest of a file's content, "" for no file.
func (c *contents) of(path string) string {
	if path == "" {
		return ""
	}
	sum := sha256.New()
	if err := hashFile(sum, path); err != nil {
		c.err = errors.Join(c.err, exit.Usage(atomicfile.Error("read", path, err), ""))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// buildOf returns the digest of what is installed, whatever its files are called: "" if there is
// nothing, or one of the files is missing.
func buildOf(app config.App) (string, error) {
	sum := sha256.New()
	none := true
	for i, paths := range [][]string{app.APKs(), {app.TestAPK}, {app.OrchestratorAPK}, {app.TestServicesAPK}, {app.Mapping}} {
		for _, path := range paths {
			if path == "" {
				continue
			}
			none = false
			fmt.Fprintf(sum, "%d\n", i) // which of them it is
			err := hashFiles(sum, path)
			if errors.Is(err, fs.ErrNotExist) {
				return "", nil
			}
			if err != nil {
				return "", exit.Infrastructure(atomicfile.Error("read", path, err))
			}
		}
	}
	if none {
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// hashFiles adds a file, or the files of a folder sorted by name.
func hashFiles(sum io.Writer, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return hashFile(sum, path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		fmt.Fprintf(sum, "%s\n", e.Name())
		if err := hashFile(sum, filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// hashFile adds the length and the content of a file.
func hashFile(sum io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(sum, file)
	fmt.Fprintf(sum, "\n%d\n", n)
	return err
}
