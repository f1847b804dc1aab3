package input

import (
	"fmt"
	"io"
	"os"

	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/trace/archive"
)

// What the entry of a ZIP archive is called that holds a recording.
var (
	TracesOfPerfetto = archive.Want{Names: []string{".perfetto-trace", ".pftrace"}}
	Samples          = archive.Want{Names: []string{"perf.data", ".perf", ".data"}}
	Mappings         = archive.Want{Names: []string{"mapping.txt"}}
)

// Recording opens a file that a device wrote, plain or packed; "-" is standard input.
// The caller closes it.
func Recording(c console.Console, path string, want archive.Want) (archive.Content, io.Closer, error) {
	src, err := Open(c, path)
	if err != nil {
		return archive.Content{}, nil, exit.Usage(err, "")
	}
	content, err := archive.Open(src, regular(src), want)
	if err != nil {
		_ = src.Close()
		return archive.Content{}, nil, exit.Usage(fmt.Errorf("read %s: %w", console.Plain(path), err), "")
	}
	return content, src, nil
}

// regular is a file that can be read from anywhere, nil where it can't.
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
