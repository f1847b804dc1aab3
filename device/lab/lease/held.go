package lease

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/apkgate/apkgate/internal/filelock"
)

// ErrInUse means that the process that holds a lease is alive.
var ErrInUse = errors.New("the apkgate process that holds it is still running")

// The files of a lease: the lease, its lock, and the temporary file that replaces the lease.
const (
	fileSuffix = ".json"
	lockSuffix = ".lock"
	nextSuffix = ".next"
)

// Held is a lease that this process holds. Its methods may be called concurrently.
type Held struct {
	folder, id string
	file       *os.File // locked

	mu       sync.Mutex
	lease    Lease
	released bool
}

// lock locks a lease's name.
func lock(folder, id string) (*Held, error) {
	path := filepath.Join(folder, id+lockSuffix)
	file, err := filelock.Lock(path)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	if !isAt(file, path) { // the previous holder has just removed it
		_ = file.Close()
		return nil, ErrInUse
	}
	return &Held{folder: folder, id: id, file: file}, nil
}

// lockTimeout is how long locking is retried: List holds each lease for a moment, and so may a
// program that is just being started.
const lockTimeout = 100 * time.Millisecond

// lockUntil retries lock until then.
func lockUntil(folder, id string, until time.Time) (*Held, error) {
	const apart = 10 * time.Millisecond
	for {
		h, err := lock(folder, id)
		if !errors.Is(err, ErrInUse) || !time.Now().Before(until) {
			return h, err
		}
		time.Sleep(apart)
	}
}

// isAt reports whether the file is the one at the path.
func isAt(file *os.File, path string) bool {
	ours, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

// ID is the name of everything that the lab creates for the lease.
func (h *Held) ID() string { return h.id }

// Lease returns the lease's current contents.
func (h *Held) Lease() Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease.clone()
}

func (l Lease) clone() Lease {
	l.Detail = maps.Clone(l.Detail)
	return l
}

// For notes the name of the device, as in the configuration.
func (h *Held) For(name string) error {
	return h.change(func(l *Lease) { l.Name = name })
}

// Note notes a detail. It is on the disk when Note returns.
func (h *Held) Note(key, value string) error {
	return h.change(func(l *Lease) {
		if l.Detail == nil {
			l.Detail = map[string]string{}
		}
		l.Detail[key] = value
	})
}

func (h *Held) change(edit func(*Lease)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return fmt.Errorf("note in the lease %s: it was released", h.id)
	}
	next := h.lease.clone()
	edit(&next)
	if err := next.validate(h.id); err != nil {
		return fmt.Errorf("note in the lease %s: %w", h.id, err)
	}
	if err := h.write(next); err != nil {
		return fmt.Errorf("note in the lease %s: %w", h.id, err)
	}
	h.lease = next
	return nil
}

// Release removes the lease: nothing that it names exists any more.
func (h *Held) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return nil
	}
	if err := os.Remove(h.path(fileSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release the lease %s: %w", h.id, err)
	}
	h.released = true
	h.removeFiles()
	h.unlock()
	return nil
}

// Leave unlocks the lease and keeps its file for a later cleanup: what it names could not be
// stopped.
func (h *Held) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.released {
		h.released = true
		h.unlock()
	}
}

func (h *Held) path(suffix string) string { return filepath.Join(h.folder, h.id+suffix) }

// removeFiles removes the other files of a removed lease. Windows keeps the lock's file while it is
// open; List removes it later.
func (h *Held) removeFiles() {
	_ = os.Remove(h.path(nextSuffix))
	_ = os.Remove(h.path(lockSuffix)) // while it is locked, so that no other process's new file is removed
	syncFolder(h.folder)
}

func (h *Held) unlock() { _ = h.file.Close() }
