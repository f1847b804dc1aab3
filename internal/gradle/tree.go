package gradle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Limits on the files of a project.
const (
	maxFile    = 1 << 20 // bytes
	maxRead    = 48 << 20
	maxEntries = 20_000 // of all folders that are searched
	maxFolders = 16     // their depth
)

var modulePath = regexp.MustCompile(`^:?[A-Za-z0-9_.-]{1,100}(:[A-Za-z0-9_.-]{1,100}){0,9}$`)

// tree is the project's files. What is no regular file is not opened, since a pipe would never end.
type tree struct {
	root  fs.FS
	left  *int // entries that may still be listed
	bytes *int // that may still be read
}

func newTree(root fs.FS) tree { return tree{root, new(maxEntries), new(maxRead)} }

// first reads the first of the files that exists; name is "" if none does.
func (t tree) first(names ...string) (data, name string, err error) {
	for _, name := range names {
		if !fs.ValidPath(name) {
			continue
		}
		data, err := t.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return data, name, err
	}
	return "", "", nil
}

func (t tree) read(name string) (string, error) {
	info, err := fs.Stat(t.root, name)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file", name)
	case *t.bytes <= 0:
		return "", fmt.Errorf("%s is not read, after %d MiB of other files", name, maxRead>>20)
	}
	f, err := t.root.Open(name)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if *t.bytes -= len(data); len(data) > maxFile {
		return "", fmt.Errorf("%s is larger than %d KiB", name, maxFile>>10)
	}
	return string(data), nil
}

// has reports whether there is a file or a folder of this name.
func (t tree) has(name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	_, err := fs.Stat(t.root, name)
	return err == nil
}

// walk visits the regular files below a folder, in the order of their names, until maxEntries were
// listed. Symbolic links are not followed.
func (t tree) walk(dir string, visit func(name string)) {
	if fs.ValidPath(dir) {
		t.walkBelow(dir, 0, visit)
	}
}

func (t tree) walkBelow(dir string, depth int, visit func(string)) {
	if depth > maxFolders || *t.left <= 0 {
		return
	}
	f, err := t.root.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	folder, ok := f.(fs.ReadDirFile)
	if !ok {
		return
	}
	entries, err := folder.ReadDir(*t.left)
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	*t.left -= len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		switch at := path.Join(dir, e.Name()); {
		case e.IsDir():
			t.walkBelow(at, depth+1, visit)
		case e.Type().IsRegular():
			visit(at)
		}
	}
}
