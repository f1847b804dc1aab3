// Package exit determines how apkgate ends: which error is the caller's and which the
// infrastructure's, what is printed of it, and the exit status.
//
// An exit status is computed in one place, from a verdict by Of and from an error by Finish, and
// each error is printed with its hint apart. It decides no verdict.
package exit

import (
	"errors"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// The exit statuses, a contract with scripts that run apkgate.
const (
	StatusPass           = 0 // pass, improvement or inconclusive
	StatusRegression     = 1
	StatusUsage          = 2 // wrong usage, configuration or input
	StatusInfrastructure = 3 // no verdict: a run is incomplete, or device, adb, store or network failed
)

// Failure is an error with an exit status and, possibly, a hint.
type Failure struct {
	status int
	err    error
	hint   string
}

// Error returns the error's text.
func (f *Failure) Error() string { return f.err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.err }

// Hint returns what to do about it, "" for none.
func (f *Failure) Hint() string { return f.hint }

// Usage returns an error of the caller: flags, configuration or input.
func Usage(err error, hint string) error { return &Failure{StatusUsage, err, hint} }

// Infrastructure returns an error of the infrastructure.
func Infrastructure(err error) error { return &Failure{status: StatusInfrastructure, err: err} }

// WithStatus returns an error that ends apkgate with a status.
func WithStatus(status int, err error, hint string) error { return &Failure{status, err, hint} }

// verdictStatus is the exit status of a verdict that fails the build; there is nothing left to
// print.
type verdictStatus int

// Error is never printed.
func (v verdictStatus) Error() string { return fmt.Sprintf("exit status %d", int(v)) }

// statusOf returns the exit status of a verdict by itself.
func statusOf(o gate.Outcome, failOn gate.FailOn) int {
	switch {
	case !o.Fails(failOn):
		return StatusPass
	case o == gate.Invalid:
		return StatusInfrastructure
	}
	return StatusRegression
}

// Of is the one place where a verdict, and what was lost besides, become an exit status. A
// regression outweighs the loss, which is printed as well; any other verdict, and one that fails
// nothing, does not.
func Of(o gate.Outcome, failOn gate.FailOn, loss error) error {
	status := statusOf(o, failOn)
	switch {
	case loss != nil && o == gate.Regression && status != StatusPass:
		return errors.Join(verdictStatus(status), loss)
	case loss != nil:
		return loss
	case status == StatusPass:
		return nil
	}
	return verdictStatus(status)
}

// Finish prints an error, or each of several, with its hint apart, and returns the exit status: a
// verdict's, or else the gravest. An error without a status is the infrastructure's.
func Finish(stderr io.Writer, err error) int {
	status, decided := StatusPass, false
	for _, err := range each(err) {
		var verdict verdictStatus
		if errors.As(err, &verdict) {
			status, decided = int(verdict), true
			continue
		}
		fmt.Fprintf(stderr, "error: %s\n", terminal.PlainLines(err.Error()))
		if hint := HintOf(err); hint != "" {
			fmt.Fprintf(stderr, "hint: %s\n", terminal.PlainLines(hint))
		}
		own := StatusInfrastructure
		var f *Failure
		if errors.As(err, &f) {
			own = f.status
		}
		if !decided {
			status = max(status, own)
		}
	}
	return status
}

// each splits joined errors.
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

// HintOf returns the first hint among the error and those that it wraps.
func HintOf(err error) string {
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

// InfrastructureIf is Infrastructure of an error, nil of nil.
func InfrastructureIf(err error) error {
	if err == nil {
		return nil
	}
	return Infrastructure(err)
}
