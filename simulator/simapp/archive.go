package simapp

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// EntryName is the app's file in an APK that is a zip file, like real ones.
const EntryName = "app.simapp"

// zipMark is the beginning of a zip file.
const zipMark = "PK\x03\x04"

// TextOf returns the app's file in an APK: the APK itself, or an entry of it.
func TextOf(apk []byte) ([]byte, error) {
	if !strings.HasPrefix(string(apk), zipMark) {
		return apk, nil
	}
	r, err := zip.NewReader(bytes.NewReader(apk), int64(len(apk)))
	if err != nil {
		return nil, err
	}
	file, err := r.Open(EntryName)
	if err != nil {
		return nil, fmt.Errorf("it has no %s", EntryName)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxBytes+1))
}

// Libraries returns the sizes of an APK's native libraries for an ABI, by name.
func Libraries(apk []byte, abi string) (map[string]int, error) {
	out := map[string]int{}
	if !strings.HasPrefix(string(apk), zipMark) {
		return out, nil
	}
	r, err := zip.NewReader(bytes.NewReader(apk), int64(len(apk)))
	if err != nil {
		return nil, err
	}
	for _, f := range r.File {
		if path.Dir(f.Name) != "lib/"+abi || path.Ext(f.Name) != ".so" {
			continue
		}
		if f.UncompressedSize64 > maxLibrary {
			return nil, errors.New("a library is too large")
		}
		out[path.Base(f.Name)] = int(f.UncompressedSize64)
	}
	return out, nil
}

// maxLibrary limits the size of a native library, in bytes.
const maxLibrary = 16 << 20
