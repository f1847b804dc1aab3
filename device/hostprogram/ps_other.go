//go:build unix && !linux

package hostprogram

import (
	"context"
	"os"
	"strconv"
)

// askPS runs ps; LC_ALL sets the language of its dates.
func askPS(args ...string) (Result, error) {
	return Run(context.Background(), Command{Path: "ps", Args: args, Env: []string{"LC_ALL=C", "TZ=UTC"}})
}

// beganAt returns when the process began, to the second.
func beganAt(pid int) (string, error) {
	out, err := askPS("-p", strconv.Itoa(pid), "-o", "pid=,stat=,lstart=,args=", "-ww")
	if err != nil {
		return "", err
	}
	for _, f := range parsePS(string(out.Stdout)) {
		if f.PID == pid {
			return f.Began, nil
		}
	}
	return "", ErrNoProcess
}

// processes returns this user's processes, except for this one.
func processes() (found []Found, err error) {
	out, err := askPS("-x", "-o", "pid=,stat=,lstart=,args=", "-ww")
	for _, f := range parsePS(string(out.Stdout)) {
		if f.PID != os.Getpid() {
			found = append(found, f)
		}
	}
	return found, err
}
