// Package shell is the shell of a simulated phone: the part of mksh's language that
// collectors and scripts use, the commands that need nothing but files and
// processes, and jobs in the background.
//
// It knows no phone: a Host has a clock, files, a table of further commands and a
// list of processes. It takes a stand: all runs under one lock, and no command ever
// waits. What has to wait, such as a sleep in a script, leaves a continuation in
// the queue of the clock.
package shell

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// CommandTime is how long every command takes, beside what it says itself.
const CommandTime = 4 * time.Millisecond

// Host is the machine that shells run on. Its methods are called with the lock
// held, but for Start.
type Host struct {
	Lock     sync.Locker
	Clock    *clock.Queue
	Files    *storage.Files
	API      int                // of its Android
	Commands map[string]Command // beside the shell's own
	Others   func() []Process   // those that are no jobs, in an order that stays
	Runs     bool               // the clock runs by itself

	// Asked is what command lines from outside have taken, those that are over.
	Asked Asked

	shells   map[*Shell]bool
	finished []*Shell // ended while the clock advanced
	jobs     map[int]*Job
	nextJob  int
}

// Asked counts what command lines come to.
type Asked struct {
	Processes int // that were started, shells among them
	Dumps     int // of the system's services
}

// ProcessCPU is what a process costs that is started for a command: nobody has measured it on
// a phone.
const ProcessCPU = 3 * time.Millisecond

// CPU is what the processes had of the CPUs.
func (a Asked) CPU() time.Duration { return time.Duration(a.Processes) * ProcessCPU }

// inShell are the commands that mksh does itself (funcs.c, mkshbuiltins): since its R39,
// of 2010, cat too, where it has no options (exec.c, comexec).
var inShell = map[string]bool{":": true, "true": true, "false": true, "cat": true, "cd": true, "echo": true, "exec": true, "exit": true, "export": true, "kill": true, "test": true, "[": true, "wait": true}

// count counts a command that is run.
func (h *Host) count(name string, args ...string) {
	if !inShell[name] || name == "cat" && len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		h.Asked.Processes++
	}
	if name == "dumpsys" {
		h.Asked.Dumps++
	}
}

// forks counts the process that commands run in: a subshell, which ends as the program
// where it is nothing but that (mksh's XEXEC).
func (h *Host) forks(l *list) {
	if len(l.items) == 1 && len(l.items[0]) == 1 {
		if n := l.items[0][0]; n.group == nil && len(n.words) > 0 && len(n.words[0].parts) == 1 && !inShell[n.words[0].parts[0].text] {
			return
		}
	}
	h.Asked.Processes++
}

// Process is one that no shell has started.
type Process struct {
	PID  int
	Name string // "": it can't be found by name
	End  func() // what a signal does; nil: nothing
	// Quit has it write the stacks of its threads, for who runs as a package ("":
	// the shell), and returns whether that is allowed. Nil: the signal ends it.
	Quit func(as string) bool
}

// Open makes a host ready for shells.
func (h *Host) Open() {
	h.shells, h.jobs = map[*Shell]bool{}, map[int]*Job{}
}

// DropJobs forgets all jobs, as a restart does: none of them ends in order.
func (h *Host) DropJobs() { h.jobs = map[int]*Job{} }

// EndAll ends all command lines.
func (h *Host) EndAll(code int) {
	for s := range h.shells {
		s.end(code)
	}
}

// Finished are command lines that ended on the clock.
type Finished []*Shell

// TakeFinished are those that ended since the last time.
func (h *Host) TakeFinished() Finished {
	finished := h.finished
	h.finished = nil
	return finished
}

// patience bounds how long Delivered waits for a reader that doesn't read.
const patience = 10 * time.Second

// onTheWire is for what the client does between closing its stream and having told
// whoever waits for the end, which can't be waited for from here. It passes once for
// each workload.
const onTheWire = 5 * time.Millisecond

// Delivered waits until whoever started the command lines knows of their end. The
// lock is not held.
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
