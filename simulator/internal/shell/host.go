// Package shell simulates the shell of a phone: the part of mksh's language that collectors
// and scripts use, the commands that need only files and processes, and background jobs.
//
// It knows no phone: a Host has a clock, files, a table of further commands and a list of
// processes. Everything runs under one lock, and no command blocks: one that has to wait, such
// as a sleep in a script, leaves a continuation in the queue of the clock.
package shell

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// CommandTime is the minimum duration of every command.
const CommandTime = 4 * time.Millisecond

// Host is the machine that shells run on. Its methods except for Start are called with the
// lock held.
type Host struct {
	Lock     sync.Locker
	Clock    *clock.Queue
	Files    *storage.Files
	API      int                // of its Android version
	Commands map[string]Command // in addition to the shell's own
	Others   func() []Process   // those that are not jobs, in a stable order
	Runs     bool               // the clock advances by itself

	// Asked counts the finished command lines from outside.
	Asked Asked

	shells   map[*Shell]bool
	finished []*Shell // ended while the clock advanced
	jobs     map[int]*Job
	nextJob  int
}

// Asked counts the costs of command lines.
type Asked struct {
	Processes int // started ones, including shells
	Dumps     int // calls of the system's services
}

// ProcessCPU is the assumed CPU time of a process that is started for a command; it was not
// measured on a phone.
const ProcessCPU = 3 * time.Millisecond

// CPU returns the CPU time of the processes.
func (a Asked) CPU() time.Duration { return time.Duration(a.Processes) * ProcessCPU }

// inShell are mksh's builtin commands (funcs.c, mkshbuiltins): since its R39, of 2010, also
// cat without options (exec.c, comexec).
var inShell = map[string]bool{":": true, "true": true, "false": true, "cat": true, "cd": true, "echo": true, "exec": true, "exit": true, "export": true, "kill": true, "test": true, "[": true, "wait": true}

// count counts a command.
func (h *Host) count(name string, args ...string) {
	if !inShell[name] || name == "cat" && len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		h.Asked.Processes++
	}
	if name == "dumpsys" {
		h.Asked.Dumps++
	}
}

// forks counts the process that commands run in: a subshell, which execs a single command
// (mksh's XEXEC).
func (h *Host) forks(l *list) {
	if len(l.items) == 1 && len(l.items[0]) == 1 {
		if n := l.items[0][0]; n.group == nil && len(n.words) > 0 && len(n.words[0].parts) == 1 && !inShell[n.words[0].parts[0].text] {
			return
		}
	}
	h.Asked.Processes++
}

// Process is a process that no shell has started.
type Process struct {
	PID  int
	Name string // "": not found by name
	End  func() // the effect of a signal; nil: none
	// Quit makes the process write its threads' stacks, on behalf of a package ("": the
	// shell), and returns whether that is permitted. If it is nil, the signal ends the
	// process.
	Quit func(as string) bool
}

// Open prepares a host for shells.
func (h *Host) Open() {
	h.shells, h.jobs = map[*Shell]bool{}, map[int]*Job{}
}

// DropJobs drops all jobs, as at a restart: none of them ends regularly.
func (h *Host) DropJobs() { h.jobs = map[int]*Job{} }

// EndAll ends all command lines.
func (h *Host) EndAll(code int) {
	for s := range h.shells {
		s.end(code)
	}
}

// Finished are command lines that have ended on the clock.
type Finished []*Shell

// TakeFinished returns those that have ended since the last call.
func (h *Host) TakeFinished() Finished {
	finished := h.finished
	h.finished = nil
	return finished
}

// patience limits how long Delivered waits for a reader.
const patience = 10 * time.Second

// onTheWire is an allowance for the time between the client's closing its stream and its
// caller's learning of it, which can't be observed from here. It applies once to each
// workload.
const onTheWire = 5 * time.Millisecond

// Delivered waits until the clients of the command lines have received their ends. The lock
// must not be held.
func (f Finished) Delivered(ctx context.Context) error {
	if len(f) == 0 {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, s := range f {
		for _, step := range []<-chan struct{}{s.delivered, s.served} {
			if step == nil {
				continue
			}
			select {
			case <-step:
			case <-bound.Done():
				return ctx.Err()
			}
		}
	}
	return clock.SleepReal(ctx, onTheWire)
}
