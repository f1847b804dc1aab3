package runstore

import "errors"

// Errors to test with errors.Is.
var (
	ErrNotFound    = errors.New("the history holds no such run")
	ErrAmbiguous   = errors.New("more than one run begins so")
	ErrConflict    = errors.New("the history holds another run of that id")
	ErrNotComplete = errors.New("only a run with status complete can be a reference")
	ErrNotHistory  = errors.New("not a history of apkgate")
	ErrNewer       = errors.New("the history was written by a newer apkgate")
	ErrDamaged     = errors.New("the history is damaged")
	ErrFull        = errors.New("the disk is full")
	ErrReadOnly    = errors.New("the history can't be written")
	ErrExplains    = errors.New("it was recorded to explain a verdict, and judges nothing")
	ErrBusy        = errors.New("another process keeps the history locked")
)

// AddressError is returned for an invalid address of a history.
type AddressError struct{ Err error }

// Error returns what is wrong with the address.
func (e *AddressError) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *AddressError) Unwrap() error { return e.Err }

// Error is an error with advice for the user.
type Error struct {
	Err    error
	Advice string // one sentence
}

// Error returns the error without the advice.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without the advice.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the advice, to be shown separately from the error.
func (e *Error) Hint() string { return e.Advice }
