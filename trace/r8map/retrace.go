package r8map

import (
	"slices"
	"sort"
	"strings"
)

// Retrace returns what a place in the compiled code was in the source: each possibility with its
// frames, the innermost first. It returns nil if the mapping does not have the class, and one
// possibility in most cases. A method that the mapping does not have keeps its name.
//
// With a line, a possibility has all the frames that were inlined there. Without one, it has those
// that every line of the method has, at least the method itself: R8's own retrace takes a missing
// line for one that the compiler left out, whereas a profile merely lacks it.
//
// Several methods that were given one name are distinguished by their arguments, if the place has
// them.
func (m *Map) Retrace(p Place) [][]Frame {
	c, ok := m.class(p.Class)
	if !ok {
		return nil
	}
	kept := [][]Frame{{m.kept(c, p)}}
	id, ok := m.lookup(p.Method)
	if !ok {
		return kept
	}
	stacks := m.stacks(c, id)
	if p.Args != "" {
		stacks = m.withArgs(c, stacks, p.Args)
	}
	if p.Line > 0 {
		stacks = at(stacks, p.Line)
	}
	var out [][]Frame
	for _, same := range m.byMethod(stacks) {
		if p.Line > 0 {
			for _, s := range same {
				out = append(out, m.frames(c, s, p.Line))
			}
			continue
		}
		out = append(out, m.shared(c, same))
	}
	if len(out) == 0 {
		return kept
	}
	return out
}

// kept returns the frame of a method that the mapping does not have.
func (m *Map) kept(c class, p Place) Frame {
	return Frame{Class: m.names[c.original], Method: p.Method, Args: p.Args, File: m.names[c.file],
		Line: max(p.Line, 0), Synthesized: c.synthesized}
}

// stack is the lines of one range: a method and those inlined into it, the innermost first.
type stack []line

// method returns the method itself, the outermost frame.
func (s stack) method() line { return s[len(s)-1] }

// stacks returns the ranges of a compiled method, of its first MaxRanges lines.
func (m *Map) stacks(c class, name uint32) []stack {
	lines := m.lines[c.first:c.end]
	first := sort.Search(len(lines), func(i int) bool { return lines[i].name >= name })
	var out []stack
	for i := first; i < min(len(lines), first+MaxRanges) && lines[i].name == name; i++ {
		if n := len(out) - 1; n >= 0 && lines[i].caller {
			out[n] = append(out[n], lines[i])
			continue
		}
		out = append(out, lines[i:i+1:i+1])
	}
	return out
}

// at returns the stacks whose range has the line, or else those without a range.
func at(stacks []stack, position int) []stack {
	var in, whole []stack
	for _, s := range stacks {
		l := s.method()
		switch {
		case !l.ranged:
			whole = append(whole, s)
		case position >= int(l.from) && position <= int(l.to):
			in = append(in, s)
		}
	}
	if len(in) > 0 {
		return in
	}
	return whole
}

// byMethod groups stacks by method of the source, in the file's order.
func (m *Map) byMethod(stacks []stack) [][]stack {
	type method struct{ class, name, args uint32 }
	places := map[method]int{}
	var out [][]stack
	for _, s := range stacks {
		l := s.method()
		key := method{l.class, l.method, l.args}
		i, ok := places[key]
		if !ok {
			i = len(out)
			places[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}

// withArgs returns the stacks of the methods that have these arguments, all if none has.
func (m *Map) withArgs(c class, stacks []stack, args string) []stack {
	args = strings.ReplaceAll(args, " ", "")
	source := m.sourceArgs(args)
	var out []stack
	for _, same := range m.byMethod(stacks) {
		residual := ""
		for _, s := range same {
			for _, l := range s {
				if l.residual != 0 {
					residual = m.names[l.residual]
				}
			}
		}
		if residual == args || residual == "" && m.names[same[0].method().args] == source {
			out = append(out, same...)
		}
	}
	if len(out) == 0 {
		return stacks
	}
	return out
}

// sourceArgs returns arguments with the classes' names in the source.
func (m *Map) sourceArgs(args string) string {
	types := strings.Split(strings.Trim(args, "()"), ",")
	for i, t := range types {
		name := strings.TrimRight(t, "[]")
		if original, ok := m.Class(name); ok {
			types[i] = original + t[len(name):]
		}
	}
	return "(" + strings.Join(types, ",") + ")"
}

// frames returns the frames of a stack at a compiled line.
func (m *Map) frames(c class, s stack, position int) []Frame {
	out := make([]Frame, len(s))
	for i, l := range s {
		out[i] = m.frame(c, l)
		out[i].Line = l.source(position)
	}
	return out
}

// shared returns the outermost frames that all stacks of a method have in common, with the lines in
// which they agree.
func (m *Map) shared(c class, stacks []stack) []Frame {
	var out []Frame
	for i, s := range stacks {
		frames := make([]Frame, len(s))
		for j, l := range s {
			frames[j] = m.frame(c, l)
			frames[j].Line = l.only()
		}
		slices.Reverse(frames)
		if i == 0 {
			out = frames
			continue
		}
		out = agreeing(out, frames)
	}
	slices.Reverse(out)
	return out
}

// agreeing returns the common prefix of two lists of frames.
func agreeing(a, b []Frame) []Frame {
	n := 0
	for n < min(len(a), len(b)) && a[n].sameMethod(b[n]) {
		if a[n].Line != b[n].Line {
			a[n].Line = 0
		}
		a[n].Synthesized = a[n].Synthesized || b[n].Synthesized
		a[n].Outline = a[n].Outline || b[n].Outline
		n++
	}
	return a[:n]
}

func (f Frame) sameMethod(g Frame) bool {
	return f.Class == g.Class && f.Method == g.Method && f.Args == g.Args
}

func (m *Map) frame(c class, l line) Frame {
	f := Frame{Class: m.names[c.original], Method: m.names[l.method], Args: m.names[l.args], File: m.names[c.file],
		Synthesized: l.synthesized || c.synthesized, Outline: l.outline}
	if l.class != 0 {
		f.Class, f.File = m.names[l.class], m.names[m.files[l.class]]
	}
	return f
}

// source returns the source line of a compiled line. Where the mapping gives none, lines were not
// changed.
func (l line) source(position int) int {
	switch {
	case !l.hasSource:
		return position
	case !l.ranged || l.from == 0 && l.to == catchAll:
		return int(l.start)
	}
	return min(int(l.start)+position-int(l.from), int(l.end))
}

// only returns the only possible source line, 0 if there are several.
func (l line) only() int {
	switch {
	case l.hasSource && (l.start == l.end || l.from == 0 && l.to == catchAll):
		return int(l.start)
	case !l.hasSource && l.ranged && l.from == l.to:
		return int(l.from)
	}
	return 0
}

// catchAll is the end of the range that R8 writes for a method with one line.
const catchAll = 65535
