//go:build unix

package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// apart starts a process in a session of its own, which does not receive the caller's signals.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// tell asks a process to end; kill kills it.
func tell(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }
func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
