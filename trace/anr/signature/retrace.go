package signature

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/r8map"
)

// "a.b.c(SourceFile:12)", "a.b.c(Unknown Source:3)", "a.b.c(Native method)": the text in the
// brackets is of the compiled code, so only its number counts.
var javaFrame = regexp.MustCompile(`^(?:at )?([\w$.-]+)\.([\w$<>-]+)\(([^)]*)\)$`)

// retrace replaces the names on the stacks by those of the source. A frame with inlined methods
// becomes several frames; an outlined or synthesized one is dropped. A frame with several possible
// methods keeps its name.
func retrace(a *run.ANR, names *r8map.Map) {
	for i := range a.Threads {
		t := &a.Threads[i]
		var out []string
		tells := 0
		for j, text := range t.Stack {
			if j+1 == t.Tells {
				tells = len(out) + 1
			}
			out = append(out, Retraced(text, names)...)
		}
		t.Stack = out[:min(len(out), run.MaxStack)]
		if t.Tells = tells; tells > len(t.Stack) {
			t.Tells = 0
		}
	}
}

// Retraced returns the frames of the source for a line of a stack: several where methods were
// inlined, none for code of the compiler's own, and the line itself where the mapping does not tell.
func Retraced(text string, names *r8map.Map) []string {
	m := javaFrame.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return []string{text}
	}
	line := 0
	if _, number, ok := strings.Cut(m[3], ":"); ok {
		line, _ = strconv.Atoi(number) // no number means no line
	}
	found := names.Retrace(r8map.Place{Class: m[1], Method: m[2], Line: line})
	if len(found) != 1 {
		return []string{text}
	}
	var out []string
	for _, f := range found[0] {
		if f.Outline || f.Synthesized {
			continue
		}
		file := f.File
		if file == "" {
			file = "SourceFile"
		}
		if f.Line > 0 {
			file = fmt.Sprintf("%s:%d", file, f.Line)
		}
		out = append(out, fmt.Sprintf("%s.%s(%s)", f.Class, f.Method, file))
	}
	return out
}
