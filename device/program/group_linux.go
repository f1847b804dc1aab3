package program

import (
	"strconv"
	"syscall"
)

// ownGroup starts a program in a group of its own, which dies with this process unless it
// is to outlive it.
func ownGroup(outlives bool) *syscall.SysProcAttr {
	group := &syscall.SysProcAttr{Setpgid: true}
	if !outlives {
		group.Pdeathsig = syscall.SIGKILL
	}
	return group
}

func sessionOf(pid int) int {
	s, err := statOf(strconv.Itoa(pid))
	if err != nil {
		return 0
	}
	return s.session
}

// lives reports whether the group has a member that is no zombie. A group of the same
// number that somebody else began later is of another session.
func (g group) lives() bool {
	if g.alone {
		s, err := statOf(strconv.Itoa(g.leader))
		return err == nil && s.lives()
	}
	for _, pid := range pids() {
		s, err := statOf(pid)
		if err == nil && s.group == g.leader && s.session == g.session && s.lives() {
			return true
		}
	}
	return false
}
