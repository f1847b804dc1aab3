package program

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup keeps Ctrl-C from a program: apkgate stops it in its own turn.
func ownGroup(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func signalOf(*os.ProcessState) string { return "" }

// group is a process with those that it started.
type group struct{ leader int }

func groupOf(pid int) group { return group{pid} }

// ask does nothing: Windows knows no such request to a program without a window.
func (g group) ask() {}

func (g group) kill() {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.leader)).Run()
}

func (g group) lives() bool {
	_, err := beganAt(g.leader)
	return err == nil
}
