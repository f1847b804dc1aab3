package spill

import (
	"errors"
	"fmt"
	"os"
)

// ErrKeep is returned if rows or texts could not be written to or read from a temporary file.
var ErrKeep = errors.New("keep rows of a table in a temporary file")

// file is a temporary file, which is created at the first write. After an error, nothing more is
// written or read.
type file struct {
	open *os.File
	err  error
}

func (f *file) write(bytes []byte, at int64) {
	if f.open == nil && f.err == nil {
		f.open, f.err = os.CreateTemp("", "apkgate-rows-*")
		if f.err == nil {
			_ = os.Remove(f.open.Name()) // where an open file can be removed, nothing is left behind
		}
	}
	if f.err == nil {
		_, f.err = f.open.WriteAt(bytes, at)
	}
}

// read fills bytes from a place; it returns false on failure.
func (f *file) read(bytes []byte, at int64) bool {
	if f.err == nil {
		_, f.err = f.open.ReadAt(bytes, at)
	}
	return f.err == nil
}

// Err returns the file's error, an ErrKeep.
func (f *file) Err() error {
	if f.err != nil {
		return fmt.Errorf("%w: %w", ErrKeep, f.err)
	}
	return nil
}

// Close removes the file.
func (f *file) Close() error {
	if f.open == nil {
		return nil
	}
	err := f.open.Close()
	if gone := os.Remove(f.open.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	f.open = nil
	return err
}
