package storage

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/apkgate/apkgate/simulator/adbd"
)

// Sync provides a phone's files to adb's sync service, from any goroutine.
type Sync struct {
	lock  sync.Locker
	files *Files
}

// NewSync returns the files protected by a lock.
func NewSync(lock sync.Locker, files *Files) *Sync { return &Sync{lock, files} }

// Stat describes a file.
func (s *Sync) Stat(name string) (fs.FileInfo, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.files.Stat(name)
}

// List lists a directory.
func (s *Sync) List(name string) ([]fs.FileInfo, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	name = Clean(name)
	if _, err := s.files.Stat(name); err != nil {
		return nil, err
	}
	var out []fs.FileInfo
	for _, n := range s.files.List(name) {
		i, _ := s.files.Stat(path.Join(name, n))
		out = append(out, i)
	}
	return out, nil
}

// Open opens a file for reading.
func (s *Sync) Open(name string) (io.ReadCloser, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	data, err := s.files.Read(name)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Create creates a file, which exists once it is closed. A push creates missing directories,
// as in adbd.
func (s *Sync) Create(name string, mode fs.FileMode, modified time.Time) (io.WriteCloser, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.files.Full {
		return nil, adbd.ErrNoSpace
	}
	if err := s.files.MakeDir(path.Dir(Clean(name)), true); err != nil {
		return nil, err
	}
	return &upload{to: s, name: name, mode: mode, modified: modified}, nil
}

type upload struct {
	to       *Sync
	name     string
	mode     fs.FileMode
	modified time.Time
	data     []byte
}

// Write adds a piece of the file; the storage may become full.
func (u *upload) Write(b []byte) (int, error) {
	u.to.lock.Lock()
	defer u.to.lock.Unlock()
	if u.to.files.Full || len(u.data)+len(b) > MaxFile {
		return 0, adbd.ErrNoSpace
	}
	u.data = append(u.data, b...)
	return len(b), nil
}

// Close stores the file.
func (u *upload) Close() error {
	u.to.lock.Lock()
	defer u.to.lock.Unlock()
	if err := u.to.files.Write(u.name, u.data, u.mode); err != nil {
		return err
	}
	u.to.files.SetModified(u.name, u.modified)
	return nil
}
