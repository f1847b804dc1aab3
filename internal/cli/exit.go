package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
)

// The exit statuses, a contract with whoever scripts apkgate.
const (
	exitPass           = 0 // pass, improvement or inconclusive
	exitRegression     = 1
	exitUsage          = 2 // wrong usage, configuration or input
	exitInfrastructure = 3 // no verdict: device, adb, store or network
)

// failure is an error that knows its exit status and, maybe, what to do about it.
type failure struct {
	status int
	err    error
	hint   string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }
func (f *failure) Hint() string  { return f.hint }

// usage is an error of the caller's: flags, configuration or input.
func usage(err error, hint string) error { return &failure{exitUsage, err, hint} }

// infrastructure is an error of what apkgate runs on.
func infrastructure(err error) error { return &failure{status: exitInfrastructure, err: err} }

func badValue(flag, value string, allowed []string) error {
	return usage(fmt.Errorf("--%s is %q, want one of %s", flag, clip(value), strings.Join(allowed, ", ")), config.DidYouMean(value, allowed))
}

// verdictError carries a verdict that fails the build to the exit status; there
// is nothing left to print.
type verdictError int

func (v verdictError) Error() string { return fmt.Sprintf("exit status %d", int(v)) }

// FailOn is the outcome from which the exit status is 1.
type FailOn string

// The values of --fail-on.
const (
	FailNever        FailOn = "never"
	FailRegression   FailOn = "regression"
	FailInconclusive FailOn = "inconclusive"
)

var failOns = []FailOn{FailNever, FailRegression, FailInconclusive}

// statusOf is the one place where a verdict becomes an exit status.
func statusOf(o gate.Outcome, failOn FailOn) int {
	switch {
	case o == gate.Invalid:
		return exitInfrastructure
	case o == gate.Regression && failOn != FailNever,
		o == gate.Inconclusive && failOn == FailInconclusive:
		return exitRegression
	}
	return exitPass
}

func exitWith(status int) error {
	if status == exitPass {
		return nil
	}
	return verdictError(status)
}

// finish prints an error, or each of several, with its hint apart, and returns the
// exit status. An error that says nothing of itself is one of the command line's
// words.
func (c Command) finish(err error) int {
	var verdict verdictError
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &verdict):
		return int(verdict)
	}
	each := []error{err}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		each = several.Unwrap()
	}
	for _, err := range each {
		fmt.Fprintf(c.Stderr, "error: %s\n", plainLines(err.Error()))
		if hint := hintOf(err); hint != "" {
			fmt.Fprintf(c.Stderr, "hint: %s\n", plainLines(hint))
		}
	}
	var f *failure
	if errors.As(err, &f) {
		return f.status
	}
	return exitUsage
}

// hintOf is the first hint among the error and those that it wraps.
func hintOf(err error) string {
	var hinted interface {
		error
		Hint() string
	}
	for errors.As(err, &hinted) {
		if hint := hinted.Hint(); hint != "" {
			return hint
		}
		err = errors.Unwrap(hinted)
	}
	return ""
}
