//go:build unix && !linux

package hostprogram

import "syscall"

// ownGroup starts a program in a process group of its own.
func ownGroup(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func sessionOf(int) int { return 0 }

// lives reports whether the group has a member.
func (g group) lives() bool {
	if g.alone {
		return syscall.Kill(g.leader, 0) == nil
	}
	return syscall.Kill(-g.leader, 0) == nil
}
