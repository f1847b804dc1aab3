// Package splits chooses which APKs of an app that was built as a bundle are installed on a device.
//
// It owns the archive that bundletool makes (.apks, with its toc.pb), folders of APKs, and the
// choice by a device's ABIs, density, languages and API level. With a table of contents it chooses
// as bundletool does; without one it goes by the files' names. What it can't distinguish is
// installed, and reported.
package splits

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Device are the properties on which a choice depends.
type Device struct {
	ABIs      []string // by preference: "arm64-v8a", "armeabi-v7a"
	Density   int      // in dpi; 0: unknown
	Languages []string // of two or three letters: "en", "fil"
	API       int
}

// Choice are the APK files of an app for one device.
type Choice struct {
	Files []string
	Notes []string // what was guessed or left out, for a person
	dir   string   // of the unpacked files
	names []string // of the files in the archive, nil without an archive
}

// Close removes the unpacked files.
func (c Choice) Close() error {
	if c.dir == "" {
		return nil
	}
	return os.RemoveAll(c.dir)
}

// Rename returns an error about the files, with unpacked ones named as in the archive: the paths of
// the unpacked ones are gone when somebody reads it.
func (c Choice) Rename(err error) error {
	if err == nil || c.names == nil {
		return err
	}
	text := err.Error()
	for i, name := range c.names {
		text = strings.ReplaceAll(text, c.Files[i], name)
	}
	return renamedError{text, err}
}

// renamedError is an error with another text.
type renamedError struct {
	text string
	err  error
}

func (t renamedError) Error() string { return t.text }
func (t renamedError) Unwrap() error { return t.err }

// Chooses reports whether the paths depend on the device: a folder or an archive.
func Chooses(paths []string) bool {
	if len(paths) != 1 {
		return false
	}
	info, err := os.Stat(paths[0])
	return IsArchive(paths[0]) || err == nil && info.IsDir()
}

// Of chooses from the configured paths: APK files, which are all installed on the device, or one
// folder of APKs, or one archive of them. Unpacked files stay until Close.
func Of(paths []string, d Device) (Choice, error) {
	switch {
	case !Chooses(paths):
		return Choice{Files: paths}, nil
	case IsArchive(paths[0]):
		return ofArchive(paths[0], d)
	}
	return ofFolder(paths[0], d)
}

// archives are the suffixes of archives of APKs: bundletool's, and those of sites and tools that
// have no table of contents.
var archives = []string{".apks", ".apkm", ".xapk"}

// IsArchive reports whether a file is an archive of APKs, by its name.
func IsArchive(path string) bool {
	return slices.Contains(archives, strings.ToLower(filepath.Ext(path)))
}

// MaxParts limits the APKs of one app on one device.
const MaxParts = 1000

// ofFolder chooses from a folder that bundletool made, with its table of contents, or from the APKs
// in one, by their names.
func ofFolder(dir string, d Device) (c Choice, err error) {
	var chosen []string
	contents, err := os.Open(filepath.Join(dir, tocName))
	switch {
	case err == nil:
		defer contents.Close()
		chosen, c.Notes, err = byContents(contents, d)
	case errors.Is(err, fs.ErrNotExist):
		if chosen, err = InFolder(dir); err != nil {
			return c, err
		}
		chosen, c.Notes, err = byName(chosen, d)
	}
	if err != nil {
		return Choice{}, fmt.Errorf("choose from %s: %w", dir, err)
	}
	for _, name := range chosen {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return Choice{}, fmt.Errorf("choose from %s: %.100q is outside of it", dir, name)
		}
		c.Files = append(c.Files, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return c, nil
}

// InFolder returns the names of the APKs in a folder.
func InFolder(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for APKs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && isAPK(e.Name()) {
			names = append(names, e.Name())
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("there is no .apk in %s", dir)
	case len(names) > maxEntries:
		return nil, fmt.Errorf("there are %d APKs in %s, at most %d are allowed", len(names), dir, maxEntries)
	}
	return names, nil
}

func isAPK(name string) bool { return strings.EqualFold(filepath.Ext(name), ".apk") }

var errNone = errors.New("none of its APKs is for this device")
