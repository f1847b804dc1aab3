package genymotion

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/program"
)

// Find is the path of a program: in the folders of the PATH of that environment, and
// after them in those where its installer puts it.
func Find(name string, getenv func(string) string, installed ...string) (path string, ok bool) {
	for _, dir := range append(filepath.SplitList(getenv("PATH")), installed...) {
		if !filepath.IsAbs(dir) {
			continue // the working directory's programs are the pull request's
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, true
		}
	}
	return "", false
}

// EndOrphans ends the program where it still works at what has the name: where apkgate was
// killed it may go on (only Linux ends it), and create what was already looked for.
func EndOrphans(name, of string) error {
	found, err := program.Find(of)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	const within = 5 * time.Second
	var errs []error
	for _, p := range found {
		if runs(p.Args, name) {
			errs = append(errs, p.Stop(within))
		}
	}
	return errors.Join(errs...)
}

// runs reports whether a command line is one of the program, or of an interpreter that
// runs it.
func runs(args []string, name string) bool {
	const interpreter = 3 // "python3 -I gmsaas"
	return slices.ContainsFunc(args[:min(len(args), interpreter)], func(arg string) bool {
		return strings.TrimSuffix(filepath.Base(arg), ".exe") == name
	})
}
