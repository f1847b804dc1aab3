// Package atrace reads the lines that user space writes into the kernel's trace: slices,
// instants and counters, as "B|PID|NAME".
//
// Format: as Perfetto's trace processor reads it (importers/systrace/systrace_parser.h).
package atrace

import (
	"bytes"
	"strconv"
	"strings"
)

// Point is what a line says. The letters of Phase: B and E begin and end a slice of the
// thread, I is an instant of it; S and F begin and end a slice of the process by its name
// and Value, G and H one on a Track; N is an instant on a Track; C is a counter's Value.
type Point struct {
	Phase       byte
	PID         int32 // 0 where not told
	Name, Track string
	Value       int64
}

// maxName bounds a name, as Android's own limit on a line does.
const maxName = 1024

// Parse reads a line; false for one that is of no such kind, or lacks what its kind has.
func Parse(line []byte) (Point, bool) {
	line = bytes.TrimRight(line, "\n\x00")
	phase, rest, _ := bytes.Cut(line, []byte("|"))
	if len(phase) == 0 {
		return Point{}, false
	}
	pid, rest, _ := bytes.Cut(rest, []byte("|"))
	number, err := strconv.ParseUint(string(pid), 10, 31)
	p := Point{Phase: phase[0], PID: int32(number)}
	if p.Phase == 'E' {
		return p, true
	}
	if err != nil {
		return Point{}, false
	}
	return p, p.read(rest)
}

// read reads what stands behind the process.
func (p *Point) read(rest []byte) bool {
	switch p.Phase {
	case 'B':
		if p.Name = text(rest); p.Name == "" {
			p.Name = "[empty slice name]"
		}
		return true
	case 'I':
		p.Name, _ = next(rest)
	case 'S', 'F', 'C':
		var value string
		p.Name, rest = next(rest)
		value, _ = next(rest)
		return p.number(value) && p.Name != ""
	case 'N':
		p.Track, rest = next(rest)
		p.Name, _ = next(rest)
		return p.Track != "" && p.Name != ""
	case 'G':
		var cookie string
		p.Track, rest = next(rest)
		p.Name, rest = next(rest)
		cookie, _ = next(rest)
		return p.number(cookie) && p.Track != "" && p.Name != ""
	case 'H':
		p.Track, rest = next(rest)
		first, rest := next(rest)
		second, _ := next(rest)
		if second == "" {
			second = first
		}
		return p.number(second) && p.Track != ""
	}
	return p.Name != ""
}

func (p *Point) number(s string) bool {
	v, err := strconv.ParseInt(s, 10, 64)
	p.Value = v
	return err == nil
}

// next cuts the next field off.
func next(rest []byte) (string, []byte) {
	field, rest, _ := bytes.Cut(rest, []byte("|"))
	return text(field), rest
}

func text(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), maxName)]), "�")
}
