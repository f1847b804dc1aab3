package inputfiles

import (
	"fmt"
	"io"
	"os"

	"github.com/apkgate/apkgate/trace/archive"
	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// The name of the recording within a ZIP archive.
var (
	TracesOfPerfetto = archive.Want{Names: []string{".perfetto-trace", ".pftrace"}}
	Samples          = archive.Want{Names: []string{"perf.data", ".perf", ".data"}}
	Mappings         = archive.Want{Names: []string{"mapping.txt"}}
)

// Recording opens a file that a device wrote, plain or packed; "-" is standard input. The caller
// closes it.
func Recording(c terminal.Console, path string, want archive.Want) (archive.Content, io.Closer, error) {
	src, err := Open(c, path)
	if err != nil {
		return archive.Content{}, nil, exit.Usage(err, "")
	}
	content, err := archive.Open(src, regular(src), want)
	if err != nil {
		_ = src.Close()
		return archive.Content{}, nil, exit.Usage(fmt.Errorf("read %s: %w", terminal.Plain(path), err), "")
	}
	return content, src, nil
}

// regular returns src as a file with random access, nil if it has none.
func regular(src io.Reader) archive.File {
	f, ok := src.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return io.NewSectionReader(f, 0, info.Size())
}

// Seekable returns a trace that can be read twice: itself, or a copy in a temporary file, which
// drop removes.
func Seekable(r io.Reader) (src io.ReadSeeker, drop func(), err error) {
	if s, ok := r.(io.ReadSeeker); ok {
		if _, err := s.Seek(0, io.SeekCurrent); err == nil {
			return s, func() {}, nil
		}
	}
	f, err := os.CreateTemp("", "apkgate-*.pftrace")
	if err != nil {
		return nil, nil, err
	}
	drop = func() { _, _ = f.Close(), os.Remove(f.Name()) }
	n, err := io.Copy(f, io.LimitReader(r, powerdata.MaxFile+1))
	if err == nil && n > powerdata.MaxFile {
		err = fmt.Errorf("it is larger than %d MiB", powerdata.MaxFile>>20)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		drop()
		return nil, nil, err
	}
	return f, drop, nil
}
