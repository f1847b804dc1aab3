package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/internal/prose"
)

// Contents are the contents of a session file.
type Contents struct {
	Header Header
	// Entries are the last of each unit, by its key.
	Entries map[string]Entry
	// Torn reports that the last line is incomplete: its process was killed while it wrote it.
	// Sound is the length in bytes of what precedes it.
	Torn  bool
	Sound int64
}

// whole returns the results of the units that need not be measured again.
func (c Contents) whole() map[string]collect.Result {
	out := map[string]collect.Result{}
	for key, e := range c.Entries {
		if e.whole() {
			out[key] = e.result()
		}
	}
	return out
}

// Read reads a session file. A torn last line, as left by a killed process, is no error; anything
// else that is invalid is, and the error names its line. Memory is limited by the limits on a file.
func Read(r io.Reader) (Contents, error) {
	in := lines{in: bufio.NewReaderSize(io.LimitReader(r, maxFile+1), 64<<10)}
	line, ended, err := in.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return Contents{}, err
	}
	if !ended {
		return Contents{}, errors.New("it does not begin with a whole line")
	}
	c := Contents{Entries: map[string]Entry{}, Sound: int64(len(line))}
	if c.Header, err = decodeHeader(line); err != nil {
		return c, fmt.Errorf("line 1: %w", err)
	}
	known := map[string]bool{}
	for _, key := range c.Header.own() {
		known[key] = true
	}
	for in.number < maxLines {
		line, ended, err := in.next()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		if !ended {
			c.Torn = true
			return c, nil
		}
		if err := c.add(line, known); err != nil {
			if c.Torn = in.atEnd(); c.Torn {
				return c, nil
			}
			return c, fmt.Errorf("line %d: %w", in.number, err)
		}
		c.Sound += int64(len(line))
	}
	return c, fmt.Errorf("it has more than %d lines", maxLines)
}

// add adds a line.
func (c Contents) add(line []byte, known map[string]bool) error {
	e, err := decodeEntry(line)
	switch {
	case err != nil:
		return err
	case !known[e.Unit]:
		return fmt.Errorf("unit %s is none of those in line 1", prose.Quote(e.Unit, 80))
	case c.Entries[e.Unit].whole():
		return fmt.Errorf("unit %s was whole before", prose.Quote(e.Unit, 80))
	}
	c.Entries[e.Unit] = e
	return nil
}

// lines splits a file into lines of limited length.
type lines struct {
	in     *bufio.Reader
	number int
	read   int64
	buf    []byte
}

// next returns the next line with its end, and whether it has one: the last may lack it. At the end
// of the file the error is io.EOF. The line is valid until the next call.
func (l *lines) next() (line []byte, ended bool, err error) {
	l.buf = l.buf[:0]
	l.number++
	for {
		part, err := l.in.ReadSlice('\n')
		l.buf, l.read = append(l.buf, part...), l.read+int64(len(part))
		switch {
		case l.read > maxFile:
			return nil, false, fmt.Errorf("it is larger than %d GiB", maxFile>>30)
		case len(l.buf) > maxLine:
			return nil, false, fmt.Errorf("line %d is longer than %d MiB", l.number, maxLine>>20)
		case err == nil:
			return l.buf, true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(l.buf) > 0:
			return l.buf, false, nil
		default:
			return nil, false, err
		}
	}
}

// atEnd reports whether nothing follows the line.
func (l *lines) atEnd() bool {
	_, err := l.in.Peek(1)
	return errors.Is(err, io.EOF)
}
