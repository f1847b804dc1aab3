package marks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Terminal returns the command line for a device without shell protocol 2, which provides a
// terminal and no exit code:
//
//	echo MARK; (COMMAND
//	) </dev/null; echo MARK$?
//
// The first mark shows whether the terminal writes line ends as CR LF. Added CRs are removed,
// so that binary output survives. The second mark is followed by the exit code and ends the
// output, without waiting for the shell to exit.
func Terminal(command, mark string) string {
	return fmt.Sprintf("echo %s; (%s\n) </dev/null; echo %s$?", mark, command, mark)
}

// Output reads the output between the marks of Terminal.
type Output struct {
	r    io.Reader
	mark []byte

	begun bool   // the first mark was read
	crlf  bool   // the terminal inserts a CR before each LF
	text  []byte // read but not returned yet
	chunk [16 << 10]byte
	code  int
	err   error
}

// NewOutput returns the output of a command whose terminal is r.
func NewOutput(r io.Reader, mark string) *Output { return &Output{r: r, mark: []byte(mark)} }

// ExitCode returns the command's exit code. It is valid once Read has returned io.EOF.
func (o *Output) ExitCode() int { return o.code }

// errNoMark means that the shell did not echo the marks.
var errNoMark = errors.New("the device's shell did not echo the marks")

// Read reads the command's output.
func (o *Output) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if n := o.give(p); n > 0 {
			return n, nil
		}
		if o.err != nil {
			return 0, o.err
		}
		o.fill()
	}
}

// fill reads a piece and looks for the marks.
func (o *Output) fill() {
	n, err := o.r.Read(o.chunk[:])
	o.text = append(o.text, o.chunk[:n]...)
	if !o.begun {
		o.begin()
	}
	switch {
	case o.err != nil:
	case o.ended():
		o.err = io.EOF
	case err == io.EOF:
		o.err = io.ErrUnexpectedEOF
	case err != nil:
		o.err = err
	}
}

// begin looks for the first mark and the line end after it.
func (o *Output) begin() {
	first, rest, ok := bytes.Cut(o.text, []byte("\n"))
	switch {
	case ok && bytes.Equal(bytes.TrimRight(first, "\r"), o.mark):
		o.begun, o.crlf, o.text = true, bytes.HasSuffix(first, []byte("\r")), rest
	case ok, len(o.text) > len(o.mark)+2:
		o.err = errNoMark
		o.text = nil
	}
}

// ended parses the exit code after the second mark, once that line is complete.
func (o *Output) ended() bool {
	at := bytes.LastIndex(o.text, o.mark)
	if !o.begun || at < 0 {
		return false
	}
	line, _, whole := bytes.Cut(o.text[at+len(o.mark):], []byte("\n"))
	code, err := strconv.Atoi(strings.TrimRight(string(line), "\r"))
	if !whole || err != nil {
		return false
	}
	o.code, o.text = code, o.text[:at]
	return true
}

// give returns the text that can't be part of the second mark or of a line end.
func (o *Output) give(p []byte) int {
	if !o.begun {
		return 0
	}
	ready := len(o.text)
	if o.err == nil {
		ready = o.tail()
	}
	n, used := 0, 0
	for n < len(p) && used < ready {
		if o.crlf && o.text[used] == '\r' && used+1 < len(o.text) && o.text[used+1] == '\n' {
			used++
			continue
		}
		p[n] = o.text[used]
		n, used = n+1, used+1
	}
	o.text = o.text[used:]
	return n
}

// tail returns where a possible second mark, part of one, or half of a line end begins.
func (o *Output) tail() int {
	const behind = len("255\r\n")
	for i := max(0, len(o.text)-len(o.mark)-behind); i < len(o.text); i++ {
		rest := o.text[i:]
		if bytes.HasPrefix(o.mark, rest) || bytes.HasPrefix(rest, o.mark) {
			return i
		}
	}
	return len(bytes.TrimSuffix(o.text, []byte("\r")))
}
