package apk

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxDirectory limits a zip file's directory, in bytes: it is read completely. That of an app with
// as many files as a plain zip file can contain has some 7 MiB.
const maxDirectory = 16 << 20

// Archive is an open zip file: an APK, or several of them.
type Archive struct {
	*zip.Reader
	file *os.File
}

// Open opens a zip file whose directory is within the limit.
func Open(path string) (*Archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	a, err := open(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("open %s as an archive: %w", path, err)
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

func open(file *os.File) (*Archive, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	if err := boundDirectory(file, info.Size()); err != nil {
		return nil, err
	}
	r, err := zip.NewReader(file, info.Size())
	if err != nil {
		return nil, err
	}
	return &Archive{r, file}, nil
}

// The end of a zip file's directory (APPNOTE.TXT, 4.3.16): 22 bytes and a comment.
const (
	endBytes   = 22
	maxComment = 1<<16 - 1
	zip64      = 0xFFFFFFFF // the true number is elsewhere
)

var endMark = []byte("PK\x05\x06")

// boundDirectory checks the size of the directory before it is read.
func boundDirectory(r io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, endBytes+maxComment))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	at := bytes.LastIndex(tail, endMark)
	if at < 0 || at+endBytes > len(tail) {
		return zip.ErrFormat
	}
	end := size - int64(len(tail)) + int64(at)
	long, offset := int64(binary.LittleEndian.Uint32(tail[at+12:])), int64(binary.LittleEndian.Uint32(tail[at+16:]))
	switch {
	case long == zip64, offset == zip64, binary.LittleEndian.Uint16(tail[at+10:]) == 0xFFFF:
		return errors.New("it has 65,535 files or more, or more than 4 GiB")
	case long > maxDirectory, end-offset > maxDirectory:
		return fmt.Errorf("its list of contents has more than %d MiB", maxDirectory>>20)
	}
	return nil
}
