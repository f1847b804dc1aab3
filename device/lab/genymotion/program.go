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

	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// Find returns the path of a program: in the folders of the environment's PATH, or else in
// those where its installer puts it.
func Find(name string, getenv func(string) string, installed ...string) (path string, ok bool) {
	for _, dir := range append(filepath.SplitList(getenv("PATH")), installed...) {
		if !filepath.IsAbs(dir) {
			continue // programs in the working directory belong to the pull request
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, true
		}
	}
	return "", false
}

// Program is one of Genymotion's programs.
type Program struct {
	Lab  string // the lab's name in sentences
	Name string // "gmsaas"
	// Installed are the folders where its installer puts it, in addition to those of the PATH.
	Installed []string
	Missing   boot.Error // the error if it is not found: "gmsaas is not in the PATH"
	Slow      string     // advice for a timeout
}

// RefusedError is an error of a program itself: it ended with an exit code, or is not
// installed.
type RefusedError struct {
	Code   int    // its exit code; NoProgram if it is not installed
	Said   string // one line
	Failed *boot.Error
}

// NoProgram is the Code of a missing program.
const NoProgram = -1

// Error describes the operation and the failure.
func (e *RefusedError) Error() string { return e.Failed.Error() }

// Unwrap returns the *boot.Error.
func (e *RefusedError) Unwrap() error { return e.Failed }

// Says reports whether the program's message contains one of the parts, in any case.
func (e *RefusedError) Says(parts ...string) bool { return Says(e.Said, parts...) }

// Says reports whether a program's message contains one of the parts, in any case.
func Says(said string, parts ...string) bool {
	said = strings.ToLower(said)
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(said, p) })
}

// Hopeless reports whether the error rules out a retry.
func Hopeless(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && !refused.Failed.Retry
}

// Run runs a command of the program with the timeout within; the error of a timeout reports
// patience. A nonzero exit code is not an error: each program has its own codes for refusals.
func (c Computer) Run(ctx context.Context, p Program, doing string, patience, within time.Duration, args ...string) (hostprogram.Result, error) {
	path, ok := Find(p.Name, c.Getenv, p.Installed...)
	if !ok {
		return hostprogram.Result{}, &RefusedError{Code: NoProgram, Failed: &boot.Error{Lab: p.Lab, What: doing + ": " + p.Missing.What, Advice: p.Missing.Advice}}
	}
	r, err := hostprogram.Run(ctx, hostprogram.Command{Path: path, Args: args, Env: c.Env, Timeout: within})
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case errors.Is(err, hostprogram.ErrTimeout):
		return r, &boot.Error{Lab: p.Lab, What: fmt.Sprintf("%s: %s took longer than %s", doing, p.Name, prose.Duration(patience)), Advice: p.Slow, Retry: true}
	case err != nil:
		return r, &boot.Error{Lab: p.Lab, What: doing + ": " + err.Error()}
	case r.ExitCode == 0 && r.Cut:
		return r, &boot.Error{Lab: p.Lab, What: doing + ": " + p.Name + " printed more than apkgate reads"}
	}
	return r, nil
}

// EndOrphans ends processes of the program that are still working on the named device: they
// may survive a killed apkgate (except on Linux), and create it after the search for it.
func EndOrphans(name, of string) error {
	found, err := hostprogram.Find(of)
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

// runs reports whether a command line is the program's, or that of an interpreter that runs
// it.
func runs(args []string, name string) bool {
	const interpreter = 3 // "python3 -I gmsaas"
	return slices.ContainsFunc(args[:min(len(args), interpreter)], func(arg string) bool {
		return strings.TrimSuffix(filepath.Base(arg), ".exe") == name
	})
}
