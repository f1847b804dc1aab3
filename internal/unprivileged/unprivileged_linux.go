// Package unprivileged starts a test once more as a user whom permissions hold back, since
// tests may run as root, whom they don't.
//
// It is for tests alone, and knows nothing of what they start.
package unprivileged

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Output runs this program again, told what to do by a variable of its environment,
// NAME=VALUE, and returns all that it says without the blanks around it. It works in
// the root folder: a test's own may be closed to others.
func Output(variable string) (string, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), variable)
	if os.Geteuid() == 0 {
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
