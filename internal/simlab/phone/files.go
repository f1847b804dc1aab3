package phone

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/adbd"
	"github.com/apkgate/apkgate/internal/simlab/storage"
)

// Stat describes a file, for the sync service.
func (p *Phone) Stat(name string) (fs.FileInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files.Stat(name)
}

// List lists a directory, for the sync service.
func (p *Phone) List(name string) ([]fs.FileInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name = storage.Clean(name)
	if _, err := p.files.Stat(name); err != nil {
		return nil, err
	}
	var out []fs.FileInfo
	for _, n := range p.files.List(name) {
		i, _ := p.files.Stat(path.Join(name, n))
		out = append(out, i)
	}
	return out, nil
}

// Open reads a file, for the sync service.
func (p *Phone) Open(name string) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	data, err := p.files.Read(name)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Create writes a file, for the sync service; it is there once it is closed.
// A push makes the directories that are missing, as adbd does.
func (p *Phone) Create(name string, mode fs.FileMode, modified time.Time) (io.WriteCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files.Full {
		return nil, adbd.ErrNoSpace
	}
	if err := p.files.MakeDir(path.Dir(storage.Clean(name)), true); err != nil {
		return nil, err
	}
	return &upload{phone: p, name: name, mode: mode, modified: modified}, nil
}

type upload struct {
	phone    *Phone
	name     string
	mode     fs.FileMode
	modified time.Time
	data     []byte
}

// Write takes a piece of the file; storage may run full under it.
func (u *upload) Write(b []byte) (int, error) {
	u.phone.mu.Lock()
	defer u.phone.mu.Unlock()
	if u.phone.files.Full || len(u.data)+len(b) > storage.MaxFile {
		return 0, adbd.ErrNoSpace
	}
	u.data = append(u.data, b...)
	return len(b), nil
}

// Close puts the file in its place.
func (u *upload) Close() error {
	u.phone.mu.Lock()
	defer u.phone.mu.Unlock()
	if err := u.phone.files.Write(u.name, u.data, u.mode); err != nil {
		return err
	}
	u.phone.files.SetModified(u.name, u.modified)
	return nil
}
