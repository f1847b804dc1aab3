package hostprogram

import (
	"strconv"
	"syscall"
)

// ownGroup starts a program in a process group of its own. The program dies with this process
// unless outlives is set.
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

// lives reports whether the group has a member that is not a zombie. A later group that reuses
// the number belongs to another session.
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
