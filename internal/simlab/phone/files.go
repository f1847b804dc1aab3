package phone

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/adbd"
)

// Limits of the phone's storage.
const (
	maxFile    = 32 << 20
	maxStorage = 256 << 20
	maxFiles   = 10_000
)

// fileSystem is the phone's files by their clean, absolute paths.
type fileSystem struct {
	files map[string]*file
	used  int64
}

type file struct {
	data     []byte
	mode     fs.FileMode
	modified time.Time
}

func newFileSystem() fileSystem {
	fsys := fileSystem{files: map[string]*file{}}
	for _, dir := range []string{"/", "/data", "/data/local", "/data/local/tmp", "/sdcard", "/system", "/system/bin", "/proc", "/sys", "/data/misc", "/data/misc/perfetto-traces", anrFolder} {
		fsys.files[dir] = &file{mode: fs.ModeDir | 0o771, modified: epoch}
	}
	return fsys
}

// clean makes a path absolute. A shell on a phone begins in the root.
func clean(name string) string {
	name = path.Clean("/" + name)
	if rest, ok := strings.CutPrefix(name, "/storage/emulated/0"); ok {
		return "/sdcard" + rest
	}
	return name
}

// errno is an error in the words that Android has for it, which clients see.
type errno string

const (
	errNotFound    errno = "No such file or directory"
	errIsDirectory errno = "Is a directory"
	errReadOnly    errno = "Read-only file system"
)

func (e errno) Error() string { return string(e) }

// Is lets errors.Is find that a file is not there.
func (e errno) Is(target error) bool { return e == errNotFound && target == fs.ErrNotExist }

func (p *Phone) readFile(name string) ([]byte, error) {
	name = clean(name)
	if name == "/dev/null" {
		return nil, nil
	}
	if text, ok := p.proc(name); ok {
		return []byte(text), nil
	}
	f, ok := p.state.files.files[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %w", name, errNotFound)
	case f.mode.IsDir():
		return nil, fmt.Errorf("%s: %w", name, errIsDirectory)
	case strings.HasPrefix(name, anrFolder+"/") && !p.options.Root:
		return nil, fmt.Errorf("%s: Permission denied", name)
	}
	return f.data, nil
}

func (p *Phone) writeFile(name string, data []byte, mode fs.FileMode) error {
	name = clean(name)
	if name == "/dev/null" {
		return nil
	}
	fsys := &p.state.files
	dir, ok := fsys.files[path.Dir(name)]
	old := fsys.files[name]
	switch {
	case !ok || !dir.mode.IsDir():
		return fmt.Errorf("%s: %w", name, errNotFound)
	case strings.HasPrefix(name, "/system") || strings.HasPrefix(name, "/proc") || strings.HasPrefix(name, "/sys/"):
		return fmt.Errorf("%s: %w", name, errReadOnly)
	case old != nil && old.mode.IsDir():
		return fmt.Errorf("%s: %w", name, errIsDirectory)
	case p.state.noSpace || len(fsys.files) >= maxFiles || fsys.used+int64(len(data)) > maxStorage:
		return adbd.ErrNoSpace
	}
	if old != nil {
		fsys.used -= int64(len(old.data))
	}
	fsys.used += int64(len(data))
	fsys.files[name] = &file{data: bytes.Clone(data), mode: mode.Perm(), modified: p.wall(p.clock.now)}
	return nil
}

// outFile is a file that a command line writes to while it runs.
type outFile struct {
	phone *Phone
	path  string
	err   error // the first
}

// open makes the file, empty unless it is appended to.
func (f *outFile) open(add bool) error {
	f.path = clean(f.path)
	var old []byte
	if add {
		old, _ = f.phone.readFile(f.path)
	}
	return f.phone.writeFile(f.path, old, 0o644)
}

func (f *outFile) write(b []byte) {
	fsys := &f.phone.state.files
	there := fsys.files[f.path]
	switch {
	case f.err != nil || there == nil || len(b) == 0: // removed meanwhile, or /dev/null
	case f.phone.state.noSpace || fsys.used+int64(len(b)) > maxStorage:
		f.err = adbd.ErrNoSpace
	default:
		there.data = append(there.data, b...)
		fsys.used += int64(len(b))
	}
}

func (p *Phone) removeFile(name string, recursive bool) error {
	name = clean(name)
	f, ok := p.state.files.files[name]
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", name, errNotFound)
	case f.mode.IsDir() && !recursive:
		return fmt.Errorf("%s: %w", name, errIsDirectory)
	case strings.Count(name, "/") < 2 || strings.HasPrefix(name, "/system") || name == "/data/local":
		return fmt.Errorf("%s: %w", name, errReadOnly)
	}
	for other, f := range p.state.files.files {
		if other == name || strings.HasPrefix(other, name+"/") {
			p.state.files.used -= int64(len(f.data))
			delete(p.state.files.files, other)
		}
	}
	return nil
}

func (p *Phone) makeDir(name string, parents bool) error {
	name = clean(name)
	if f, ok := p.state.files.files[name]; ok {
		if parents && f.mode.IsDir() {
			return nil
		}
		return fmt.Errorf("%s: File exists", name)
	}
	if _, ok := p.state.files.files[path.Dir(name)]; !ok {
		if !parents {
			return fmt.Errorf("%s: %w", name, errNotFound)
		}
		if strings.Count(name, "/") > maxDepth {
			return fmt.Errorf("%s: File name too long", name)
		}
		if err := p.makeDir(path.Dir(name), true); err != nil {
			return err
		}
	}
	if len(p.state.files.files) >= maxFiles {
		return adbd.ErrNoSpace
	}
	p.state.files.files[name] = &file{mode: fs.ModeDir | 0o771, modified: p.wall(p.clock.now)}
	return nil
}

func (p *Phone) list(dir string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.state.files.files)) {
		if name != "/" && path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	return names
}

// Stat describes a file, for the sync service.
func (p *Phone) Stat(name string) (fs.FileInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stat(clean(name))
}

func (p *Phone) stat(name string) (fs.FileInfo, error) {
	f, ok := p.state.files.files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, errNotFound)
	}
	return info{path.Base(name), *f}, nil
}

// List lists a directory, for the sync service.
func (p *Phone) List(name string) ([]fs.FileInfo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name = clean(name)
	if _, err := p.stat(name); err != nil {
		return nil, err
	}
	var out []fs.FileInfo
	for _, n := range p.list(name) {
		i, _ := p.stat(path.Join(name, n))
		out = append(out, i)
	}
	return out, nil
}

// Open reads a file, for the sync service.
func (p *Phone) Open(name string) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	data, err := p.readFile(name)
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
	if p.state.noSpace {
		return nil, adbd.ErrNoSpace
	}
	if err := p.makeDir(path.Dir(clean(name)), true); err != nil {
		return nil, err
	}
	return &upload{phone: p, name: clean(name), mode: mode, modified: modified}, nil
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
	if u.phone.state.noSpace || len(u.data)+len(b) > maxFile {
		return 0, adbd.ErrNoSpace
	}
	u.data = append(u.data, b...)
	return len(b), nil
}

// Close puts the file in its place.
func (u *upload) Close() error {
	u.phone.mu.Lock()
	defer u.phone.mu.Unlock()
	if err := u.phone.writeFile(u.name, u.data, u.mode); err != nil {
		return err
	}
	u.phone.state.files.files[u.name].modified = u.modified
	return nil
}

// info is a file as fs.FileInfo.
type info struct {
	name string
	file file
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.file.data)) }
func (i info) Mode() fs.FileMode  { return i.file.mode }
func (i info) ModTime() time.Time { return i.file.modified }
func (i info) IsDir() bool        { return i.file.mode.IsDir() }
func (i info) Sys() any           { return nil }
