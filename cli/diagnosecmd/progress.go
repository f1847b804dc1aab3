package diagnosecmd

import (
	"fmt"
	"io"

	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// large is the size from which reading a recording takes long enough to report progress.
const large = 100 << 20

// watched returns a recording whose reading progress is shown to a person; done ends the line.
func watched(c terminal.Console, name string, src io.ReadSeeker) (io.ReadSeeker, func()) {
	size, err := src.Seek(0, io.SeekEnd)
	if _, back := src.Seek(0, io.SeekStart); err != nil || back != nil || size < large {
		return src, func() {}
	}
	title := fmt.Sprintf("reading %s (%s)", terminal.Plain(name), wording.FileSize(size))
	if !c.ProgressTerminal {
		fmt.Fprintln(c.Stderr, title)
		return src, func() {}
	}
	p := &progress{ReadSeeker: src, out: c.Stderr, title: title, size: size, shown: -1}
	return p, func() { fmt.Fprint(c.Stderr, "\r\x1b[K") }
}

// progress shows how far a file is read, on a changing line.
type progress struct {
	io.ReadSeeker
	out   io.Writer
	title string
	size  int64
	at    int64
	shown int64 // per cent
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.ReadSeeker.Read(b)
	p.at += int64(n)
	if percent := 100 * p.at / p.size; percent != p.shown {
		p.shown = percent
		fmt.Fprintf(p.out, "\r\x1b[K%s: %d %%", p.title, percent)
	}
	return n, err
}

func (p *progress) Seek(offset int64, whence int) (int64, error) {
	at, err := p.ReadSeeker.Seek(offset, whence)
	p.at = at
	return at, err
}
