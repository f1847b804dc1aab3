// Package loss classifies why a repetition or a run was lost, and whose failure it was: the app's,
// the configuration's, or the measuring infrastructure's.
//
// It owns the kinds of losses and their wording. Whether a loss leads to a retry or ends the run is
// decided in package collect; its exit status is decided by the command line.
package loss

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/run"
)

// Cause is whose failure a loss is.
type Cause int

// The causes, by increasing gravity.
const (
	// Workload is a failure of the app or the test itself: a crash, a failed test, a workload that
	// does not end.
	Workload Cause = iota
	// Configuration is a failure of the caller: what apkgate.yml or the command line names does not
	// exist, or is something else.
	Configuration
	// Infrastructure is a failure of the device, adb, or this computer. No verdict can rest on such
	// a run.
	Infrastructure
)

// String returns the cause's name.
func (c Cause) String() string {
	switch c {
	case Infrastructure:
		return "infrastructure"
	case Configuration:
		return "configuration"
	}
	return "workload"
}

// Error reports why a repetition or a run was lost.
type Error struct {
	Cause      Cause
	Device     string
	Phase      journal.Phase
	Repetition int // 0: not of a repetition
	Err        error
	// Advice is a hint for the reader; "" stands for Err's own hint.
	Advice string
	// Final reports that a retry cannot help.
	Final bool
}

// Error returns what was lost and why.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns advice for the reader, "" if there is none.
func (e *Error) Hint() string {
	if e.Advice != "" {
		return e.Advice
	}
	var advised interface{ Hint() string }
	if errors.As(e.Err, &advised) {
		return advised.Hint()
	}
	if errors.Is(e.Err, ErrTimeout) {
		return "give the scenario a longer timeout, or see why its workload does not end"
	}
	return ""
}

// The ways to lose a repetition, for errors.Is.
var (
	ErrCrashed  = errors.New("the app crashed")
	ErrSilent   = errors.New("the app did not respond to input")
	ErrDied     = errors.New("the app's process died")
	ErrTestFail = errors.New("the test failed")
	ErrTimeout  = errors.New("the workload did not end in time")
	ErrNoFrames = errors.New("no frames were seen")
	ErrTimeline = errors.New("the frame timeline is not known")
	ErrLog      = errors.New("what the device logged is not known")
	ErrGarbled  = errors.New("the device answered garbage")
	ErrEnergy   = errors.New("the energy is not known")
	ErrStart    = errors.New("the app was not started as asked")
	ErrDialog   = errors.New("a dialog of the system's stood before the app")
)

// Answers reports whether the device still responds after the loss of a repetition.
func Answers(err error) bool {
	return slices.ContainsFunc([]error{ErrGarbled, ErrTimeline, ErrEnergy, ErrDialog, ErrLog}, func(way error) bool { return errors.Is(err, way) })
}

// Text separates, in a warning, the name of the repetition from why it was lost.
const Text = " is lost: "

// EndedByItself reports whether a run's warning is about a repetition that the app or its test
// ended, and that was repeated.
func EndedByItself(w run.Warning) bool {
	_, why, lost := strings.Cut(w.Text, Text)
	return lost && slices.ContainsFunc([]error{ErrCrashed, ErrSilent, ErrDied, ErrTestFail, ErrTimeout}, func(way error) bool {
		return strings.HasPrefix(why, way.Error())
	})
}

// IsInfrastructure reports whether err is a failure of the infrastructure rather than of the app,
// its test or the configuration.
func IsInfrastructure(err error) bool {
	e := As(err)
	return e != nil && e.Cause == Infrastructure
}

// IsWorkload reports whether the app or its test ended the run: a crash, a failed test, no frames.
// Such a run is stored, with the reason.
func IsWorkload(err error) bool {
	e := As(err)
	return e != nil && e.Cause == Workload
}

// IsConfiguration reports whether err is a failure of the caller's configuration.
func IsConfiguration(err error) bool {
	e := As(err)
	return e != nil && e.Cause == Configuration
}

// As returns the Error that err is or wraps, nil if there is none.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// IsGone reports whether the device or the connection to it is lost.
func IsGone(err error) bool {
	return errors.Is(err, device.ErrGone) || errors.Is(err, device.ErrUnauthorized)
}

// Stops reports whether err ends all further work: the device is lost, or the caller canceled it.
func Stops(err error) bool {
	return IsGone(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Of wraps err in an Error unless it is one already. The loss of the device is an infrastructure
// failure, whatever the phase.
func Of(dev string, cause Cause, phase journal.Phase, repetition int, err error) error {
	if e := As(err); e != nil {
		if e.Device == "" {
			e.Device, e.Repetition = dev, repetition
		}
		return err
	}
	if IsGone(err) {
		cause = Infrastructure
	}
	return &Error{Cause: cause, Device: dev, Phase: phase, Repetition: repetition, Err: err}
}

// Final wraps a set-up error that a retry cannot fix, unless the device was lost. Advice may be "".
func Final(dev string, cause Cause, err error, advice string) error {
	out := Of(dev, cause, journal.SetUp, 0, err)
	if e := As(out); e != nil {
		e.Final = !IsGone(err)
		if advice != "" {
			e.Advice = advice
		}
	}
	return out
}

// Gravest returns the first infrastructure failure, or the first loss if there is none.
func Gravest(losses []error) error {
	for _, err := range losses {
		if IsInfrastructure(err) {
			return err
		}
	}
	if len(losses) > 0 {
		return losses[0]
	}
	return nil
}

// Why returns one sentence for the run's record on why the run is incomplete: "the app crashed in
// repetition 2: Process crashed." The hint of a workload's failure is appended, since it is
// reported nowhere else.
func Why(err error) string {
	text, e := err.Error(), As(err)
	if e == nil {
		return journal.Line(text)
	}
	if e.Phase == journal.Measure && e.Repetition > 0 {
		text = inRepetition(text, e)
	}
	if hint := e.Hint(); hint != "" && e.Cause == Workload {
		text += " (" + hint + ")"
	}
	return journal.Line(text)
}

// inRepetition inserts the repetition between what happened and its details.
func inRepetition(text string, e *Error) string {
	at := fmt.Sprintf(" in repetition %d", e.Repetition)
	for _, way := range []error{ErrCrashed, ErrSilent, ErrDied, ErrTestFail, ErrTimeout, ErrNoFrames, ErrTimeline, ErrGarbled, ErrEnergy, ErrStart, ErrDialog} {
		if details, ok := strings.CutPrefix(text, way.Error()); ok && errors.Is(e, way) {
			return way.Error() + at + details
		}
	}
	return fmt.Sprintf("repetition %d: %s", e.Repetition, text)
}
