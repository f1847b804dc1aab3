package session

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/filelock"
	"github.com/apkgate/apkgate/usecase/atomicfile"
)

// folder is where the sessions of a configuration are kept.
type folder string

const (
	extension = ".session" // of a file's name
	maxKept   = 5          // sessions that are kept
	// maxLooked limits how many files are looked at.
	maxLooked = 1_000
)

// create starts a session there.
func (f folder) create(h Header) (*log, error) {
	name := h.Started.Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:8]) + extension
	return create(filepath.Join(string(f), name), h)
}

// kept is a session file of the folder.
type kept struct {
	path   string
	header Header
}

// list returns the sessions in the folder, the newest first. Other files are skipped.
func (f folder) list() []kept {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil
	}
	var out []kept
	for _, e := range entries[:min(len(entries), maxLooked)] {
		path := filepath.Join(string(f), e.Name())
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != extension {
			continue
		}
		h, err := readHeader(path)
		switch {
		case err == nil:
			out = append(out, kept{path, h})
		case errors.Is(err, io.EOF):
			removeEmpty(path)
		}
	}
	slices.SortFunc(out, func(a, b kept) int {
		return cmp.Or(b.header.Started.Compare(a.header.Started), strings.Compare(b.path, a.path))
	})
	return out
}

// removeEmpty removes the file of a process that was killed before it wrote a line.
func removeEmpty(path string) {
	file, err := filelock.Lock(path)
	if err != nil {
		return // a process is about to write it
	}
	if info, err := file.Stat(); err == nil && info.Size() == 0 {
		_ = os.Remove(path)
	}
	_ = file.Close()
}

func readHeader(path string) (Header, error) {
	file, err := os.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer file.Close()
	in := lines{in: bufio.NewReader(file)}
	line, _, err := in.next()
	if err != nil {
		return Header{}, err
	}
	return decodeHeader(line)
}

// fits returns the sessions of the same measurement, the newest first.
func (f folder) fits(h Header) []kept {
	return slices.DeleteFunc(f.list(), func(k kept) bool {
		return !k.header.alike(h) || h.Session != "" && k.header.Session != h.Session
	})
}

// newest returns the contents of the newest session that fits and can be resumed.
func (f folder) newest(h Header) (Contents, bool) {
	for _, k := range f.fits(h) {
		file, err := os.Open(k.path)
		if err != nil {
			continue
		}
		found, err := Read(file)
		_ = file.Close()
		if err == nil {
			return found, true
		}
	}
	return Contents{}, false
}

// takeNewest opens the newest session that fits and that no other process has open; nil if there is
// none. The error is why one could not be opened.
func (f folder) takeNewest(h Header) (*log, Contents, error) {
	var why error
	for _, k := range f.fits(h) {
		log, found, err := reopen(k.path)
		if err == nil {
			return log, found, nil
		}
		if why == nil {
			why = atomicfile.Error("go on with", k.path, err)
		}
	}
	return nil, Contents{}, why
}

// prune keeps the newest sessions in addition to the one in use, and those that other processes
// have open.
func (f folder) prune(own *log) {
	all := f.list()
	if own != nil {
		all = slices.DeleteFunc(all, func(k kept) bool { return k.path == own.path })
	}
	remove(all[min(len(all), maxKept-1):])
}

// remove removes sessions except those that other processes have open. What can't be removed stays.
func remove(all []kept) {
	for _, k := range all {
		if file, err := filelock.Lock(k.path); err == nil {
			_ = (&log{file: file, path: k.path}).remove()
		}
	}
}
