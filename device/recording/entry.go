package recording

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/prose"
)

// Op is what a line of the exchanges is of.
type Op string

// The calls of a run, in the order in which they ended; and what came beside them.
const (
	Unit      Op = "unit"  // a run begins
	Open      Op = "open"  // the device is connected to
	Exec      Op = "exec"  // a command ran to its end
	Start     Op = "start" // a command was started, which goes on
	Push      Op = "push"
	Pull      Op = "pull"
	Install   Op = "install"
	Uninstall Op = "uninstall"
	Sleep     Op = "sleep" // time was let pass
	Data      Op = "data"  // a process printed something
	End       Op = "end"   // a process ended
	Lost      Op = "lost"  // the connection was lost
	Alive     Op = "alive" // the device was asked, beside the run, whether it lives
)

var calls = []Op{Open, Exec, Start, Push, Pull, Install, Uninstall, Sleep}

// isCall reports whether the run waited for it. All else is an event that follows one.
func (o Op) isCall() bool { return slices.Contains(calls, o) }

// Entry is one line of the exchanges. Which fields it has depends on its Op.
type Entry struct {
	Op Op `json:"op"`
	// Unit names the run that begins, and Started is its date.
	Unit    string    `json:"unit,omitzero"`
	Started time.Time `json:"started,omitzero"`
	// Serial and Shared are of a connection: see device.Device and adb.Device.Shared.
	Serial string `json:"serial,omitempty"`
	Shared bool   `json:"shared,omitempty"`
	// KeepsShell is of a connection too: see device.KeepsShell.
	KeepsShell bool `json:"keeps_shell,omitempty"`
	// Command is the command line, or the package that was removed.
	Command string `json:"command,omitempty"`
	Path    string `json:"path,omitempty"`
	Mode    uint32 `json:"mode,omitempty"`
	// Files are what was pushed or installed.
	Files  []File  `json:"files,omitempty"`
	Stdout *Text   `json:"stdout,omitempty"`
	Stderr *Text   `json:"stderr,omitempty"`
	Exit   int     `json:"exit,omitempty"`
	Error  *Failed `json:"error,omitempty"`
	// Stream numbers a process that goes on, within its run.
	Stream int `json:"stream,omitempty"`
	// ForNS is how long the run asked to wait.
	ForNS int64 `json:"for_ns,omitempty"`
	// AtNS is when it began and TookNS how long it took, on the clock of the run.
	AtNS   int64 `json:"at_ns,omitempty"`
	TookNS int64 `json:"took_ns,omitempty"`
	// NowNS are the times that the run was told where it looked at its clock since the
	// call before.
	NowNS []int64 `json:"now_ns,omitempty"`
}

// Text is what was printed or transferred: on the line, or in a file of contents.
type Text struct {
	Text   string `json:"text,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
}

// File is a file of this computer that was given to the device.
type File struct {
	Name   string `json:"name,omitempty"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	// Kept says that its content is in the recording.
	Kept bool `json:"kept,omitempty"`
}

// Failed is an error as it was met: its text, its advice, and what errors.Is is true of.
// It is that error again in a replay.
type Failed struct {
	Text   string   `json:"text"`
	Advice string   `json:"hint,omitempty"`
	Kinds  []string `json:"is,omitempty"`
}

// Error is the text that the error had.
func (f *Failed) Error() string { return f.Text }

// Hint is the advice that came with it, "" for none.
func (f *Failed) Hint() string { return f.Advice }

// kinds are the errors that callers tell apart.
var kinds = map[string]error{
	"gone": device.ErrGone, "unauthorized": device.ErrUnauthorized,
	"canceled": context.Canceled, "deadline": context.DeadlineExceeded,
	"not-exist": fs.ErrNotExist, "permission": fs.ErrPermission,
}

// Is makes errors.Is true of what it was true of.
func (f *Failed) Is(target error) bool {
	return slices.ContainsFunc(f.Kinds, func(name string) bool { return kinds[name] == target && target != nil })
}

// err is the recorded error, nil for none.
func (f *Failed) err() error {
	if f == nil {
		return nil
	}
	return f
}

// failed is an error as it is recorded, nil for none.
func failed(err error) *Failed {
	if err == nil {
		return nil
	}
	f := &Failed{Text: err.Error()}
	for name, e := range kinds {
		if errors.Is(err, e) {
			f.Kinds = append(f.Kinds, name)
		}
	}
	slices.Sort(f.Kinds)
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		f.Advice = hinted.Hint()
	}
	return f
}

// key is by what a call is found again: what is asked, not what is answered.
func (e *Entry) key() string {
	switch e.Op {
	case Push, Pull:
		return string(e.Op) + " " + e.Path
	case Exec, Start, Uninstall:
		return string(e.Op) + " " + e.Command
	case Install:
		key := string(e.Op)
		for _, f := range e.Files {
			key += " " + f.SHA256
		}
		return key
	}
	return string(e.Op)
}

// Asked says what a call asked, for people.
func (e *Entry) Asked() string {
	const most = 160
	switch e.Op {
	case Exec, Start:
		return prose.Quote(e.Command, most)
	case Push:
		return "writing " + prose.Quote(e.Path, most)
	case Pull:
		return "reading " + prose.Quote(e.Path, most)
	case Uninstall:
		return "removing " + prose.Quote(e.Command, most)
	case Install:
		text := "installing"
		for _, f := range e.Files {
			text += fmt.Sprintf(" %s (%d bytes, SHA-256 %.12s)", prose.Quote(f.Name, 60), f.Bytes, f.SHA256)
		}
		return text
	case Open:
		return "connecting"
	}
	return string(e.Op)
}

// end is when a call ended, on the clock of the run.
func (e *Entry) end() time.Duration { return time.Duration(e.AtNS + e.TookNS) }
