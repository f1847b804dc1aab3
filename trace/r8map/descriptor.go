package r8map

import "strings"

// primitives are the types that have one letter in a descriptor.
var primitives = map[byte]string{'V': "void", 'Z': "boolean", 'B': "byte", 'S': "short",
	'C': "char", 'I': "int", 'J': "long", 'F': "float", 'D': "double"}

// Arguments converts a descriptor's arguments to the mapping's syntax: "(I[La/b;)V" to
// "(int,a.b[])".
func Arguments(descriptor string) (string, bool) {
	inside, ok := strings.CutPrefix(descriptor, "(")
	inside, _, closed := strings.Cut(inside, ")")
	if !ok || !closed {
		return "", false
	}
	var out strings.Builder
	out.WriteByte('(')
	for inside != "" {
		elements := strings.TrimLeft(inside, "[")
		dimensions := len(inside) - len(elements)
		if elements == "" || dimensions > 255 {
			return "", false
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		name, primitive := primitives[elements[0]]
		rest := elements[1:]
		if !primitive {
			var ended bool
			if name, rest, ended = strings.Cut(rest, ";"); elements[0] != 'L' || !ended || name == "" {
				return "", false
			}
		}
		out.WriteString(strings.ReplaceAll(name, "/", "."))
		out.WriteString(strings.Repeat("[]", dimensions))
		inside = rest
	}
	out.WriteByte(')')
	return out.String(), true
}
