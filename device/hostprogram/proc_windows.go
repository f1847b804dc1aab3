package hostprogram

import (
	"errors"
	"strconv"
	"syscall"
)

// beganAt returns when the process began, in units of 100 ns since 1601.
func beganAt(pid int) (string, error) {
	const queryLimited, stillActive = 0x1000, 259
	handle, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return "", ErrNoProcess
	}
	defer func() { _ = syscall.CloseHandle(handle) }()
	var code uint32
	if err := syscall.GetExitCodeProcess(handle, &code); err != nil || code != stillActive {
		return "", ErrNoProcess
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(handle, &created, &exited, &kernel, &user); err != nil {
		return "", err
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), nil
}

func processes() ([]Found, error) { return nil, errors.ErrUnsupported }
