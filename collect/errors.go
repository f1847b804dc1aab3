package collect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
	Phase      Phase
	Repetition int // 0 where it is not of one
	Err        error

	hint  string
	final bool // trying again is of no use
}

// Error says what was lost and why.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause in its own words.
func (e *Error) Unwrap() error { return e.Err }

// Hint is advice for the reader, "" where there is none.
func (e *Error) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	var advised interface{ Hint() string }
	if errors.As(e.Err, &advised) {
		return advised.Hint()
	}
	return ""
}

// The ways to lose a repetition, for errors.Is.
var (
	ErrCrashed  = errors.New("the app crashed")
	ErrDied     = errors.New("the app's process died")
	ErrTestFail = errors.New("the test failed")
	ErrTimeout  = errors.New("the workload did not end in time")
	ErrNoFrames = errors.New("no frames were seen")
	ErrFrameGap = errors.New("too many frames went by unseen")
	ErrGarbled  = errors.New("the device answered garbage")
	ErrEnergy   = errors.New("the energy is not known")
)

// lostText stands between which repetition a warning is of and why it is lost.
const lostText = " is lost: "

// EndedByItself reports whether a run's warning tells of a repetition that the app
// or its test ended, and that was made again.
func EndedByItself(w run.Warning) bool {
	_, why, lost := strings.Cut(w.Text, lostText)
	return lost && slices.ContainsFunc([]error{ErrCrashed, ErrDied, ErrTestFail, ErrTimeout}, func(way error) bool {
		return strings.HasPrefix(why, way.Error())
	})
}

// IsInfrastructure reports whether the failure is of what measures rather than
// of what is measured.
func IsInfrastructure(err error) bool {
	e := asError(err)
	return e != nil && e.Cause == Infrastructure
}

// IsWorkload reports whether the app or its test ended the run: a crash, a failed
// test, no frames. Such a run is kept, and says so.
func IsWorkload(err error) bool {
	e := asError(err)
	return e != nil && e.Cause == Workload
}

// IsConfiguration reports whether the run failed for what the caller named.
func IsConfiguration(err error) bool {
	e := asError(err)
	return e != nil && e.Cause == Configuration
}

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

func isGone(err error) bool {
	return errors.Is(err, device.ErrGone) || errors.Is(err, device.ErrUnauthorized)
}

// fail makes an Error of err unless it is one. The loss of the device is the
// infrastructure's whatever was being done.
func (c *collector) fail(cause Cause, phase Phase, repetition int, err error) error {
	if e := asError(err); e != nil {
		if e.Device == "" {
			e.Device, e.Repetition = c.job.Device, repetition
		}
		return err
	}
	if isGone(err) {
		cause = Infrastructure
	}
	return &Error{Cause: cause, Device: c.job.Device, Phase: phase, Repetition: repetition, Err: err}
}

// gravest is the first loss of the infrastructure, else the first.
func gravest(losses []error) error {
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

// why says in one sentence why a run is not complete, for its record: "the app
// crashed in repetition 2: Process crashed." A workload's failure comes with its
// hint, which nobody else tells.
func why(err error) string {
	if errors.Is(err, ErrOtherBuild) {
		return ErrOtherBuild.Error()
	}
	text, e := err.Error(), asError(err)
	if e == nil {
		return clip(text)
	}
	if e.Phase == Measure && e.Repetition > 0 {
		text = inRepetition(text, e)
	}
	if hint := e.Hint(); hint != "" && e.Cause == Workload {
		text += " (" + hint + ")"
	}
	return clip(text)
}

// inRepetition puts the repetition behind what happened, before its details.
func inRepetition(text string, e *Error) string {
	at := fmt.Sprintf(" in repetition %d", e.Repetition)
	for _, way := range []error{ErrCrashed, ErrDied, ErrTestFail, ErrTimeout, ErrNoFrames, ErrFrameGap, ErrGarbled, ErrEnergy} {
		if details, ok := strings.CutPrefix(text, way.Error()); ok && errors.Is(e, way) {
			return way.Error() + at + details
		}
	}
	return fmt.Sprintf("repetition %d: %s", e.Repetition, text)
}

// answered turns a command's failure into an error that shows its own words.
func answered(doing string, out device.Output, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if out.ExitCode == 0 {
		return nil
	}
	said := firstLine(append(append([]byte{}, out.Stderr...), out.Stdout...))
	return fmt.Errorf("%s: exit status %d: %s", doing, out.ExitCode, said)
}
