package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of a text that is read line by line.
const (
	MaxText = 1 << 30 // bytes of one file
	MaxLine = 1 << 20 // bytes of one line; the rest of a longer one is skipped
)

// Lines reads text by line: UTF-8 with or without a byte order mark, or UTF-16 of either byte
// order. A line ends with LF; the caller trims a CR, or two, before it.
type Lines struct {
	r      *bufio.Reader
	count  *counter
	text   []byte
	long   []byte // reused
	number int
	cut    bool
	ended  bool // the line ends with LF
	err    error
}

// NewLines returns a reader of the lines of r.
func NewLines(r io.Reader) *Lines {
	count := &counter{r: r}
	l := &Lines{count: count}
	// One buffer is enough for plain text; decoding needs a second.
	size := bufferSize
	if known, ok := r.(interface{ Len() int }); ok { // most dumps are short and in memory
		size = min(size, known.Len()+1)
	}
	raw := bufio.NewReaderSize(count, size)
	l.r = raw
	if text := decoded(raw); text != raw {
		l.r = bufio.NewReaderSize(text, bufferSize)
	}
	return l
}

// bufferSize is enough for most lines; longer ones are assembled.
const bufferSize = 64 << 10

// Next advances to the next line and reports whether there is one.
func (l *Lines) Next() bool {
	if l.err != nil {
		return false
	}
	text, err := l.r.ReadSlice('\n')
	l.cut = false
	if errors.Is(err, bufio.ErrBufferFull) {
		text, err = l.longLine(text)
	}
	l.err = err
	if err != nil && len(text) == 0 {
		return false
	}
	l.number++
	l.ended = err == nil
	l.text = bytes.TrimRight(text, "\r\n")
	return true
}

// longLine assembles a line that begins with head, up to MaxLine.
func (l *Lines) longLine(head []byte) ([]byte, error) {
	whole := append(l.long[:0], head...)
	var part []byte
	err := bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		whole = append(whole, part[:min(len(part), MaxLine-len(whole))]...)
		l.cut = l.cut || len(whole) == MaxLine && !bytes.HasSuffix(whole, []byte("\n"))
	}
	l.long = whole
	return whole, err
}

// Text returns the line without its LF. It is valid until the next call of Next.
func (l *Lines) Text() []byte { return l.text }

// Number returns the line's number, from 1.
func (l *Lines) Number() int { return l.number }

// Cut reports whether the line was longer than MaxLine.
func (l *Lines) Cut() bool { return l.cut }

// Unended reports whether the text ends within the line. Tools that write a file completely end its
// last line too.
func (l *Lines) Unended() bool { return !l.ended }

// Err returns the error that ended reading, nil at the end of the text.
func (l *Lines) Err() error {
	if l.err == nil || errors.Is(l.err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read line %d: %w", l.number+1, l.err)
}

// counter limits the size of a file.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	if c.n > MaxText {
		return 0, fmt.Errorf("the text is larger than %d MiB", MaxText>>20)
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// decoded skips a UTF-8 byte order mark and converts UTF-16 to UTF-8. Without a mark, a zero byte
// among the first two means UTF-16.
func decoded(r *bufio.Reader) io.Reader {
	head, err := r.Peek(3)
	if len(head) < 2 {
		if err != nil && !errors.Is(err, io.EOF) {
			return failing{err}
		}
		return r
	}
	switch {
	case bytes.Equal(head, []byte{0xEF, 0xBB, 0xBF}):
		_, _ = r.Discard(3)
	case head[0] == 0xFF && head[1] == 0xFE:
		_, _ = r.Discard(2)
		return &utf16Reader{r: r, low: 0, high: 1}
	case head[0] == 0xFE && head[1] == 0xFF:
		_, _ = r.Discard(2)
		return &utf16Reader{r: r, low: 1, high: 0}
	case head[0] != 0 && head[1] == 0:
		return &utf16Reader{r: r, low: 0, high: 1}
	case head[0] == 0 && head[1] != 0:
		return &utf16Reader{r: r, low: 1, high: 0}
	}
	return r
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// utf16Reader converts UTF-16 to UTF-8; low and high are the places of the low and the high byte in
// a code unit. An incomplete unit at the end is dropped.
type utf16Reader struct {
	r         *bufio.Reader
	low, high int
	err       error
	pending   rune // a high surrogate whose low one is still to come
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	n := 0
	for n+2*utf8.UTFMax <= len(p) {
		var pair [2]byte
		if _, err := io.ReadFull(u.r, pair[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			u.err = err
			return n, err
		}
		n += u.put(p[n:], rune(pair[u.low])|rune(pair[u.high])<<8)
	}
	if n == 0 {
		return 0, io.ErrShortBuffer
	}
	return n, nil
}

func (u *utf16Reader) put(p []byte, unit rune) int {
	n := 0
	if u.pending != 0 {
		whole := utf16.DecodeRune(u.pending, unit)
		u.pending = 0
		n += utf8.EncodeRune(p, whole)
		if whole != utf8.RuneError {
			return n
		}
	}
	if unit >= 0xD800 && unit < 0xDC00 {
		u.pending = unit
		return n
	}
	return n + utf8.EncodeRune(p[n:], unit)
}
