package trace

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
)

// maxName limits a name from a trace in bytes: a slice may contain a whole query.
const maxName = 200

// Label bounds a name from a trace, as valid text.
func Label(s string) string { return prose.Fit(s, maxName) }

// Folded returns the name of a thread, bounded, with "#" in place of counters: threads of a pool
// become one. A number after a letter is part of a word, as in "dex2oat64".
func Folded(s string) string {
	return digits(Label(s), func(before, _ string) bool {
		last, _ := utf8.DecodeLastRuneInString(before)
		return !unicode.IsLetter(last)
	})
}

// Uncounted returns the name of a slice, bounded, without the numbers that count frames and
// buffers: long ones, and those that stand alone. "type=3" stays.
func Uncounted(s string) string {
	return digits(Label(s), func(before, number string) bool {
		return len(number) > 3 || strings.HasSuffix(before, " ") || strings.HasSuffix(before, "#")
	})
}

// digits replaces numbers for which goes is true by "#".
func digits(s string, goes func(before, number string) bool) string {
	var out strings.Builder
	for s != "" {
		from := strings.IndexAny(s, "0123456789")
		if from < 0 {
			from = len(s)
		}
		out.WriteString(s[:from])
		to := from
		for to < len(s) && s[to] >= '0' && s[to] <= '9' {
			to++
		}
		if to > from && goes(out.String(), s[from:to]) {
			out.WriteString("#")
		} else {
			out.WriteString(s[from:to])
		}
		s = s[to:]
	}
	return out.String()
}
