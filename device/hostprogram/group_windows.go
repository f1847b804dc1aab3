package hostprogram

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup shields a program from Ctrl-C; apkgate stops it itself.
func ownGroup(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func signalOf(*os.ProcessState) string { return "" }

// group is a process and its children.
type group struct{ leader int }

func groupOf(pid int) group { return group{pid} }

// ask does nothing: Windows has no such request to a program without a window.
func (g group) ask() {}

func (g group) kill() {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.leader)).Run()
}

func (g group) lives() bool {
	_, err := beganAt(g.leader)
	return err == nil
}
