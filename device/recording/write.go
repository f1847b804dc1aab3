package recording

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"
)

// Limits of a recording: on a line of the exchanges and on inline text, on all of the
// exchanges, and on one content.
const (
	maxInline    = 16 << 10
	maxLine      = 1 << 20
	maxExchanges = 512 << 20
	maxEntries   = 2_000_000
	maxContent   = 512 << 20
)

// writer writes the exchanges, each line as soon as it is complete.
type writer struct {
	dir   string
	black *Blackout

	mu      sync.Mutex
	file    *os.File
	size    int64
	entries int
	err     error // the first, after which nothing is written
}

// newWriter creates the folder, which must be empty or absent.
func newWriter(dir string, head Head, black *Blackout) (*writer, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("record to %s: the folder is not empty", dir)
	}
	if err := os.MkdirAll(filepath.Join(dir, ContentFolder), 0o700); err != nil {
		return nil, fmt.Errorf("make the recording's folder: %w", err)
	}
	if err := head.write(dir); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, ExchangesFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the recording: %w", err)
	}
	return &writer{dir: dir, black: black, file: file}, nil
}

// write appends a line, which is already blacked out.
func (w *writer) write(e Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	line, err := json.Marshal(e)
	switch {
	case err != nil:
	case len(line) >= maxLine:
		err = fmt.Errorf("a line has %d bytes, at most %d allowed", len(line), maxLine)
	case w.size+int64(len(line)) >= maxExchanges || w.entries == maxEntries:
		err = fmt.Errorf("it has grown beyond %d MiB or %d lines", maxExchanges>>20, maxEntries)
	default:
		var n int
		n, err = w.file.Write(append(line, '\n'))
		w.size += int64(n)
		w.entries++
	}
	if err != nil {
		w.err = fmt.Errorf("write the recording: %w", err)
	}
}

// fail notes an error in the data of a line.
func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// text converts output for a line; nil for none.
func (w *writer) text(printed []byte) *Text {
	if len(printed) == 0 {
		return nil
	}
	black := w.black.Bytes(printed)
	if len(black) <= maxInline && utf8.Valid(black) {
		return &Text{Text: string(black)}
	}
	return w.content(bytes.NewReader(black), false)
}

// content stores a content as a file.
func (w *writer) content(r io.Reader, blackOut bool) *Text {
	text, err := w.keep(r, blackOut)
	if err != nil {
		w.fail(fmt.Errorf("keep a content in the recording: %w", err))
	}
	return text
}

func (w *writer) keep(r io.Reader, blackOut bool) (*Text, error) {
	file, err := os.CreateTemp(filepath.Join(w.dir, ContentFolder), "new-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // already renamed on success
	sum := sha256.New()
	both := io.MultiWriter(file, sum)
	limited := io.LimitReader(r, maxContent+1)
	var n int64
	if blackOut {
		n, err = w.black.Copy(both, limited)
	} else {
		n, err = io.Copy(both, limited)
	}
	if err == nil && n > maxContent {
		err = fmt.Errorf("it is larger than %d MiB", maxContent>>20)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	text := &Text{SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: n}
	return text, os.Rename(file.Name(), filepath.Join(w.dir, ContentFolder, text.SHA256))
}

// close closes the file.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.err, w.file.Close())
}
