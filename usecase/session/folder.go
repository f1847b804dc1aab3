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
	ending = ".session" // of a file's name
	few    = 5          // sessions that are kept
	// most bounds the files that are looked at.
	most = 1_000
)

// create begins a session there.
func (f folder) create(h Header) (*log, error) {
	name := h.Started.Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:8]) + ending
	return create(filepath.Join(string(f), name), h)
}

// kept is a session file of the folder.
type kept struct {
	path   string
	header Header
}

// list are the sessions in the folder, the newest first. What is none is passed over.
func (f folder) list() []kept {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil
	}
	var out []kept
	for _, e := range entries[:min(len(entries), most)] {
		path := filepath.Join(string(f), e.Name())
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ending {
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

// removeEmpty removes what a process has left that was killed before it wrote a line.
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

// fits are the sessions that stand for what is to be measured, the newest first.
func (f folder) fits(h Header) []kept {
	return slices.DeleteFunc(f.list(), func(k kept) bool {
		return !k.header.alike(h) || h.Session != "" && k.header.Session != h.Session
	})
}

// newest is what the newest session that fits has to go on with.
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

// takeNewest opens the newest session that fits and that nobody else goes on with; nil
// where there is none. An error says why one could not be taken.
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

// prune keeps the few newest sessions beside the one in use, and those that others are at.
func (f folder) prune(own *log) {
	all := f.list()
	if own != nil {
		all = slices.DeleteFunc(all, func(k kept) bool { return k.path == own.path })
	}
	remove(all[min(len(all), few-1):])
}

// remove removes sessions but those that others are at. What can't be removed stays.
func remove(all []kept) {
	for _, k := range all {
		if file, err := filelock.Lock(k.path); err == nil {
			_ = (&log{file: file, path: k.path}).remove()
		}
	}
}
