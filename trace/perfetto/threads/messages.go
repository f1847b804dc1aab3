package threads

import (
	"strings"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// cloneThread is CLONE_THREAD of the kernel's sched.h: what is born shares its
// parent's process.
const cloneThread = 0x10000

// NewTask is a TaskNewtaskFtraceEvent, which the parent writes. Its name is the message's
// bytes.
type NewTask struct {
	TID    int32
	Name   []byte
	Thread bool // of its parent's process; else it begins a process
}

// NewTaskOf reads a TaskNewtaskFtraceEvent.
func NewTaskOf(message []byte) NewTask {
	var t NewTask
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.NewTaskPID:
			t.TID = int32(f.Value)
		case field.NewTaskComm:
			t.Name = f.Bytes
		case field.NewTaskCloneFlags:
			t.Thread = f.Value&cloneThread != 0
		}
	}
	return t
}

// RenameOf reads a TaskRenameFtraceEvent: a thread and its new name.
func RenameOf(message []byte) (tid int32, name []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.RenamePID:
			tid = int32(f.Value)
		case field.RenameNewcomm:
			name = f.Bytes
		}
	}
	return tid, name
}

// TreeProcess is a ProcessTree.Process (process_tree.proto).
type TreeProcess struct {
	PID, Parent int32
	UID         int    // -1 where not told
	Start       *int64 // ns of CLOCK_BOOTTIME, nil where not told
	Comm        bool   // the command line is the name of its main thread

	message []byte
}

// TreeProcessOf reads a ProcessTree.Process.
func TreeProcessOf(message []byte) TreeProcess {
	p := TreeProcess{UID: -1, message: message}
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.TreeProcessPID:
			p.PID = int32(f.Value)
		case field.TreeProcessPpid:
			p.Parent = int32(f.Value)
		case field.TreeProcessUID:
			p.UID = int(int32(f.Value))
		case field.TreeProcessProcessStartFromBoot:
			p.Start = f.Int64()
		case field.TreeProcessCmdlineIsComm:
			p.Comm = f.Value != 0
		}
	}
	return p
}

// Limits on a command line.
const (
	maxWord  = 8 << 10 // bytes of a word
	maxWords = 1_000
)

// First is the first word of the command line, as it stands in the message.
func (p TreeProcess) First() []byte {
	for f := packets.FieldsOf(p.message); f.Next(); {
		if f.Number == field.TreeProcessCmdline && len(f.Bytes) > 0 {
			return f.Bytes
		}
	}
	return nil
}

// Words are those of the command line, made valid and bounded.
func (p TreeProcess) Words() []string {
	var words []string
	for f := packets.FieldsOf(p.message); f.Next() && len(words) < maxWords; {
		if f.Number == field.TreeProcessCmdline {
			words = append(words, strings.ToValidUTF8(string(f.Bytes[:min(len(f.Bytes), maxWord)]), "�"))
		}
	}
	return words
}

// TreeThread is a ProcessTree.Thread. Its name is the message's bytes.
type TreeThread struct {
	TID, PID int32
	Name     []byte
}

// TreeThreadOf reads a ProcessTree.Thread.
func TreeThreadOf(message []byte) TreeThread {
	var t TreeThread
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.TreeThreadTID:
			t.TID = int32(f.Value)
		case field.TreeThreadName:
			t.Name = f.Bytes
		case field.TreeThreadTGID:
			t.PID = int32(f.Value)
		}
	}
	return t
}
