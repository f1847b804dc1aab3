// Package atrace reads the lines that user space writes to the kernel's trace: slices, instants and
// counters, as "B|PID|NAME".
//
// Format: as Perfetto's trace processor reads it (importers/systrace/systrace_parser.h).
package atrace

import (
	"bytes"
	"math"
	"strconv"
)

// Point is the content of a line. The letters of Phase: B and E begin and end a slice of the
// thread, I is an instant of it; S and F begin and end a slice of the process by its name and
// Value, G and H one on a Track; N is an instant on a Track; C is a counter's Value.
type Point struct {
	Phase       byte
	PID         int32 // 0 if unknown
	Name, Track string
	Value       int64
}

// maxName limits a name, as Android's own limit on a line does.
const maxName = 1024

// parse parses a line, converting bytes by text; false for a line of another kind, or an incomplete
// one.
func parse(line []byte, text func([]byte) string) (Point, bool) {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == 0) {
		line = line[:len(line)-1]
	}
	phase, rest, _ := cut(line)
	if len(phase) == 0 {
		return Point{}, false
	}
	pid, rest, _ := cut(rest)
	number, ok := numbered(pid)
	p := Point{Phase: phase[0], PID: number}
	if p.Phase == 'E' {
		return p, true
	}
	if !ok {
		return Point{}, false
	}
	return p, p.read(rest, text)
}

// cut cuts at the first "|".
func cut(b []byte) (before, after []byte, found bool) {
	if i := bytes.IndexByte(b, '|'); i >= 0 {
		return b[:i], b[i+1:], true
	}
	return b, nil, false
}

// numbered parses the id of a process; 0 and false if it is none.
func numbered(digits []byte) (int32, bool) {
	const most = 10 // digits of a number of 31 bits
	var v int64
	for _, d := range digits {
		if d < '0' || d > '9' || len(digits) > most {
			n, err := strconv.ParseUint(string(digits), 10, 31)
			return int32(n), err == nil
		}
		v = 10*v + int64(d-'0')
	}
	if v > math.MaxInt32 || len(digits) == 0 {
		return 0, false
	}
	return int32(v), true
}

// read reads the text after the process.
func (p *Point) read(rest []byte, text func([]byte) string) bool {
	next := func(rest []byte) (string, []byte) {
		field, rest, _ := cut(rest)
		return text(field), rest
	}
	switch p.Phase {
	case 'B':
		if p.Name = text(rest); p.Name == "" {
			p.Name = "[empty slice name]"
		}
		return true
	case 'I':
		p.Name, _ = next(rest)
	case 'S', 'F', 'C':
		p.Name, rest = next(rest)
		digits, _, _ := cut(rest)
		return p.number(digits) && p.Name != ""
	case 'N':
		p.Track, rest = next(rest)
		p.Name, _ = next(rest)
		return p.Track != "" && p.Name != ""
	case 'G':
		p.Track, rest = next(rest)
		p.Name, rest = next(rest)
		digits, _, _ := cut(rest)
		return p.number(digits) && p.Track != "" && p.Name != ""
	case 'H':
		p.Track, rest = next(rest)
		digits, rest, _ := cut(rest)
		if second, _, _ := cut(rest); len(second) > 0 {
			digits = second
		}
		return p.number(digits) && p.Track != ""
	}
	return p.Name != ""
}

func (p *Point) number(digits []byte) bool {
	const quick = 18 // digits that always fit into an int64
	var v int64
	for _, d := range digits {
		if d < '0' || d > '9' || len(digits) > quick {
			v, err := strconv.ParseInt(string(digits[:min(len(digits), maxName)]), 10, 64)
			p.Value = v
			return err == nil
		}
		v = 10*v + int64(d-'0')
	}
	p.Value = v
	return len(digits) > 0
}
