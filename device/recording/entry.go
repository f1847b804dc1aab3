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

// Op is the kind of an exchange.
type Op string

// The calls of a run, in the order in which they ended, and the events between them.
const (
	Unit      Op = "unit"  // a run begins
	Open      Op = "open"  // the device was connected
	Exec      Op = "exec"  // a command ran to its end
	Start     Op = "start" // a command was started in the background
	Push      Op = "push"
	Pull      Op = "pull"
	Install   Op = "install"
	Uninstall Op = "uninstall"
	Sleep     Op = "sleep" // the run slept
	Data      Op = "data"  // a process printed something
	End       Op = "end"   // a process ended
	Lost      Op = "lost"  // the connection was lost
	Alive     Op = "alive" // a liveness check, concurrent with the run
)

var calls = []Op{Open, Exec, Start, Push, Pull, Install, Uninstall, Sleep}

// isCall reports whether the run waited for it. All other entries are events that follow a
// call.
func (o Op) isCall() bool { return slices.Contains(calls, o) }

// Entry is one line of the exchanges. Its Op determines which fields are set.
type Entry struct {
	Op Op `json:"op"`
	// Unit names the run that begins, and Started is its date.
	Unit    string    `json:"unit,omitzero"`
	Started time.Time `json:"started,omitzero"`
	// Serial and Shared belong to a connection: see device.Device and adb.Device.Shared.
	Serial string `json:"serial,omitempty"`
	Shared bool   `json:"shared,omitempty"`
	// KeepsShell belongs to a connection too: see device.KeepsShell.
	KeepsShell bool `json:"keeps_shell,omitempty"`
	// Command is the command line, or the uninstalled package.
	Command string `json:"command,omitempty"`
	Path    string `json:"path,omitempty"`
	Mode    uint32 `json:"mode,omitempty"`
	// Files are the files that were pushed or installed.
	Files  []File  `json:"files,omitempty"`
	Stdout *Text   `json:"stdout,omitempty"`
	Stderr *Text   `json:"stderr,omitempty"`
	Exit   int     `json:"exit,omitempty"`
	Error  *Failed `json:"error,omitempty"`
	// Stream numbers a background process within its run.
	Stream int `json:"stream,omitempty"`
	// ForNS is the duration of a sleep.
	ForNS int64 `json:"for_ns,omitempty"`
	// AtNS is when the call began and TookNS how long it took, on the run's clock.
	AtNS   int64 `json:"at_ns,omitempty"`
	TookNS int64 `json:"took_ns,omitempty"`
	// NowNS are the values that the run read from its clock since the previous call.
	NowNS []int64 `json:"now_ns,omitempty"`
}

// Text is printed or transferred data: inline, or in a file of contents.
type Text struct {
	Text   string `json:"text,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
}

// File is a file of this computer that was sent to the device.
type File struct {
	Name   string `json:"name,omitempty"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	// Kept reports whether its content is in the recording.
	Kept bool `json:"kept,omitempty"`
}

// Failed is a recorded error: its text, its hint, and the errors that it matches with
// errors.Is. A replay returns it.
type Failed struct {
	Text   string   `json:"text"`
	Advice string   `json:"hint,omitempty"`
	Kinds  []string `json:"is,omitempty"`
}

// Error returns the recorded text.
func (f *Failed) Error() string { return f.Text }

// Hint returns the recorded hint, "" for none.
func (f *Failed) Hint() string { return f.Advice }

// kinds are the errors that callers distinguish.
var kinds = map[string]error{
	"gone": device.ErrGone, "unauthorized": device.ErrUnauthorized,
	"canceled": context.Canceled, "deadline": context.DeadlineExceeded,
	"not-exist": fs.ErrNotExist, "permission": fs.ErrPermission,
}

// Is matches the errors that the original matched.
func (f *Failed) Is(target error) bool {
	return slices.ContainsFunc(f.Kinds, func(name string) bool { return kinds[name] == target && target != nil })
}

// err returns the recorded error, nil for none.
func (f *Failed) err() error {
	if f == nil {
		return nil
	}
	return f
}

// failed converts an error for recording, nil for none.
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

// key identifies a call's question, without its answer.
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

// Asked describes the call's question, for people.
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

// end returns when a call ended, on the run's clock.
func (e *Entry) end() time.Duration { return time.Duration(e.AtNS + e.TookNS) }
