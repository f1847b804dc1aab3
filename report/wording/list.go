package wording

import (
	"strings"
	"unicode/utf8"
)

// Dash returns a dash for an empty cell.
func Dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// UpperFirst capitalizes a heading, unless it begins with a name from outside.
func UpperFirst(s string) string {
	if s == "" || s[0] >= utf8.RuneSelf {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// LowerFirst is the opposite, within a sentence.
func LowerFirst(s string) string {
	if s == "" || s[0] >= utf8.RuneSelf {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// IsOrAre returns the verb for the title of a metric: "the CPU time is", "the frozen frames are",
// "the bytes received are".
func IsOrAre(title string) string {
	all := strings.Fields(title)
	for i, w := range all {
		if outer := i == 0 || i == len(all)-1; outer && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			return "are"
		}
	}
	return "is"
}
