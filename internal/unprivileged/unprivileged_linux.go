// Package unprivileged runs a test again as a user without privileges, since tests may run as root,
// whom permissions don't restrict.
//
// It is only for tests, and knows nothing of what they start.
package unprivileged

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Output runs this program again, with an environment variable NAME=VALUE that selects what to do,
// and returns its trimmed output. It works in the root folder: a test's own may be closed to
// others.
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
