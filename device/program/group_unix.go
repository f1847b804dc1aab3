//go:build unix

package program

import (
	"os"
	"syscall"
)

// signalOf is the signal by which a program ended, "" for none.
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

// group is a process with all that are in the group which it began, or that process alone.
type group struct {
	leader  int
	alone   bool // it is in a group that another process began
	session int  // that of the process, as far as the system tells
}

// groupOf is the group of a process that has not been waited for.
func groupOf(pid int) group {
	id, err := syscall.Getpgid(pid)
	return group{leader: pid, alone: err != nil || id != pid, session: sessionOf(pid)}
}

// ask asks all of the group to end.
func (g group) ask() { g.send(syscall.SIGTERM) }

// kill kills what is left of the group.
func (g group) kill() {
	if g.lives() {
		g.send(syscall.SIGKILL)
	}
}

func (g group) send(s syscall.Signal) {
	to := -g.leader
	if g.alone {
		to = g.leader
	}
	_ = syscall.Kill(to, s)
}
