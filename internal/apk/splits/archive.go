package splits

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/apk"
)

// Limits of an archive of APKs.
const (
	maxEntries  = 20_000
	maxTOC      = 16 << 20 // bytes
	maxUnpacked = 8 << 30  // bytes, of all chosen files
)

// The files of an archive that bundletool makes.
const (
	tocName       = "toc.pb"
	universalName = "universal.apk"
)

// ofArchive chooses from an archive, and unpacks the chosen files.
func ofArchive(file string, d Device) (c Choice, err error) {
	archive, err := apk.Open(file)
	if err != nil {
		return c, err
	}
	defer archive.Close()
	names, notes, err := choose(archive.Reader, d)
	if err != nil {
		return c, fmt.Errorf("choose from %s: %w", file, err)
	}
	c.Notes = notes
	if c.dir, err = os.MkdirTemp("", "apkgate-apks-"); err != nil {
		return c, fmt.Errorf("unpack %s: %w", file, err)
	}
	defer func() {
		if err != nil {
			c.Close()
			c = Choice{}
		}
	}()
	var total int64
	for i, name := range names {
		to := filepath.Join(c.dir, fmt.Sprintf("%03d_%s", i, plain(path.Base(name))))
		n, err := unpack(archive.Reader, name, to, maxUnpacked-total)
		if err != nil {
			return c, fmt.Errorf("unpack %.100q of %s: %w", name, file, err)
		}
		total += n
		c.Files, c.names = append(c.Files, to), append(c.names, fmt.Sprintf("%.100q of %s", name, file))
	}
	return c, nil
}

// plain returns a name that every file system accepts.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name[:min(len(name), 100)])
}

// choose returns the names of the APKs for the device.
func choose(archive *zip.Reader, d Device) (names, notes []string, err error) {
	if len(archive.File) > maxEntries {
		return nil, nil, fmt.Errorf("it has %d files, at most %d are allowed", len(archive.File), maxEntries)
	}
	var apks []string
	for _, f := range archive.File {
		switch {
		case f.Name == tocName:
			r, err := f.Open()
			if err != nil {
				return nil, nil, fmt.Errorf("read its %s: %w", tocName, err)
			}
			defer r.Close()
			return byContents(r, d)
		case isAPK(f.Name):
			apks = append(apks, f.Name)
		}
	}
	switch {
	case len(apks) == 0:
		return nil, nil, errors.New("it has no APK")
	case slices.Contains(apks, universalName):
		return []string{universalName}, nil, nil
	}
	return byName(apks, d)
}

// byContents chooses by the table of contents.
func byContents(r io.Reader, d Device) (names, notes []string, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTOC+1))
	if err == nil && len(data) > maxTOC {
		err = fmt.Errorf("it has more than %d MiB", maxTOC>>20)
	}
	if err == nil {
		var t toc
		if t, err = parseTOC(data); err == nil {
			return t.choose(d)
		}
	}
	return nil, nil, fmt.Errorf("read its %s: %w", tocName, err)
}

// unpack writes an APK of the archive to a file, up to most bytes.
func unpack(archive *zip.Reader, name, to string, most int64) (size int64, err error) {
	i := slices.IndexFunc(archive.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return 0, errors.New("it is not there")
	}
	r, err := archive.File[i].Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(out, io.LimitReader(r, most+1))
	if err == nil && size > most {
		err = fmt.Errorf("the APKs for this device have more than %d GiB", maxUnpacked>>30)
	}
	return size, errors.Join(err, out.Close())
}
