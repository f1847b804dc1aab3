// Package exit is how apkgate ends: which error is the caller's and which is of what
// apkgate runs on, what is told of it, and the exit status.
//
// It takes a stand: an exit status is made in one place, of a verdict by Of and of an
// error by Finish, and each error is told with its hint apart. It decides no verdict.
package exit

import (
	"errors"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// The exit statuses, a contract with whoever scripts apkgate.
const (
	StatusPass           = 0 // pass, improvement or inconclusive
	StatusRegression     = 1
	StatusUsage          = 2 // wrong usage, configuration or input
	StatusInfrastructure = 3 // no verdict: a run is not whole, or device, adb, store or network failed
)

// Failure is an error that knows its exit status and, maybe, what to do about it.
type Failure struct {
	status int
	err    error
	hint   string
}

// Error is the error's text.
func (f *Failure) Error() string { return f.err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.err }

// Hint is what to do about it, "" for nothing.
func (f *Failure) Hint() string { return f.hint }

// Usage is an error of the caller's: flags, configuration or input.
func Usage(err error, hint string) error { return &Failure{StatusUsage, err, hint} }

// Infrastructure is an error of what apkgate runs on.
func Infrastructure(err error) error { return &Failure{status: StatusInfrastructure, err: err} }

// WithStatus is an error that ends apkgate with a status.
func WithStatus(status int, err error, hint string) error { return &Failure{status, err, hint} }

// verdictStatus carries a verdict that fails the build to the exit status; there
// is nothing left to print.
type verdictStatus int

// Error is for nobody: nothing is printed of it.
func (v verdictStatus) Error() string { return fmt.Sprintf("exit status %d", int(v)) }

// statusOf is the exit status that a verdict by itself stands for.
func statusOf(o gate.Outcome, failOn gate.FailOn) int {
	switch {
	case !o.Fails(failOn):
		return StatusPass
	case o == gate.Invalid:
		return StatusInfrastructure
	}
	return StatusRegression
}

// Of is the one place where a verdict, and what was lost beside it, become an
// exit status. A regression outweighs the loss, which is told all the same; any
// other verdict, and one that fails nothing, does not.
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

// Finish prints an error, or each of several, with its hint apart, and returns the
// exit status: a verdict's, or else the gravest. An error that knows no status is
// of what apkgate runs on.
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

// HintOf is the first hint among the error and those that it wraps.
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

// InfrastructureIf is Infrastructure of an error, nil of none.
func InfrastructureIf(err error) error {
	if err == nil {
		return nil
	}
	return Infrastructure(err)
}
