package r8map

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// Read reads a mapping. It returns an error only where reading r fails; what can't be understood is
// a warning.
func Read(r io.Reader) (*Map, error) {
	m := &Map{names: []string{""}, ids: map[string]uint32{"": 0}, classes: map[uint32]class{}, files: map[uint32]uint32{}}
	p := parser{m: m}
	text := trace.NewLines(r)
	for text.Next() {
		if text.Cut() {
			p.warnings.Addf(text.Number(), "the line is longer than %d bytes: it is skipped", trace.MaxLine)
			continue
		}
		p.number = text.Number()
		p.take(text.Text())
	}
	p.endClass()
	if err := text.Err(); err != nil {
		return nil, err
	}
	if p.m.dropped > 0 {
		p.warnings.Counted(0, p.m.dropped,
			"%d line is not kept: a mapping may have %d lines of methods, %d classes and %d MiB of names",
			"%d lines are not kept: a mapping may have %d lines of methods, %d classes and %d MiB of names", MaxLines, MaxClasses, MaxNames>>20)
	}
	m.Warnings = p.warnings.List()
	return m, nil
}

// parser parses a mapping line by line.
type parser struct {
	m        *Map
	warnings trace.Warnings
	number   int
	bytes    int // bytes of names

	full     bool
	in       uint32 // the compiled name of the current class, 0 before the first
	class    class
	comments owner
}

// owner is what a comment applies to: the item above it.
type owner int

const (
	ofFile owner = iota
	ofClass
	ofField
	ofMethod
)

// take parses a line: a class, a member or a comment.
func (p *parser) take(text []byte) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
	case trimmed[0] == '#':
		p.comment(bytes.TrimSpace(trimmed[1:]))
	case text[0] == ' ' || text[0] == '\t':
		p.member(trimmed)
	default:
		p.beginClass(trimmed)
	}
}

var arrow = []byte(" -> ")

// beginClass parses "com.example.Inbox -> a.b:".
func (p *parser) beginClass(text []byte) {
	p.endClass()
	original, rest, ok := bytes.Cut(text, arrow)
	compiled, _, ended := bytes.Cut(rest, []byte(":"))
	original, compiled = bytes.TrimSpace(original), bytes.TrimSpace(compiled)
	if !ok || !ended || len(original) == 0 || len(compiled) == 0 {
		p.warnings.Addf(p.number, "%s is no class, want NAME -> NAME:", trace.Quote(text))
		return
	}
	name, source := p.name(compiled), p.name(original)
	if p.full || len(p.m.classes) >= MaxClasses {
		p.m.dropped++
		return
	}
	if _, again := p.m.classes[name]; again {
		p.warnings.Addf(p.number, "the class %s is there twice: the first one counts", trace.Quote(compiled))
		return
	}
	p.in, p.comments = name, ofClass
	p.class = class{original: source, first: p.size(), end: p.size()}
}

// size returns the number of lines kept.
func (p *parser) size() uint32 { return uint32(len(p.m.lines)) } // at most MaxLines

// endClass makes the lines of each method contiguous, in the file's order.
func (p *parser) endClass() {
	if p.in == 0 {
		return
	}
	p.class.end = p.size()
	slices.SortStableFunc(p.m.lines[p.class.first:], func(a, b line) int { return cmp.Compare(a.name, b.name) })
	p.m.classes[p.in] = p.class
	p.m.files[p.class.original] = p.class.file
	p.in, p.comments = 0, ofFile
}

// member parses a field, which is skipped, or a method: "1:3:void com.example.Inbox.open(int):10:12
// -> a".
func (p *parser) member(text []byte) {
	if p.in == 0 {
		return
	}
	left, compiled, ok := bytes.Cut(text, arrow)
	if !ok {
		p.warnings.Addf(p.number, "%s is no member, want TYPE NAME -> NAME", trace.Quote(text))
		return
	}
	open := bytes.IndexByte(left, '(')
	if open < 0 {
		p.comments = ofField
		return
	}
	l, ok := p.method(left, open, bytes.TrimSpace(compiled))
	if !ok {
		p.comments = ofField
		p.warnings.Addf(p.number, "%s is no method, want FROM:TO:TYPE NAME(TYPES):FROM:TO -> NAME", trace.Quote(text))
		return
	}
	if p.full || len(p.m.lines) >= MaxLines {
		p.m.dropped++
		p.comments = ofField
		return
	}
	p.comments = ofMethod
	p.m.lines = append(p.m.lines, l)
}

// method parses the text before the arrow; its first bracket is at open.
func (p *parser) method(left []byte, open int, compiled []byte) (line, bool) {
	end := bytes.IndexByte(left, ')')
	if end < open || len(compiled) == 0 {
		return line{}, false
	}
	var l line
	from, to, n, rest := positions(left[:open])
	if n == 1 {
		return line{}, false // a range has two ends
	}
	l.from, l.to, l.ranged = from, to, n == 2
	space := bytes.LastIndexByte(rest, ' ')
	if space < 0 || space == len(rest)-1 || bytes.IndexByte(rest, ':') >= 0 {
		return line{}, false
	}
	name, single := rest[space+1:], false
	if source, ok := bytes.CutPrefix(left[end+1:], []byte(":")); ok {
		if l.start, l.end, n, rest = positions(append(source[:len(source):len(source)], ':')); n == 0 || len(rest) > 0 {
			return line{}, false
		}
		l.hasSource, single = true, n == 1
	} else if len(bytes.TrimSpace(left[end+1:])) > 0 {
		return line{}, false
	}
	p.names(&l, name, left[open:end+1], compiled)
	l.caller = single && p.follows(l)
	return l, l.method != 0
}

// names sets the names of a line. method is qualified by its class if that is not the enclosing
// one.
func (p *parser) names(l *line, method, args, compiled []byte) {
	if dot := bytes.LastIndexByte(method, '.'); dot >= 0 {
		l.class = p.name(method[:dot])
		method = method[dot+1:]
	}
	if l.class == p.class.original {
		l.class = 0
	}
	l.method, l.args, l.name = p.name(method), p.name(spaceless(args)), p.name(compiled)
}

// follows reports whether the line before has the same compiled range. A line with a single source
// line is then the caller of the line before, which was inlined into it.
func (p *parser) follows(l line) bool {
	if !l.ranged || p.size() == p.class.first {
		return false
	}
	before := p.m.lines[len(p.m.lines)-1]
	return before.ranged && before.name == l.name && before.from == l.from && before.to == l.to
}

// positions parses up to two numbers, each followed by a colon.
func positions(text []byte) (from, to uint32, n int, rest []byte) {
	rest = text
	for n < 2 {
		number, more, ok := bytes.Cut(rest, []byte(":"))
		value, isNumber := position(bytes.TrimSpace(number))
		if !ok || !isNumber {
			break
		}
		rest = more
		if n++; n == 1 {
			from = value
		}
		to = value
	}
	return from, to, n, rest
}

// position parses a number of at most 31 bits.
func position(text []byte) (uint32, bool) {
	if len(text) == 0 || len(text) > 10 {
		return 0, false
	}
	value := uint64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = value*10 + uint64(c-'0')
	}
	return uint32(min(value, math.MaxInt32)), value <= math.MaxInt32
}

// name returns the id of a name, each kept once; 0 if there is no room.
func (p *parser) name(text []byte) uint32 {
	if id, ok := p.m.ids[string(text)]; ok {
		return id
	}
	if p.bytes+len(text) > MaxNames {
		p.full = true
		return 0
	}
	p.bytes += len(text)
	name := string(text)
	id := uint32(len(p.m.names))
	p.m.ids[name] = id
	p.m.names = append(p.m.names, strings.ToValidUTF8(name, "�"))
	return id
}

func spaceless(text []byte) []byte {
	if bytes.IndexByte(text, ' ') < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte(" "), nil)
}
