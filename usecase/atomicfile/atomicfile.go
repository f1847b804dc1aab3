// Package atomicfile writes files atomically, and refuses to overwrite inputs: a typo on the
// command line must not cost a recording or a history.
//
// It doesn't know the files' contents.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Error says what was being done to which file, without the name of the failed system call.
func Error(doing, path string, err error) error {
	var call *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &call):
		err = call.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s %s: %w", doing, terminal.Plain(path), err)
}

// Write writes a file atomically.
func Write(path string, fill func(io.Writer) error) error {
	if Special(path) {
		return writeSpecial(path, fill)
	}
	dir := filepath.Dir(path)
	if err := MakeFolder(dir); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := fill(tmp); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Writable checks that files can be written into a folder, before hours are spent on their
// contents.
func Writable(dir string) error {
	err := MakeFolder(dir)
	if err == nil {
		var tmp *os.File
		if tmp, err = os.CreateTemp(dir, ".apkgate.*"); err == nil {
			err = errors.Join(tmp.Close(), os.Remove(tmp.Name()))
		}
	}
	if err != nil {
		return exit.Infrastructure(Error("write to the folder", dir, err))
	}
	return nil
}

// writeSpecial writes to a device or a pipe, which is not replaced.
func writeSpecial(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}
