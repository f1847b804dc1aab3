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

// ErrInUse says that the process that holds a lease is alive.
var ErrInUse = errors.New("the apkgate that holds it still runs")

// The files of a lease: what it says, its lock, and what is about to take the place of
// the first.
const (
	fileSuffix = ".json"
	lockSuffix = ".lock"
	nextSuffix = ".next"
)

// Held is a lease that this process holds. Its methods may be called from several
// goroutines.
type Held struct {
	folder, id string
	file       *os.File // locked

	mu       sync.Mutex
	lease    Lease
	released bool
}

// lock holds a lease's name.
func lock(folder, id string) (*Held, error) {
	path := filepath.Join(folder, id+lockSuffix)
	file, err := filelock.Lock(path)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	if !isAt(file, path) { // removed by whoever had it a moment ago
		_ = file.Close()
		return nil, ErrInUse
	}
	return &Held{folder: folder, id: id, file: file}, nil
}

// asLongAs is for how long a lock is tried: whoever lists leases holds each for a moment,
// and so may a program that is just being started.
const asLongAs = 100 * time.Millisecond

// lockUntil is lock, again and again until then.
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

// ID is what the lab calls what it creates for the lease.
func (h *Held) ID() string { return h.id }

// Lease is what the lease says now.
func (h *Held) Lease() Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease.clone()
}

func (l Lease) clone() Lease {
	l.Detail = maps.Clone(l.Detail)
	return l
}

// For notes what the lease is for, as the configuration calls it.
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

// Release removes the lease: nothing is there any more of what it names.
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
	h.sweep()
	h.unlock()
	return nil
}

// Leave gives the lease up and lets it stand for whoever cleans up: what it names could
// not be stopped.
func (h *Held) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.released {
		h.released = true
		h.unlock()
	}
}

func (h *Held) path(suffix string) string { return filepath.Join(h.folder, h.id+suffix) }

// sweep removes what is left beside a lease that is no more. Windows keeps the lock's
// file while it is open; List removes it later.
func (h *Held) sweep() {
	_ = os.Remove(h.path(nextSuffix))
	_ = os.Remove(h.path(lockSuffix)) // while it is locked, so that nobody's new file is removed
	syncFolder(h.folder)
}

func (h *Held) unlock() { _ = h.file.Close() }
