package instance

import (
	"os"
	"syscall"
)

// apart starts a process in a group of its own, which does not receive the caller's
// interrupts.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// tell and kill end a process: Windows has no signal that asks it to end.
func tell(pid int) { kill(pid) }
func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// alive reports whether a process exists.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
