package genymotion

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/program"
	"github.com/apkgate/apkgate/internal/prose"
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

// Program is one of Genymotion's programs, as a lab uses it.
type Program struct {
	Lab  string // how the lab is called in sentences
	Name string // "gmsaas"
	// Installed are the folders where its installer puts it, beside those of the PATH.
	Installed []string
	Missing   boot.Error // What it is where it isn't found: "gmsaas is not in the PATH"
	Slow      string     // advice where it takes longer than it may
}

// RefusedError is an error of a program itself: of one that ended with an exit code, or that
// isn't there.
type RefusedError struct {
	Code   int    // its exit code; NoProgram where it isn't there
	Said   string // one line
	Failed *boot.Error
}

// NoProgram is the Code of a program that isn't there.
const NoProgram = -1

// Error says what was being done, and why it failed.
func (e *RefusedError) Error() string { return e.Failed.Error() }

// Unwrap returns it as an error of booting.
func (e *RefusedError) Unwrap() error { return e.Failed }

// Says reports whether the program said one of the parts, in any case.
func (e *RefusedError) Says(parts ...string) bool { return Says(e.Said, parts...) }

// Says reports whether what a program said has one of the parts, in any case.
func Says(said string, parts ...string) bool {
	said = strings.ToLower(said)
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(said, p) })
}

// Hopeless reports whether the program itself says that no other try helps.
func Hopeless(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && !refused.Failed.Retry
}

// Run runs a command of the program, which may take so long; what is told to whoever waited
// longer is patience. An exit code that is not 0 is no error: each program says by its own
// ones what it refuses.
func (c Computer) Run(ctx context.Context, p Program, doing string, patience, within time.Duration, args ...string) (program.Result, error) {
	path, ok := Find(p.Name, c.Getenv, p.Installed...)
	if !ok {
		return program.Result{}, &RefusedError{Code: NoProgram, Failed: &boot.Error{Lab: p.Lab, What: doing + ": " + p.Missing.What, Advice: p.Missing.Advice}}
	}
	r, err := program.Run(ctx, program.Command{Path: path, Args: args, Env: c.Env, Timeout: within})
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case errors.Is(err, program.ErrTimeout):
		return r, &boot.Error{Lab: p.Lab, What: fmt.Sprintf("%s: %s took longer than %s", doing, p.Name, prose.Duration(patience)), Advice: p.Slow, Retry: true}
	case err != nil:
		return r, &boot.Error{Lab: p.Lab, What: doing + ": " + err.Error()}
	case r.ExitCode == 0 && r.Cut:
		return r, &boot.Error{Lab: p.Lab, What: doing + ": " + p.Name + " printed more than apkgate reads"}
	}
	return r, nil
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
