package recording

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// Recording is a recording that was read from its folder.
type Recording struct {
	Head
	Dir  string
	Runs []Run
	// Torn reports whether the last line is incomplete, as after a killed recorder.
	Torn bool
}

// Run is the exchanges of one run, from one Unit to the next.
type Run struct {
	Unit    Entry
	Entries []Entry
}

// Read reads the folder of a recording.
func Read(dir string) (*Recording, error) {
	head, err := readHead(dir)
	if err != nil {
		return nil, err
	}
	r := &Recording{Head: head, Dir: dir}
	path := filepath.Join(dir, ExchangesFile)
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a recording: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := r.readFrom(file); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(r.Runs) == 0 {
		return nil, fmt.Errorf("read %s: it ends before the first run began", path)
	}
	return r, nil
}

func (r *Recording) readFrom(file io.Reader) error {
	lines := bufio.NewReaderSize(io.LimitReader(file, maxExchanges), maxLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("line %d has more than %d bytes", n, maxLine)
		case err == io.EOF:
			r.Torn = len(line) > 0
			return nil
		case err != nil:
			return err
		case n > maxEntries:
			return fmt.Errorf("it has more than %d lines", maxEntries)
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := r.add(e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (r *Recording) add(e Entry) error {
	for _, t := range []*Text{e.Stdout, e.Stderr} {
		if t != nil && t.SHA256 != "" && (!digest.MatchString(t.SHA256) || t.Bytes < 0 || t.Bytes > maxContent) {
			return fmt.Errorf("a content is named %.70q of %d bytes, want a SHA-256 of 0 to %d bytes", t.SHA256, t.Bytes, int64(maxContent))
		}
	}
	for _, f := range e.Files {
		if !digest.MatchString(f.SHA256) {
			return fmt.Errorf("a file has the SHA-256 %.70q, want 64 hexadecimal digits", f.SHA256)
		}
	}
	if e.AtNS < 0 || e.TookNS < 0 || e.AtNS+e.TookNS < 0 || e.ForNS < 0 {
		return fmt.Errorf("it began at %d and took %d ns, want 0 or more", e.AtNS, e.TookNS)
	}
	if e.Op == Unit {
		r.Runs = append(r.Runs, Run{Unit: e})
		return nil
	}
	if len(r.Runs) == 0 {
		return fmt.Errorf("it is of %.20q, want %s first", e.Op, Unit)
	}
	last := &r.Runs[len(r.Runs)-1]
	last.Entries = append(last.Entries, e)
	return nil
}

// Content returns the data of a text, none for nil. It is verified against its SHA-256.
func (r *Recording) Content(t *Text) ([]byte, error) {
	switch {
	case t == nil:
		return nil, nil
	case t.SHA256 == "":
		return []byte(t.Text), nil
	}
	file, err := r.open(t.SHA256)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxContent))
	if err == nil {
		err = verify(t.SHA256, sha256.Sum256(data))
	}
	if err != nil {
		return nil, fmt.Errorf("read the recording's %s/%s: %w", ContentFolder, t.SHA256, err)
	}
	return data, nil
}

// copyTo writes the data of a text.
func (r *Recording) copyTo(w io.Writer, t *Text) error {
	if t == nil {
		return nil
	}
	if t.SHA256 == "" {
		_, err := io.WriteString(w, t.Text)
		return err
	}
	file, err := r.open(t.SHA256)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err = io.Copy(io.MultiWriter(w, sum), io.LimitReader(file, maxContent)); err == nil {
		err = verify(t.SHA256, [sha256.Size]byte(sum.Sum(nil)))
	}
	if err != nil {
		return fmt.Errorf("read the recording's %s/%s: %w", ContentFolder, t.SHA256, err)
	}
	return nil
}

func (r *Recording) open(name string) (*os.File, error) {
	file, err := os.Open(filepath.Join(r.Dir, ContentFolder, name))
	if err != nil {
		return nil, fmt.Errorf("read a content of the recording: %w", err)
	}
	return file, nil
}

// ErrChanged means that a content is not the recorded one.
var ErrChanged = errors.New("its content is not the recorded one")

func verify(name string, sum [sha256.Size]byte) error {
	if hex.EncodeToString(sum[:]) != name {
		return ErrChanged
	}
	return nil
}
