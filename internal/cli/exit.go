package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/words"
)

// The exit statuses, a contract with whoever scripts apkgate.
const (
	exitPass           = 0 // pass, improvement or inconclusive
	exitRegression     = 1
	exitUsage          = 2 // wrong usage, configuration or input
	exitInfrastructure = 3 // no verdict: a run is not whole, or device, adb, store or network failed
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

// withStatus is an error that ends apkgate with a status.
func withStatus(status int, err error, hint string) error { return &failure{status, err, hint} }

func badValue(flag, value string, allowed []string) error {
	return usage(fmt.Errorf("--%s is %q, want one of %s", flag, words.Short(value), strings.Join(allowed, ", ")), config.DidYouMean(value, allowed))
}

// verdictError carries a verdict that fails the build to the exit status; there
// is nothing left to print.
type verdictError int

func (v verdictError) Error() string { return fmt.Sprintf("exit status %d", int(v)) }

// FailOn is the outcome from which a verdict fails the command.
type FailOn string

// The values of --fail-on.
const (
	FailNever        FailOn = "never"
	FailRegression   FailOn = "regression"
	FailInconclusive FailOn = "inconclusive"
)

var failOns = []FailOn{FailNever, FailRegression, FailInconclusive}

// statusOf is the exit status that a verdict by itself stands for.
func statusOf(o gate.Outcome, failOn FailOn) int {
	switch {
	case failOn == FailNever:
		return exitPass
	case o == gate.Invalid:
		return exitInfrastructure
	case o == gate.Regression, o == gate.Inconclusive && failOn == FailInconclusive:
		return exitRegression
	}
	return exitPass
}

// exitOf is the one place where a verdict, and what was lost beside it, become an
// exit status. A regression outweighs the loss, which is told all the same; any
// other verdict, and one that fails nothing, does not.
func exitOf(o gate.Outcome, failOn FailOn, loss error) error {
	status := statusOf(o, failOn)
	switch {
	case loss != nil && o == gate.Regression && status != exitPass:
		return errors.Join(verdictError(status), loss)
	case loss != nil:
		return loss
	case status == exitPass:
		return nil
	}
	return verdictError(status)
}

// finish prints an error, or each of several, with its hint apart, and returns the
// exit status: a verdict's, or else the gravest. An error that knows no status is
// of what apkgate runs on.
func finish(stderr io.Writer, err error) int {
	status, decided := exitPass, false
	for _, err := range each(err) {
		var verdict verdictError
		if errors.As(err, &verdict) {
			status, decided = int(verdict), true
			continue
		}
		fmt.Fprintf(stderr, "error: %s\n", plainLines(err.Error()))
		if hint := hintOf(err); hint != "" {
			fmt.Fprintf(stderr, "hint: %s\n", plainLines(hint))
		}
		own := exitInfrastructure
		var f *failure
		if errors.As(err, &f) {
			own = f.status
		}
		if !decided {
			status = max(status, own)
		}
	}
	return status
}

// each takes joined errors apart.
func each(err error) []error {
	if err == nil {
		return nil
	}
	several, ok := err.(interface{ Unwrap() []error })
	if !ok || err.Error() != errors.Join(several.Unwrap()...).Error() { // one sentence of several
		return []error{err}
	}
	var out []error
	for _, err := range several.Unwrap() {
		out = append(out, each(err)...)
	}
	return out
}

// withoutVerdict is what an error tells beside a verdict, nil for nothing.
func withoutVerdict(err error) error {
	return errors.Join(slices.DeleteFunc(each(err), func(err error) bool { return errors.As(err, new(verdictError)) })...)
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
