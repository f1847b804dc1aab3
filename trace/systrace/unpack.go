package systrace

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// mark is the text that atrace writes before a trace.
const mark = "TRACE:"

// near is how many bytes identify a file: atrace writes fewer before a trace.
const near = 4 << 10

// zlibMethod is the first byte of a zlib stream with a window of 32 KiB.
const zlibMethod = 0x78

// unpacked returns the text of a trace. atrace -z writes it as a zlib stream after the mark, in
// which adb shell on old devices turned each LF into CR LF, or CR CR LF.
func unpacked(in *bufio.Reader, f *packets.File) io.Reader {
	head, _ := in.Peek(near)
	at := bytes.Index(head, []byte(mark))
	if at < 0 || at > 0 && head[at-1] != '\n' {
		return in
	}
	rest := head[at+len(mark):]
	returns := len(rest) - len(bytes.TrimLeft(rest, "\r"))
	if rest = rest[returns:]; len(rest) < 2 || rest[0] != '\n' || rest[1] != zlibMethod {
		return in
	}
	if _, err := in.Discard(at + len(mark) + returns + 1); err != nil {
		return failing{err}
	}
	stream := io.Reader(in)
	if returns > 0 {
		stream = &collapsed{in: in, returns: returns}
	}
	out, err := zlib.NewReader(stream)
	if err != nil {
		return broken(f, err)
	}
	return &damaged{out, f}
}

// otherFormat names the format of a file that is often mistaken for a text trace.
func otherFormat(begins []byte) string {
	const packet = 1<<3 | 2 // begins a packet of a Perfetto trace, and is the end of a line
	binary := bytes.ContainsFunc(begins, func(c rune) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' })
	switch {
	case len(begins) == 0:
		return ": the file is empty"
	case begins[0] == packet && binary:
		return "; it seems to be a Perfetto trace, which the reader perfetto reads"
	case begins[0] == '{' || begins[0] == '[':
		return "; traces in JSON are not read"
	}
	return ""
}

type failing struct{ err error }

func (r failing) Read([]byte) (int, error) { return 0, r.err }

// damaged is a zlib stream that may end early. What precedes the end is read.
type damaged struct {
	in io.Reader
	f  *packets.File
}

func (d *damaged) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	d.in = broken(d.f, err)
	if n > 0 {
		return n, nil
	}
	return d.in.Read(p)
}

// broken ends a stream: with a warning if it is damaged, otherwise with the read error.
func broken(f *packets.File, err error) io.Reader {
	var corrupt flate.CorruptInputError
	damage := []error{zlib.ErrChecksum, zlib.ErrDictionary, zlib.ErrHeader, io.ErrUnexpectedEOF}
	if !errors.As(err, &corrupt) && !slices.ContainsFunc(damage, func(one error) bool { return errors.Is(err, one) }) {
		return failing{err}
	}
	f.Warnings.Addf(0, "the compressed trace can't be unpacked completely: %v", err)
	return bytes.NewReader(nil)
}

// collapsed removes the CRs before each LF.
type collapsed struct {
	in      *bufio.Reader
	returns int
}

func (c *collapsed) Read(p []byte) (int, error) {
	for n := range p {
		if n > 0 && c.in.Buffered() <= c.returns {
			return n, nil
		}
		next, err := c.in.Peek(c.returns + 1)
		if len(next) == c.returns+1 && next[c.returns] == '\n' && len(bytes.Trim(next[:c.returns], "\r")) == 0 {
			_, _ = c.in.Discard(c.returns)
		} else if len(next) == 0 {
			return n, err
		}
		p[n], _ = c.in.ReadByte()
	}
	return len(p), nil
}
