package archive

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// openZIP opens the only entry of an archive that is a recording.
func openZIP(file File, want Want) (Content, error) {
	at := &directory{file: file, left: maxDirectory}
	z, err := zip.NewReader(at, file.Size())
	switch {
	case errors.Is(err, errDirectory):
		return Content{}, fmt.Errorf("list the archive: its directory is larger than %d MiB", maxDirectory>>20)
	case err != nil:
		return Content{}, fmt.Errorf("list the archive, which may be incomplete: %w", err)
	case len(z.File) > MaxEntries:
		return Content{}, fmt.Errorf("list the archive: it has %d entries, at most %d are looked at", len(z.File), MaxEntries)
	}
	at.listed = true // from here on the unpacked size is limited
	entry, err := choose(z, want)
	if err != nil {
		return Content{}, err
	}
	const encrypted = 1
	if entry.Flags&encrypted != 0 {
		return Content{}, fmt.Errorf("unpack %s: it is encrypted", trace.Quote(entry.Name))
	}
	plain, err := entry.Open()
	if err != nil {
		return Content{}, fmt.Errorf("unpack %s: %w", trace.Quote(entry.Name), err)
	}
	packed := int64(min(entry.CompressedSize64, uint64(file.Size())))
	return Content{Reader: &bounded{r: plain, packed: func() int64 { return packed }}, Entry: entry.Name}, nil
}

// directory limits the bytes read while an archive's entries are listed: their stated number can't
// be trusted.
type directory struct {
	file   File
	left   int // bytes
	listed bool
}

var errDirectory = errors.New("the archive's directory is too large")

func (d *directory) ReadAt(p []byte, off int64) (int, error) {
	if !d.listed {
		if d.left -= len(p); d.left < 0 {
			return 0, errDirectory
		}
	}
	return d.file.ReadAt(p, off)
}

// choose returns the wanted entry.
func choose(z *zip.Reader, want Want) (*zip.File, error) {
	var files, wanted []*zip.File
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		files = append(files, f)
		if slices.ContainsFunc(want.Names, func(end string) bool { return strings.HasSuffix(f.Name, end) }) {
			wanted = append(wanted, f)
		}
	}
	if want.Report {
		if f := report(z, files); f != nil {
			return f, nil
		}
	}
	switch {
	case len(wanted) == 1:
		return wanted[0], nil
	case len(files) == 1:
		return files[0], nil
	case len(wanted) > 1:
		return nil, fmt.Errorf("the archive holds %d recordings of that kind (%s, …): unpack the one that is meant", len(wanted), trace.Quote(wanted[0].Name))
	}
	return nil, fmt.Errorf("the archive holds no recording of that kind among its %d files", len(files))
}

// maxMainEntry limits the name of the report.
const maxMainEntry = 1 << 10

// report returns the text of a bug report: the entry that main_entry.txt names, or else the only
// one with a report's name. It returns nil if there is none.
func report(z *zip.Reader, files []*zip.File) *zip.File {
	byName := map[string]*zip.File{}
	var named []*zip.File
	for _, f := range files {
		byName[f.Name] = f
		if f.Name == path.Base(f.Name) && strings.HasPrefix(f.Name, "bugreport") && strings.HasSuffix(f.Name, ".txt") {
			named = append(named, f)
		}
	}
	if main := byName["main_entry.txt"]; main != nil {
		if r, err := main.Open(); err == nil {
			name, _ := io.ReadAll(io.LimitReader(r, maxMainEntry))
			if f := byName[strings.TrimSpace(string(name))]; f != nil {
				return f
			}
		}
	}
	if len(named) == 1 {
		return named[0]
	}
	return nil
}
