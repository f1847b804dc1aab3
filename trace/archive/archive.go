// Package archive opens recordings as they are kept and sent: plain, with gzip, or
// in a ZIP archive, as `adb bugreport` has written its report since Android 7.
//
// It owns which entry of an archive is the recording, and how much may come out of
// one. It writes nothing to the disk and follows no name in an archive.
//
// It takes a stand: where several entries could be meant it chooses none, and a
// limit that is passed is an error, not a shorter recording.
//
// Formats: RFC 1952, and PKWARE's APPNOTE as archive/zip reads it; the entry
// main_entry.txt is dumpstate's (frameworks/native/cmds/dumpstate).
package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Limits on what is packed; a bug report unpacks to some 100 MB from 10.
const (
	MaxUnpacked = 1 << 30 // bytes
	// MaxRatio is how many times larger a recording may become, once it is larger
	// than freely.
	MaxRatio   = 250
	freely     = 64 << 20
	MaxEntries = 50_000
	// maxDirectory bounds what is read to list a ZIP archive's entries.
	maxDirectory = 8 << 20 // bytes
)

// Content is a recording, unpacked as it is read.
type Content struct {
	io.Reader
	// Entry is its name in a ZIP archive, "" where it was in none.
	Entry string
}

// Want says which entry of a ZIP archive is the recording.
type Want struct {
	// Report says that the text of a bug report is one.
	Report bool
	// Names are what the entry's name ends in: ".pftrace".
	Names []string
}

// File is what can be read from anywhere, as ZIP archives must be.
type File interface {
	io.ReaderAt
	Size() int64
}

// Open opens a recording. file is nil where r can be read once only; otherwise it is
// the same as r from its beginning. The error says what can't be unpacked and why.
func Open(r io.Reader, file File, want Want) (Content, error) {
	head := bufio.NewReader(r)
	magic, _ := head.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		packed := &counted{r: head}
		plain, err := gzip.NewReader(packed)
		if err != nil {
			return Content{}, fmt.Errorf("unpack it with gzip: %w", err)
		}
		return Content{Reader: &bounded{r: plain, packed: func() int64 { return packed.n }}}, nil
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")), bytes.HasPrefix(magic, []byte("PK\x05\x06")):
		if file == nil {
			return Content{}, fmt.Errorf("it is a ZIP archive, which can be read from a file alone, not from a pipe")
		}
		return openZIP(file, want)
	}
	if file != nil {
		return Content{Reader: io.NewSectionReader(file, 0, file.Size())}, nil
	}
	return Content{Reader: head}, nil
}

// counted counts what was read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded ends with an error where too much comes out of an archive.
type bounded struct {
	r      io.Reader
	n      int64
	packed func() int64 // bytes that it came out of
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.n > MaxUnpacked:
		return 0, fmt.Errorf("it unpacks to more than %d MiB", MaxUnpacked>>20)
	case b.n > freely && b.n > MaxRatio*b.packed():
		return 0, fmt.Errorf("it unpacks to more than %d times its size, as no recording does", MaxRatio)
	case err != nil && err != io.EOF:
		return n, fmt.Errorf("unpack it: %w", err)
	}
	return n, err
}
