//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Lock opens the file and locks it. ErrHeld reports that another process has.
func Lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrHeld
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}
