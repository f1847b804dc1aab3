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

// planOf is the digest of all that bears on what is measured and how, of the
// configuration and besides. Where its files lie does not: of scripts, flows and power
// profiles it is the content that counts. What is installed is buildOf's.
func planOf(cfg *config.Config, besides ...string) (string, error) {
	plan := *cfg
	plan.Base, plan.Rounds, plan.Metrics, plan.Gate, plan.Store, plan.Report = "", config.Rounds{}, nil, config.Gate{}, config.Store{}, config.Report{}
	plan.Evidence.Why, plan.Farm = 0, nil // whose phones stand in for devices
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

// contents are the digests of files.
type contents struct{ err error }

// of is the digest of a file's content, "" of no file.
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

// buildOf is the digest of what is installed, whatever its files are called: "" where
// nothing is, or where one of the files is not there, so that nothing can be told.
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

// hashFiles adds a file, or the files of a folder in the order of their names.
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

// hashFile adds the content of a file, and how long it is.
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
