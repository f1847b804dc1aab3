package spill

import (
	"errors"
	"fmt"
	"os"
)

// ErrKeep says that rows or texts could not be kept in a temporary file, or read from there.
var ErrKeep = errors.New("keep rows of a table in a temporary file")

// file is a temporary file, which is made when something is first written to it. Once something
// was wrong with it, nothing is written or read any more.
type file struct {
	open *os.File
	err  error
}

func (f *file) write(bytes []byte, at int64) {
	if f.open == nil && f.err == nil {
		f.open, f.err = os.CreateTemp("", "apkgate-rows-*")
		if f.err == nil {
			_ = os.Remove(f.open.Name()) // where an open file can be removed, nothing is left of it
		}
	}
	if f.err == nil {
		_, f.err = f.open.WriteAt(bytes, at)
	}
}

// read fills bytes with what stands at a place; false where that does not work.
func (f *file) read(bytes []byte, at int64) bool {
	if f.err == nil {
		_, f.err = f.open.ReadAt(bytes, at)
	}
	return f.err == nil
}

// Err is what was wrong with the file, an ErrKeep.
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
