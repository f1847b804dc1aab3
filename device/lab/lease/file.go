package lease

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Limits of a lease. A file that exceeds them is not a lease.
const (
	mostBytes   = 64 << 10
	mostDetails = 64
	mostText    = 4096 // bytes of a key or a value
)

// BrokenError is a file with the name of a lease that can't be read as one.
type BrokenError struct {
	Path string
	Err  error
}

// Error names the file.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("read the lease %s: %v", e.Path, e.Err)
}

// Unwrap returns why it can't be read.
func (e *BrokenError) Unwrap() error { return e.Err }

// Hint is what to do about it.
func (e *BrokenError) Hint() string {
	return "check whether an emulator or an instance named " + strings.TrimSuffix(filepath.Base(e.Path), fileSuffix) + " is still running, stop it, and remove the file"
}

// List returns the leases in the folder, by name, and whether each is in use. The error
// contains a *BrokenError for each file that can't be read; the other leases are returned with
// it.
func List(folder string) ([]Lease, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the leases: %w", err)
	}
	var out []Lease
	var problems []error
	patience := time.Now().Add(lockTimeout)
	for _, entry := range entries {
		id, isLease := strings.CutSuffix(entry.Name(), fileSuffix)
		if lockOf, isLock := strings.CutSuffix(entry.Name(), lockSuffix); isLock && IsID(lockOf) {
			dropStray(folder, lockOf)
		}
		if !isLease || !strings.HasPrefix(id, prefix) {
			continue
		}
		l, err := look(folder, id, patience)
		switch {
		case errors.Is(err, fs.ErrNotExist): // released in between
		case err != nil:
			problems = append(problems, err)
		default:
			out = append(out, l)
		}
	}
	return out, errors.Join(problems...)
}

// look reads one lease and checks whether it is in use.
func look(folder, id string, until time.Time) (Lease, error) {
	path := filepath.Join(folder, id+fileSuffix)
	if _, err := read(path); err != nil {
		return Lease{}, err
	}
	h, err := lockUntil(folder, id, until)
	switch {
	case errors.Is(err, ErrInUse):
		l, err := read(path) // it may have been released in between
		l.InUse = err == nil
		return l, err
	case err != nil:
		return Lease{}, fmt.Errorf("check who holds the lease %s: %w", id, err)
	}
	defer h.unlock()
	// Between the two, its holder may have noted more and died, or released it.
	l, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		h.removeFiles()
	}
	return l, err
}

// dropStray removes a lock without a lease: its process was killed before it wrote the lease,
// or while it released it.
func dropStray(folder, id string) {
	if _, err := os.Stat(filepath.Join(folder, id+fileSuffix)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	h, err := lock(folder, id)
	if err != nil {
		return
	}
	defer h.unlock()
	if _, err := os.Stat(h.path(fileSuffix)); errors.Is(err, fs.ErrNotExist) {
		h.removeFiles()
	}
}

// read reads the file of a lease. The error is a *BrokenError, which may wrap fs.ErrNotExist.
func read(path string) (l Lease, err error) {
	defer func() {
		if err != nil {
			l, err = Lease{}, &BrokenError{path, err}
		}
	}()
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = errors.New("it is not a regular file")
		}
		return l, err
	}
	file, err := os.Open(path)
	if err != nil {
		return l, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if err != nil {
		return l, err
	}
	if len(text) > mostBytes {
		return l, fmt.Errorf("it is larger than %d bytes", mostBytes)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("it is incomplete: %w", err)
	}
	return l, l.validate(strings.TrimSuffix(filepath.Base(path), fileSuffix))
}

// validate checks a lease's format and limits.
func (l Lease) validate(id string) error {
	switch {
	case l.Format != Format:
		return fmt.Errorf("its format is %.40q, want %q", l.Format, Format)
	case !IsID(l.ID) || l.ID != id:
		return fmt.Errorf("its id is %.60q, want the file's name, %q", l.ID, id)
	case l.Kind == "" || len(l.Kind) > mostText || len(l.Name) > mostText || len(l.Session) > mostText:
		return fmt.Errorf("its kind, name and session have %d, %d and %d bytes, want 1 to %d of the kind and at most as many of the others", len(l.Kind), len(l.Name), len(l.Session), mostText)
	case len(l.Detail) > mostDetails:
		return fmt.Errorf("it has %d details, want at most %d", len(l.Detail), mostDetails)
	}
	for key, value := range l.Detail {
		if key == "" || len(key) > mostText || len(value) > mostText {
			return fmt.Errorf("the detail %.40q has %d bytes, want at most %d", key, len(value), mostText)
		}
	}
	return nil
}

// write replaces the lease's file atomically and durably.
func (h *Held) write(l Lease) error {
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	if len(text) >= mostBytes {
		return fmt.Errorf("it would have %d bytes, want fewer than %d", len(text), mostBytes)
	}
	next := h.path(nextSuffix)
	file, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, h.path(fileSuffix)); err != nil {
		return err
	}
	syncFolder(h.folder)
	return nil
}

// syncFolder syncs a folder to the disk, where the system supports it.
func syncFolder(path string) {
	dir, err := os.Open(path)
	if err != nil {
		return
	}
	_ = dir.Sync()
	_ = dir.Close()
}
