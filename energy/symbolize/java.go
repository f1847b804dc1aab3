package symbolize

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

// deduped marks a symbol of an .oat file whose code several methods share; the symbol names one of
// them.
const deduped = " [DEDUPED]"

// javaMethod parses a symbol of Java code: "a.b.c", or, for JIT-compiled code, "void a.b.c(int,
// a.d)". ok is false for other symbols, such as the trampolines of ART.
func javaMethod(symbol string) (p r8map.Place, ok bool) {
	symbol = strings.TrimSuffix(symbol, deduped)
	name, args, signed := strings.Cut(symbol, "(")
	if signed {
		p.Args = "(" + args
		name = name[strings.LastIndexByte(name, ' ')+1:]
	}
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || dot == len(name)-1 || strings.ContainsRune(name, ' ') {
		return r8map.Place{}, false
	}
	p.Class, p.Method = name[:dot], name[dot+1:]
	return p, true
}

// java names a frame of Java code.
func (n *naming) java(p r8map.Place, kind simpleperf.Kind) []methods.Frame {
	var possible [][]r8map.Frame
	if n.mapping != nil {
		possible = n.mapping.Retrace(p)
	}
	possible = distinct(possible)
	switch len(possible) {
	case 0:
		return []methods.Frame{{Name: clean(p.Class + "." + p.Method), Kind: kind}}
	case 1:
		out := make([]methods.Frame, len(possible[0]))
		for i, f := range possible[0] {
			out[i] = methods.Frame{Name: clean(f.Class + "." + f.Method), Kind: kind, Line: f.Line}
		}
		return out
	}
	return []methods.Frame{{Name: clean(anyOf(possible)), Kind: kind}}
}

// distinct keeps one of several possibilities that differ only in arguments or lines: overloads of
// a method, with the frames that both have in common.
func distinct(possible [][]r8map.Frame) [][]r8map.Frame {
	type method struct{ class, name string }
	var out [][]r8map.Frame
	places := map[method]int{}
	for _, frames := range possible {
		outer := frames[len(frames)-1]
		at, known := places[method{outer.Class, outer.Method}]
		if !known {
			places[method{outer.Class, outer.Method}] = len(out)
			out = append(out, slices.Clone(frames))
			continue
		}
		out[at] = common(out[at], frames)
	}
	return out
}

// common returns the outermost frames that both lists have, without lines that differ.
func common(a, b []r8map.Frame) []r8map.Frame {
	n := 0
	for n < min(len(a), len(b)) && sameName(a[len(a)-1-n], b[len(b)-1-n]) {
		f := &a[len(a)-1-n]
		if f.Line != b[len(b)-1-n].Line {
			f.Line = 0
		}
		n++
	}
	return a[len(a)-n:]
}

func sameName(a, b r8map.Frame) bool { return a.Class == b.Class && a.Method == b.Method }

// anyOf returns a name for several possible methods, in the mapping's order.
func anyOf(possible [][]r8map.Frame) string {
	const shown = 4
	var out strings.Builder
	class := ""
	for i, frames := range possible {
		if i == shown {
			out.WriteString("|…")
			break
		}
		f := frames[len(frames)-1]
		if i > 0 {
			out.WriteByte('|')
		}
		if f.Class != class {
			out.WriteString(f.Class + ".")
			class = f.Class
		}
		out.WriteString(f.Method)
	}
	return out.String()
}
