package runstore

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"unicode/utf8"

	"github.com/apkgate/apkgate/run"
)

// ReadJSONL reads a history: one record of format apkgate.run/1 per line, with empty lines allowed
// between them. A file with one record over many lines is read too, and so are both as gzip or
// zstd, recognized by their first bytes.
//
// An error names its line, and ends the sequence, except a DamagedRun, which is an invalid line
// after the first record. A record has at most run.MaxBytes; a compressed file that expands further
// than any history is rejected. A record that does not match its checksum is an error too. Memory
// is limited to one record. Ranging over the sequence again yields the rest of r.
func ReadJSONL(r io.Reader) iter.Seq2[run.Run, error] { return ReadCheckedJSONL(r, nil) }

// ReadCheckedJSONL is ReadJSONL, and adds to unchecked, if not nil, the number of records of a
// plain file without a checksum: there a changed digit goes undetected. Compressed files have
// checksums of their own.
func ReadCheckedJSONL(r io.Reader, unchecked *int) iter.Seq2[run.Run, error] {
	return readJSONL(r, math.MaxInt64, unchecked)
}

// ReadLimitedJSONL is ReadJSONL of a history that is kept in memory: of more than limit bytes, once
// expanded, it yields an error instead of the rest.
func ReadLimitedJSONL(r io.Reader, limit int64) iter.Seq2[run.Run, error] {
	return readJSONL(r, limit, nil)
}

func readJSONL(r io.Reader, limit int64, unchecked *int) iter.Seq2[run.Run, error] {
	return func(yield func(run.Run, error) bool) {
		plain, packed, err := expand(r)
		if err != nil {
			yield(run.Run{}, err)
			return
		}
		defer plain.Close()
		records := recordReader{in: bufio.NewReaderSize(&limited{plain, limit, limit}, 64<<10)}
		if unchecked != nil && !packed {
			defer func() { *unchecked += records.unchecked }()
		}
		for {
			rec, err := records.next()
			if errors.Is(err, io.EOF) {
				return
			}
			var damaged *DamagedRun
			if !yield(rec, err) || err != nil && !errors.As(err, &damaged) {
				return
			}
		}
	}
}

// recordReader splits a history into records.
type recordReader struct {
	in      *bufio.Reader
	line    int    // number of the last line read
	buf     []byte // the present record
	started bool   // the first record has been read
	sound   int    // number of valid records
	// unchecked is how many of them have no checksum.
	unchecked int
}

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	errTooLong    = fmt.Errorf("the record is larger than %d MiB", run.MaxBytes>>20)
)

// next returns the next record, or io.EOF.
func (rr *recordReader) next() (run.Run, error) {
	rr.buf = rr.buf[:0]
	for len(bytes.TrimSpace(rr.buf)) == 0 {
		rr.buf = rr.buf[:0]
		if err := rr.readLine(); err != nil {
			return run.Run{}, err
		}
		if rr.line == 1 {
			rr.buf = bytes.TrimPrefix(rr.buf, byteOrderMark)
		}
	}
	first := rr.line
	if !rr.started {
		rr.started = true
		if opens(rr.buf) {
			if err := rr.readRest(); err != nil {
				return run.Run{}, err
			}
		}
	}
	r, err := decode(rr.buf, first)
	if err == nil {
		var has bool
		if has, err = checkSum(rr.buf, r); err != nil {
			err = fmt.Errorf("line %d: %w", first, err)
		} else if !has {
			rr.unchecked++
		}
	}
	if err != nil && rr.sound > 0 {
		err = &DamagedRun{Err: fmt.Errorf("%w: %w", ErrDamaged, err)}
	} else if err == nil {
		rr.sound++
	}
	return r, err
}

// readLine appends the next line to buf. It returns io.EOF at the end.
func (rr *recordReader) readLine() error {
	for start := true; ; start = false {
		part, err := rr.in.ReadSlice('\n')
		if start && len(part) > 0 {
			rr.line++
		}
		rr.buf = append(rr.buf, part...)
		switch {
		case len(rr.buf) > run.MaxBytes:
			return fmt.Errorf("line %d: %w", max(rr.line, 1), errTooLong)
		case err == nil, errors.Is(err, io.EOF) && len(rr.buf) > 0:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return io.EOF
		default:
			return fmt.Errorf("line %d: %w", rr.line+1, err)
		}
	}
}

// readRest appends the rest: the file is one record over many lines.
func (rr *recordReader) readRest() error {
	room := int64(run.MaxBytes - len(rr.buf) + 1)
	out := bytes.NewBuffer(rr.buf)
	if _, err := io.Copy(out, io.LimitReader(rr.in, room)); err != nil {
		return fmt.Errorf("after line %d: %w", rr.line, err)
	}
	rr.buf = out.Bytes()
	if len(rr.buf) > run.MaxBytes {
		return fmt.Errorf("line %d: %w", rr.line, errTooLong)
	}
	return nil
}

// opens reports whether the line opens more objects and arrays than it closes, as the first line of
// a record over many lines does.
func opens(line []byte) bool {
	depth, inString, escaped := 0, false, false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth > 0
}

// decode decodes a record that begins on the given line.
func decode(data []byte, line int) (run.Run, error) {
	switch c := bytes.TrimSpace(data)[0]; c {
	case '{':
	case '[': // a list of results is another tool's, and was read as such if it was one
		return run.Run{}, fmt.Errorf("line %d: starts with '[', but is no complete list of {\"name\":…,\"value\":…}; runs are JSON objects {\"format\":%q, …}", line, run.Format)
	default:
		return run.Run{}, fmt.Errorf("line %d: starts with %q, want a JSON object {\"format\":%q, …}", line, c, run.Format)
	}
	if !utf8.Valid(data) { // RFC 8259, section 8.1
		return run.Run{}, fmt.Errorf("line %d: the record is not valid UTF-8", line)
	}
	r, err := run.Decode(data)
	if err == nil {
		return r, nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > 0 && syntax.Offset <= int64(len(data)) {
		line += bytes.Count(data[:syntax.Offset-1], []byte("\n"))
	}
	return run.Run{}, fmt.Errorf("line %d: %w", line, err)
}

// WriteJSONL writes the runs as JSON Lines, each with its checksum, and returns their number.
func WriteJSONL(w io.Writer, runs iter.Seq2[run.Run, error]) (n int, err error) {
	out := bufio.NewWriterSize(w, 64<<10)
	for r, err := range runs {
		if err != nil {
			return n, err
		}
		data, err := run.Encode(r)
		if err != nil {
			return n, err
		}
		if _, err := out.Write(sealed(data)); err != nil {
			return n, fmt.Errorf("write run %s: %w", r.ID, err)
		}
		n++
	}
	if err := out.Flush(); err != nil {
		return n, fmt.Errorf("write the history: %w", err)
	}
	return n, nil
}
