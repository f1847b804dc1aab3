// Package archive opens recordings in the forms in which they are kept and sent: plain, compressed
// with gzip, or in a ZIP archive, as `adb bugreport` has written its report since Android 7.
//
// It owns which entry of an archive is the recording, and how much it may unpack to. It writes
// nothing to the disk and follows no name in an archive.
//
// Where several entries are possible it chooses none, and an exceeded limit is an error, not a
// shorter recording.
//
// Formats: RFC 1952, and PKWARE's APPNOTE as archive/zip reads it; the entry main_entry.txt is
// dumpstate's (frameworks/native/cmds/dumpstate).
package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Limits of an archive; a bug report of 10 MB unpacks to some 100 MB.
const (
	MaxUnpacked = 1 << 30 // bytes
	// MaxRatio limits how many times larger than its archive a recording may be, beyond ratioFrom
	// bytes.
	MaxRatio   = 250
	ratioFrom  = 64 << 20
	MaxEntries = 50_000
	// maxDirectory limits what is read to list a ZIP archive's entries.
	maxDirectory = 8 << 20 // bytes
)

// Content is a recording that is unpacked while it is read.
type Content struct {
	io.Reader
	// Entry is its name in a ZIP archive, "" if it was not in one.
	Entry string
}

// Want selects the recording among the entries of a ZIP archive.
type Want struct {
	// Report is set if the text of a bug report is a recording.
	Report bool
	// Names are the suffixes of the names of recordings: ".pftrace".
	Names []string
}

// File allows random access, which ZIP archives need.
type File interface {
	io.ReaderAt
	Size() int64
}

// Open opens a recording. file is nil if r can be read only once; otherwise it has the same content
// as r from its beginning. The error states what can't be unpacked and why.
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
			return Content{}, fmt.Errorf("it is a ZIP archive, which can only be read from a file, not from a pipe")
		}
		return openZIP(file, want)
	}
	if file != nil {
		return Content{Reader: io.NewSectionReader(file, 0, file.Size())}, nil
	}
	return Content{Reader: head}, nil
}

// counted counts the bytes read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded fails if too much comes out of an archive.
type bounded struct {
	r      io.Reader
	n      int64
	packed func() int64 // bytes read from the archive so far
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.n > MaxUnpacked:
		return 0, fmt.Errorf("it unpacks to more than %d MiB", MaxUnpacked>>20)
	case b.n > ratioFrom && b.n > MaxRatio*b.packed():
		return 0, fmt.Errorf("it unpacks to more than %d times its size, as no recording does", MaxRatio)
	case err != nil && err != io.EOF:
		return n, fmt.Errorf("unpack it: %w", err)
	}
	return n, err
}
