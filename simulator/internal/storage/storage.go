// Package storage simulates the files of a phone, for its shell and adb's sync service. Its
// errors have Android's wording, and its size is limited.
//
// Only the sync service has a lock: the phone's lock is held around all other methods.
package storage

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/adbd"
)

// Limits of the storage, in bytes, files and folders.
const (
	MaxFile    = 32 << 20 // of one pushed file
	maxStorage = 256 << 20
	maxFiles   = 10_000
	maxDepth   = 20
)

// Files are a phone's files by clean, absolute path.
type Files struct {
	Full bool // there is no free space
	// Closed is a read-only folder, "" for none.
	Closed string
	Root   bool // the caller is root
	// RootsOwn reports whether only root may read a file of the kernel's; nil means none.
	RootsOwn func(path string) bool

	now   func() time.Time
	live  func(path string) (text string, ok bool)
	files map[string]*file
	used  int64
}

type file struct {
	data     []byte
	mode     fs.FileMode
	modified time.Time
}

// Threads is the folder of threads' stacks. Most of its files belong to the system only, or
// its group, and so are readable for a root shell.
const Threads = "/data/anr"

// readable is the mode bit of a world-readable file.
const readable fs.FileMode = 0o004

// New returns a storage with a phone's empty folders, created at a time. now is the phone's
// wall clock; live returns the files of /proc and /sys, which are generated when they are
// read.
func New(made time.Time, now func() time.Time, live func(path string) (text string, ok bool)) *Files {
	f := &Files{now: now, live: live, files: map[string]*file{}}
	for _, dir := range []string{"/", "/data", "/data/local", "/data/local/tmp", "/sdcard", "/system", "/system/bin", "/proc", "/sys", "/data/misc", "/data/misc/perfetto-traces", Threads} {
		f.files[dir] = &file{mode: fs.ModeDir | 0o771, modified: made}
	}
	return f
}

// Used returns the total size of the files, in bytes.
func (f *Files) Used() int64 { return f.used }

// Clean makes a path absolute. A shell on a phone starts in the root directory.
func Clean(name string) string {
	name = path.Clean("/" + name)
	if rest, ok := strings.CutPrefix(name, "/storage/emulated/0"); ok {
		return "/sdcard" + rest
	}
	return name
}

// errno is an error with Android's message, which clients see.
type errno string

const (
	errNotFound    errno = "No such file or directory"
	errIsDirectory errno = "Is a directory"
	errReadOnly    errno = "Read-only file system"
)

func (e errno) Error() string { return string(e) }

// Is makes errors.Is(err, fs.ErrNotExist) work.
func (e errno) Is(target error) bool { return e == errNotFound && target == fs.ErrNotExist }

// Read returns the contents of a file.
func (f *Files) Read(name string) ([]byte, error) {
	name = Clean(name)
	if name == "/dev/null" {
		return nil, nil
	}
	if text, ok := f.live(name); ok {
		if f.RootsOwn != nil && f.RootsOwn(name) && !f.Root {
			return nil, fmt.Errorf("%s: Permission denied", name)
		}
		return []byte(text), nil
	}
	there, ok := f.files[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %w", name, errNotFound)
	case there.mode.IsDir():
		return nil, fmt.Errorf("%s: %w", name, errIsDirectory)
	case strings.HasPrefix(name, Threads+"/") && !f.Root && there.mode&readable == 0:
		return nil, fmt.Errorf("%s: Permission denied", name)
	}
	return there.data, nil
}

// ReadAsSystem returns the contents of a file with the system's permissions.
func (f *Files) ReadAsSystem(name string) ([]byte, error) {
	there, ok := f.files[Clean(name)]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, errNotFound)
	}
	return there.data, nil
}

// Write replaces a file.
func (f *Files) Write(name string, data []byte, mode fs.FileMode) error {
	name = Clean(name)
	if name == "/dev/null" {
		return nil
	}
	dir, ok := f.files[path.Dir(name)]
	old := f.files[name]
	switch {
	case !ok || !dir.mode.IsDir():
		return fmt.Errorf("%s: %w", name, errNotFound)
	case strings.HasPrefix(name, "/system") || strings.HasPrefix(name, "/proc") || strings.HasPrefix(name, "/sys/"):
		return fmt.Errorf("%s: %w", name, errReadOnly)
	case f.Closed != "" && path.Dir(name) == f.Closed:
		return fmt.Errorf("%s: Permission denied", name)
	case old != nil && old.mode.IsDir():
		return fmt.Errorf("%s: %w", name, errIsDirectory)
	case f.Full || len(f.files) >= maxFiles || f.used+int64(len(data)) > maxStorage:
		return adbd.ErrNoSpace
	}
	if old != nil {
		f.used -= int64(len(old.data))
	}
	f.used += int64(len(data))
	f.files[name] = &file{data: bytes.Clone(data), mode: mode.Perm(), modified: f.now()}
	return nil
}

// Writer appends to a file while others read it.
type Writer struct {
	files *Files
	path  string
	err   error // the first one
}

// Append creates a file, or truncates it unless keep is set, and returns a writer that appends
// to it.
func (f *Files) Append(path string, keep bool) (*Writer, error) {
	path = Clean(path)
	var old []byte
	if keep {
		old, _ = f.Read(path)
	}
	return &Writer{files: f, path: path}, f.Write(path, old, 0o644)
}

// Err returns the first write error.
func (w *Writer) Err() error { return w.err }

// Write appends as much as there is room for; the rest is an error in Err.
func (w *Writer) Write(b []byte) (int, error) {
	there := w.files.files[w.path]
	switch {
	case w.err != nil || there == nil || len(b) == 0: // removed in between, or /dev/null
	case w.files.Full || w.files.used+int64(len(b)) > maxStorage:
		w.err = adbd.ErrNoSpace
	default:
		there.data = append(there.data, b...)
		w.files.used += int64(len(b))
	}
	return len(b), nil
}

// Remove removes a file, or a folder with its contents.
func (f *Files) Remove(name string, recursive bool) error {
	name = Clean(name)
	there, ok := f.files[name]
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", name, errNotFound)
	case there.mode.IsDir() && !recursive:
		return fmt.Errorf("%s: %w", name, errIsDirectory)
	case strings.Count(name, "/") < 2 || strings.HasPrefix(name, "/system") || name == "/data/local":
		return fmt.Errorf("%s: %w", name, errReadOnly)
	}
	for other, gone := range f.files {
		if other == name || strings.HasPrefix(other, name+"/") {
			f.used -= int64(len(gone.data))
			delete(f.files, other)
		}
	}
	return nil
}

// MakeDir creates a folder, and its missing parents.
func (f *Files) MakeDir(name string, parents bool) error {
	name = Clean(name)
	if there, ok := f.files[name]; ok {
		if parents && there.mode.IsDir() {
			return nil
		}
		return fmt.Errorf("%s: File exists", name)
	}
	if _, ok := f.files[path.Dir(name)]; !ok {
		if !parents {
			return fmt.Errorf("%s: %w", name, errNotFound)
		}
		if strings.Count(name, "/") > maxDepth {
			return fmt.Errorf("%s: File name too long", name)
		}
		if err := f.MakeDir(path.Dir(name), true); err != nil {
			return err
		}
	}
	if len(f.files) >= maxFiles {
		return adbd.ErrNoSpace
	}
	f.files[name] = &file{mode: fs.ModeDir | 0o771, modified: f.now()}
	return nil
}

// List returns the names in a folder.
func (f *Files) List(dir string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if name != "/" && path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	return names
}

// Match returns the files whose paths match the pattern, sorted.
func (f *Files) Match(pattern string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if fits, _ := path.Match(pattern, name); fits {
			out = append(out, name)
		}
	}
	return out
}

// Stat describes a file.
func (f *Files) Stat(name string) (fs.FileInfo, error) {
	name = Clean(name)
	there, ok := f.files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, errNotFound)
	}
	return info{path.Base(name), *there}, nil
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

// SetModified sets a file's modification time.
func (f *Files) SetModified(name string, at time.Time) {
	if there := f.files[Clean(name)]; there != nil {
		there.modified = at
	}
}
