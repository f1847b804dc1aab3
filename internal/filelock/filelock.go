// Package filelock locks a file against other processes. The lock goes with the
// process that holds it, however it ends; it is never waited for here, and what is
// in the file is the caller's affair.
package filelock

import "errors"

// ErrHeld says that somebody else has locked the file.
var ErrHeld = errors.New("the file is locked")
