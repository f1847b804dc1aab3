// Package loss says why a repetition or a run was lost, and whose failure it was:
// the app's, the configuration's, or that of what measures.
//
// It owns the ways to lose one and the words for them. What follows from a loss,
// another try or the end of the run, is decided in package collect; which exit
// status it has, by the command line.
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

// Cause tells whose failure it is.
type Cause int

// The causes, the gravest last.
const (
	// Workload is the app's or the test's own failure: a crash, a failed test,
	// a workload that does not end.
	Workload Cause = iota
	// Configuration is the caller's: what apkgate.yml or the command line names is
	// not there, or is another thing.
	Configuration
	// Infrastructure is the failure of what measures: the device, adb, this
	// computer. No verdict can rest on such a run.
	Infrastructure
)

// String names the cause.
func (c Cause) String() string {
	switch c {
	case Infrastructure:
		return "infrastructure"
	case Configuration:
		return "configuration"
	}
	return "workload"
}

// Error is why a repetition or a run was lost.
type Error struct {
	Cause      Cause
	Device     string
	Phase      journal.Phase
	Repetition int // 0 where it is not of one
	Err        error
	// Advice is for the reader, "" for that of Err.
	Advice string
	// Final says that trying again is of no use.
	Final bool
}

// Error says what was lost and why.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause in its own words.
func (e *Error) Unwrap() error { return e.Err }

// Hint is advice for the reader, "" where there is none.
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

// Answers reports whether the device still answers of which a repetition was lost.
func Answers(err error) bool {
	return slices.ContainsFunc([]error{ErrGarbled, ErrTimeline, ErrEnergy, ErrDialog, ErrLog}, func(way error) bool { return errors.Is(err, way) })
}

// Text stands in a warning between which repetition it is of and why that is lost.
const Text = " is lost: "

// EndedByItself reports whether a run's warning tells of a repetition that the app
// or its test ended, and that was made again.
func EndedByItself(w run.Warning) bool {
	_, why, lost := strings.Cut(w.Text, Text)
	return lost && slices.ContainsFunc([]error{ErrCrashed, ErrSilent, ErrDied, ErrTestFail, ErrTimeout}, func(way error) bool {
		return strings.HasPrefix(why, way.Error())
	})
}

// IsInfrastructure reports whether the failure is of what measures rather than
// of what is measured.
func IsInfrastructure(err error) bool {
	e := As(err)
	return e != nil && e.Cause == Infrastructure
}

// IsWorkload reports whether the app or its test ended the run: a crash, a failed
// test, no frames. Such a run is kept, and says so.
func IsWorkload(err error) bool {
	e := As(err)
	return e != nil && e.Cause == Workload
}

// IsConfiguration reports whether the run failed for what the caller named.
func IsConfiguration(err error) bool {
	e := As(err)
	return e != nil && e.Cause == Configuration
}

// As is the Error that err is or wraps, nil where there is none.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// IsGone reports whether the device, or the way to it, is lost.
func IsGone(err error) bool {
	return errors.Is(err, device.ErrGone) || errors.Is(err, device.ErrUnauthorized)
}

// Stops reports whether nothing can go on after err: the device is lost, or whoever asked has
// ended it.
func Stops(err error) bool {
	return IsGone(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Of makes an Error of err unless it is one. The loss of the device is the
// infrastructure's whatever was being done.
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

// Final is an error of set-up that trying again can't mend, unless the device was
// lost. Advice may be "".
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

// Gravest is the first loss of the infrastructure, else the first.
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

// Why says in one sentence why a run is not complete, for its record: "the app
// crashed in repetition 2: Process crashed." A workload's failure comes with its
// hint, which nobody else tells.
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

// inRepetition puts the repetition behind what happened, before its details.
func inRepetition(text string, e *Error) string {
	at := fmt.Sprintf(" in repetition %d", e.Repetition)
	for _, way := range []error{ErrCrashed, ErrSilent, ErrDied, ErrTestFail, ErrTimeout, ErrNoFrames, ErrTimeline, ErrGarbled, ErrEnergy, ErrStart, ErrDialog} {
		if details, ok := strings.CutPrefix(text, way.Error()); ok && errors.Is(e, way) {
			return way.Error() + at + details
		}
	}
	return fmt.Sprintf("repetition %d: %s", e.Repetition, text)
}
