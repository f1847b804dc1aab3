package apk

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
)

// Code is how much code an app has.
type Code struct {
	DexFiles int
	// Methods are those that the code defines or calls, as `apkanalyzer dex references` counts
	// them: each dex file's method_ids_size.
	Methods int
}

// ReadCode counts the code in the APK files of one app. It fails for a file that is no APK.
func ReadCode(files ...string) (Code, error) {
	var all Code
	for _, file := range files {
		if err := all.add(file); err != nil {
			return Code{}, fmt.Errorf("count the code in %s: %w", file, err)
		}
	}
	return all, nil
}

func (c *Code) add(file string) error {
	archive, err := Open(file)
	if err != nil {
		return err
	}
	defer archive.Close()
	for _, f := range archive.File {
		if is, err := path.Match("classes*.dex", f.Name); err != nil || !is {
			continue
		}
		if err := c.addDex(f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func (c *Code) addDex(f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	return c.read(io.LimitReader(r, maxCode))
}

// The header of a dex file (source.android.com, Dalvik executable format). From version 041 on, one
// file may contain several, each with its own header.
const (
	dexHeader       = 0x70
	fileSizeAt      = 0x20
	endianAt        = 0x28
	methodIDsAt     = 0x58
	containerBytes  = 8 // after the header: container_size, header_offset
	littleEndian    = 0x12345678
	firstContainer  = "041"
	maxDexFiles     = 10_000
	maxMethodsOfDex = 1 << 24
)

var errDex = errors.New("it is cut short, or no dex file")

// read counts the dex files in one file.
func (c *Code) read(r io.Reader) error {
	for first := true; ; first = false {
		header := make([]byte, dexHeader+containerBytes)
		n, err := io.ReadFull(r, header)
		switch {
		case n == 0 && !first && err == io.EOF:
			return nil
		case n < dexHeader || string(header[:4]) != "dex\n" || header[7] != 0 || u32(header[endianAt:]) != littleEndian:
			return errDex
		}
		size, methods := int64(u32(header[fileSizeAt:])), u32(header[methodIDsAt:])
		if c.DexFiles++; c.DexFiles > maxDexFiles || methods > maxMethodsOfDex {
			return fmt.Errorf("%d methods in dex file %d: at most %d in each of %d are allowed", methods, c.DexFiles, maxMethodsOfDex, maxDexFiles)
		}
		c.Methods += int(methods)
		if string(header[4:7]) < firstContainer || n < len(header) || size >= int64(u32(header[dexHeader:])) {
			return nil
		}
		if size < int64(n) {
			return errDex
		}
		if _, err := io.CopyN(io.Discard, r, size-int64(n)); err != nil {
			return fmt.Errorf("%w: %w", errDex, err)
		}
	}
}
