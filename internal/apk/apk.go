// Package apk reads the contents of an APK before it is installed: its package, its test runners,
// whether the shell may trace the app, and whether a class is in it.
//
// It owns the container and the binary form of AndroidManifest.xml, of which it reads no more than
// that. An unreadable file is not rejected here: whether it can be installed is decided by the
// device.
package apk

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// maxManifest limits AndroidManifest.xml, in bytes; the largest of real apps have less than one
// MiB.
const maxManifest = 8 << 20

// Manifest are the facts in an APK's manifest.
type Manifest struct {
	Package string
	// Runners are its instrumentations: full class names, in the order of the file.
	Runners []string
	// Debuggable reports a debug build, and Shell that the shell may profile the app: <profileable
	// android:shell="true"/>.
	Debuggable, Shell bool
}

// Traceable reports whether the app's own sections appear in a trace on a retail phone:
// ActivityThread.handleBindApplication allows them if isProfileableByShell, which is true for debug
// builds too.
func (m Manifest) Traceable() bool { return m.Debuggable || m.Shell }

// TraceableLine is what the manifest of an untraceable app lacks.
const TraceableLine = `<profileable android:shell="true"/>`

// ReadManifest reads the manifest of an APK file.
func ReadManifest(file string) (Manifest, error) {
	archive, err := Open(file)
	if err != nil {
		return Manifest{}, err
	}
	defer archive.Close()
	for _, f := range archive.File {
		if f.Name != "AndroidManifest.xml" {
			continue
		}
		data, err := unpack(f)
		if err == nil {
			var m Manifest
			if m, err = parseManifest(data); err == nil {
				return m, nil
			}
		}
		return Manifest{}, fmt.Errorf("read AndroidManifest.xml of %s: %w", file, err)
	}
	return Manifest{}, fmt.Errorf("%s has no AndroidManifest.xml", file)
}

func unpack(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err == nil && len(data) > maxManifest {
		err = fmt.Errorf("it has more than %d MiB", maxManifest>>20)
	}
	return data, err
}

// MayHave reports whether the class may be in one of the APK files: whether the name of its type is
// in their code. The code that defines a class always has its name; code that only refers to it has
// it too.
func MayHave(class string, files ...string) (bool, error) {
	descriptor := []byte("L" + strings.ReplaceAll(class, ".", "/") + ";")
	for _, file := range files {
		if has, err := inCode(file, descriptor); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// inCode searches for bytes in the classes*.dex of an APK.
func inCode(file string, wanted []byte) (bool, error) {
	archive, err := Open(file)
	if err != nil {
		return false, err
	}
	defer archive.Close()
	code := false
	for _, f := range archive.File {
		if is, err := path.Match("classes*.dex", f.Name); err != nil || !is {
			continue
		}
		code = true
		r, err := f.Open()
		if err != nil {
			return false, fmt.Errorf("read %s of %s: %w", f.Name, file, err)
		}
		has, err := contains(r, wanted)
		r.Close()
		if has || err != nil {
			return has, err
		}
	}
	if !code {
		return false, fmt.Errorf("%s has no classes.dex", file)
	}
	return false, nil
}

// maxCode limits how much of one classes*.dex is searched, in bytes.
const maxCode = 512 << 20

// contains searches for bytes in a stream of any length, a piece at a time.
func contains(r io.Reader, wanted []byte) (bool, error) {
	const piece = 1 << 20
	r = io.LimitReader(r, maxCode)
	buffer := make([]byte, 0, piece+len(wanted))
	for {
		n, err := io.ReadFull(r, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if bytes.Contains(buffer, wanted) {
			return true, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept := copy(buffer, buffer[len(buffer)-len(wanted)+1:])
		buffer = buffer[:kept]
	}
}
