// Package filelock locks a file against other processes. The lock is released with the process that
// holds it, however that ends; locking never waits, and the contents of the file are the caller's.
package filelock

import "errors"

// ErrHeld reports that another process has locked the file.
var ErrHeld = errors.New("the file is locked")
