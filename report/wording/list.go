package wording

import (
	"strings"
	"unicode/utf8"
)

// Dash stands for a cell that is empty.
func Dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// UpperFirst begins a heading with a capital letter, where it begins with one of
// ours.
func UpperFirst(s string) string {
	if s == "" || s[0] >= utf8.RuneSelf {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// IsOrAre goes with the title of a metric: "the CPU time is", "the frozen frames are",
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
