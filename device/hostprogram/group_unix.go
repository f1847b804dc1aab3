//go:build unix

package hostprogram

import (
	"os"
	"syscall"
)

// signalOf returns the signal that ended a program, "" for none.
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

// group is the process group that a process leads, or that process alone.
type group struct {
	leader  int
	alone   bool // the process belongs to another process's group
	session int  // the session of the process, 0 where unknown
}

// groupOf returns the group of a process that has not been waited for.
func groupOf(pid int) group {
	id, err := syscall.Getpgid(pid)
	return group{leader: pid, alone: err != nil || id != pid, session: sessionOf(pid)}
}

// ask sends SIGTERM to the group.
func (g group) ask() { g.send(syscall.SIGTERM) }

// kill kills the remaining processes of the group.
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
