package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apkgate/apkgate/internal/filelock"
	"github.com/apkgate/apkgate/usecase/atomicfile"
)

// log is a session file that only this process writes: it is locked while it is open. Lines that
// append has written survive the process and a power failure.
type log struct {
	file *os.File
	path string
	size int64
}

// create truncates the file. filelock.ErrHeld reports that another process writes it.
func create(path string, h Header) (*log, error) {
	line, err := json.Marshal(h)
	if err == nil {
		err = h.check()
	}
	if err != nil {
		return nil, atomicfile.Error("begin the session", path, err)
	}
	if err := atomicfile.MakeFolder(filepath.Dir(path)); err != nil {
		return nil, atomicfile.Error("make a folder for the session", path, err)
	}
	file, err := filelock.Lock(path)
	if errors.Is(err, filelock.ErrHeld) {
		err = errInUse
	}
	if err != nil {
		return nil, atomicfile.Error("begin the session", path, err)
	}
	l := &log{file: file, path: path}
	if err := errors.Join(l.cut(0), l.write(append(line, '\n'))); err != nil {
		l.close()
		return nil, atomicfile.Error("begin the session", path, err)
	}
	syncFolder(filepath.Dir(path))
	return l, nil
}

// syncFolder makes the name of a new file survive a power failure, if the system can: Windows
// writes it with the file.
func syncFolder(path string) {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

// errInUse reports that another process writes the file.
var errInUse = errors.New("another apkgate is at it")

// reopen takes over a file that a process has left, without its torn last line.
func reopen(path string) (*log, Contents, error) {
	file, err := filelock.Lock(path)
	if errors.Is(err, filelock.ErrHeld) {
		err = errInUse
	}
	if err != nil {
		return nil, Contents{}, err
	}
	l := &log{file: file, path: path}
	found, err := Read(file)
	if err == nil {
		err = l.cut(found.Sound)
	}
	if err != nil {
		l.close()
		return nil, Contents{}, err
	}
	return l, found, nil
}

// append appends a line atomically.
func (l *log) append(e Entry) error {
	line, err := e.line()
	if err == nil {
		err = l.write(line)
	}
	if err != nil {
		return fmt.Errorf("remember the run of %s: %w", e.Unit, atomicfile.Error("write", l.path, err))
	}
	return nil
}

func (l *log) write(line []byte) error {
	_, err := l.file.Write(line)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(err, l.cut(l.size))
	}
	l.size += int64(len(line))
	return nil
}

// cut truncates the file.
func (l *log) cut(size int64) error {
	l.size = size
	err := l.file.Truncate(size)
	if err == nil {
		_, err = l.file.Seek(size, io.SeekStart)
	}
	return err
}

func (l *log) close() { _ = l.file.Close() } // each line was synced

// remove removes the file of a finished session. The lock is released last where the system allows
// removing an open file.
func (l *log) remove() error {
	err := os.Remove(l.path)
	l.close()
	if err != nil {
		err = os.Remove(l.path)
	}
	if err != nil {
		return atomicfile.Error("remove the session", l.path, err)
	}
	return nil
}
