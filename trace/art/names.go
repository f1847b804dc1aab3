package art

import "strings"

// A trace's names are those of code and of threads. What an app could put there at run time, such
// as the name of a section or an address, is not taken: a trace shows what ran, and no values.

// named reports whether a method's names can be those of code (SimpleName in the format of DEX
// files; names with spaces, which it allows, are not taken either). What else its line has is left
// out if it can't be a signature or a file of sources.
func (m *Method) named() bool {
	if !isMember(m.Signature, "()[;/") {
		m.Signature = ""
	}
	if !isMember(m.File, "") {
		m.File, m.Line = "", 0
	}
	return isMember(m.Class, "[]") && isMember(m.Name, "")
}

// isMember reports whether a text consists of what names of DEX files consist of, of dots, of <> as
// in <init>, and of what is also allowed.
func isMember(s, also string) bool {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("$-_.<>", r), strings.ContainsRune(also, r):
		case r >= 0xa1 && r <= 0x1fff, r >= 0x2010 && r <= 0x2027, r >= 0x2030 && r <= 0xd7ff, r >= 0xe000 && r <= 0xffef, r > 0xffff:
		default:
			return false
		}
	}
	return true
}

// threadName is a thread's name, with "…" for words that hold a value: some libraries name their
// threads after what they work on, as OkHttp after an address.
func threadName(name string) string {
	if !strings.ContainsAny(name, valueSigns) {
		return name
	}
	words := strings.Split(name, " ")
	for i, word := range words {
		if strings.ContainsAny(word, valueSigns) {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ")
}

// valueSigns are in addresses, paths, assignments and quotes, and in no usual name of a thread.
const valueSigns = "=@?&%/\\'\""
