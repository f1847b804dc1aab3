package evidence

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/internal/filelock"
)

// Format is the format and version of the folders that this package writes
// (docs/format/evidence.md).
const Format = "apkgate.evidence/1"

// The contents of a folder.
const (
	formatFile = "format"
	lockFile   = "lock"
	totalFile  = "total"    // the last count of its size
	filesDir   = "files"    // files by digest: two digits, then the others
	runsDir    = "runs"     // the files of each run
	inDir      = "incoming" // files being written
)

// Limits limit what a folder contains.
type Limits struct {
	File int64 // bytes of one file
	// Run and Files limit what one run keeps: bytes of all its files, and their number.
	Run   int64
	Files int
	// Total limits all files together; where it is exceeded, those of the oldest runs are removed.
	Total int64
}

// Default are the limits for a workstation.
var Default = Limits{File: 256 << 20, Run: 1 << 30, Files: 100, Total: 8 << 30}

// Folder is a folder of kept files. Several processes may use it concurrently.
type Folder struct {
	path   string
	limits Limits
}

// At returns the folder at that path. It need not exist: it is created when something is kept in
// it.
func At(path string, limits Limits) *Folder { return &Folder{path, limits} }

// Path returns the folder's path.
func (f *Folder) Path() string { return f.path }

// Limits returns the folder's limits.
func (f *Folder) Limits() Limits { return f.limits }

// Keep implements Keeper. The file belongs to no run until Attach is called; one that is never
// attached is removed by a later Prune.
func (f *Folder) Keep(ctx context.Context, r io.Reader, limit int64) (digest string, size int64, err error) {
	root, err := f.open(true)
	if err != nil {
		return "", 0, f.failed("keep a file", err)
	}
	defer root.Close()
	name := path.Join(inDir, rand.Text())
	defer root.Remove(name) // where it was not moved
	sum, size, err := writeNew(ctx, root, name, r, min(limit, f.limits.File))
	if err != nil {
		return "", 0, f.failed("keep a file", err)
	}
	digest = hex.EncodeToString(sum)
	err = f.locked(ctx, root, func() error {
		at := placeOf(digest)
		if err := root.MkdirAll(path.Dir(at), 0o755); err != nil {
			return err
		}
		return root.Rename(name, at) // replaces what is there: the same file, or a damaged one
	})
	if err != nil {
		return "", 0, f.failed("keep a file", err)
	}
	return digest, size, nil
}

// writeNew writes the content of r to a new file and returns its SHA-256 and size.
func writeNew(ctx context.Context, root *os.Root, name string, r io.Reader, limit int64) ([]byte, int64, error) {
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, 0, err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, hash), io.LimitReader(cancellable{ctx, r}, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%w: at most %d bytes", ErrTooLarge, limit)
	}
	if err == nil {
		err = out.Sync()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return hash.Sum(nil), n, err
}

// cancellable is a reader that ends with its context.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancellable) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// Open opens a kept file for reading, after verifying its digest. It returns ErrAbsent for a file
// that is not here, and ErrDamaged for one with another content.
func (f *Folder) Open(digest string) (*os.File, error) {
	if !validDigest(digest) {
		return nil, fmt.Errorf("open kept file %.80q: want the 64 hexadecimal digits of a SHA-256", digest)
	}
	root, err := f.open(false)
	if err != nil {
		return nil, f.failed("open kept file "+digest[:12], err)
	}
	defer root.Close()
	file, err := openChecked(root, digest)
	if err != nil {
		return nil, f.failed("open kept file "+digest[:12], err)
	}
	return file, nil
}

func openChecked(root *os.Root, digest string) (*os.File, error) {
	if info, err := root.Lstat(placeOf(digest)); err != nil {
		return nil, absentIf(err)
	} else if !info.Mode().IsRegular() {
		return nil, ErrDamaged
	}
	file, err := root.Open(placeOf(digest))
	if err != nil {
		return nil, absentIf(err)
	}
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	if err == nil && hex.EncodeToString(hash.Sum(nil)) != digest {
		err = ErrDamaged
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Place returns the path of a kept file and its size; false where it is not here. It does not read
// the file.
func (f *Folder) Place(digest string) (at string, size int64, here bool) {
	if !validDigest(digest) {
		return "", 0, false
	}
	root, err := f.open(false)
	if err != nil {
		return "", 0, false
	}
	defer root.Close()
	info, err := root.Lstat(placeOf(digest))
	if err != nil || !info.Mode().IsRegular() {
		return "", 0, false
	}
	return filepath.Join(f.path, filepath.FromSlash(placeOf(digest))), info.Size(), true
}

// placeOf returns the path of a file in its folder.
func placeOf(digest string) string { return path.Join(filesDir, digest[:2], digest[2:]) }

// validDigest reports whether the text is a SHA-256 as used in file names, so that it can't be a
// path out of the folder.
func validDigest(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// open opens the folder, and creates it if it will be written to. Nothing in it can lead out of it.
func (f *Folder) open(write bool) (*os.Root, error) {
	if write {
		if err := f.make(); err != nil {
			return nil, err
		}
	}
	if err := f.isOurs(); err != nil {
		return nil, err
	}
	return os.OpenRoot(f.path)
}

// make creates the folder where there is none, or only an empty one.
func (f *Folder) make() error {
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return err
	}
	if err := f.isOurs(); !errors.Is(err, ErrAbsent) {
		return err
	}
	for _, dir := range []string{filesDir, runsDir, inDir} {
		if err := os.Mkdir(filepath.Join(f.path, dir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Join(f.path, inDir), "format")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(Format + "\n")
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(f.path, formatFile))
}

// isOurs checks that the folder is one of kept evidence. It returns ErrAbsent where the folder does
// not exist, or is empty.
func (f *Folder) isOurs() error {
	info, err := os.Lstat(f.path)
	switch {
	case err != nil:
		return absentIf(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: it is a symbolic link", ErrForeign)
	case !info.IsDir():
		return fmt.Errorf("%w: it is a file", ErrForeign)
	}
	name := filepath.Join(f.path, formatFile)
	info, err = os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.isEmpty()
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // opening a pipe would block forever
		return fmt.Errorf("%w: %s in it is no plain file", ErrForeign, formatFile)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 64))
	if err == nil && string(text) != Format+"\n" {
		err = fmt.Errorf("%w: its format is %q, want %q", ErrForeign, text, Format)
	}
	return err
}

// isEmpty returns ErrAbsent for a folder that contains only what an apkgate has begun to create.
func (f *Folder) isEmpty() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case filesDir, runsDir, inDir:
			if e.IsDir() { // and not a link out of it
				continue
			}
		case lockFile:
			continue
		case formatFile: // another process has created it in the meantime
			return f.isOurs()
		}
		return fmt.Errorf("%w: it holds %.60q", ErrForeign, e.Name())
	}
	return ErrAbsent
}

// How long to wait for another process, and how often to try: it holds the lock for a few file
// operations.
const (
	lockFor   = 30 * time.Second
	lockPause = 5 * time.Millisecond
)

// locked runs do while no other process changes the folder.
func (f *Folder) locked(ctx context.Context, root *os.Root, do func() error) error {
	if info, err := root.Lstat(lockFile); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", lockFile)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockFor, errors.New("another process keeps the folder locked"))
	defer cancel()
	for {
		lock, err := filelock.Lock(filepath.Join(f.path, lockFile))
		if err == nil {
			return errors.Join(do(), lock.Close())
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
}

// absentIf turns fs.ErrNotExist into ErrAbsent.
func absentIf(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrAbsent
	}
	return err
}

// failed adds what was being done, and the folder, to an error.
func (f *Folder) failed(doing string, err error) error {
	return fmt.Errorf("%s in %s: %w", doing, f.path, err)
}
