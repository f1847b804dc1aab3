package words

import (
	"fmt"
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

// List joins with commas and a last "and".
func List(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// Few is List, cut after n items.
func Few(items []string, n int) string {
	if len(items) <= n {
		return List(items)
	}
	return strings.Join(items[:n], ", ") + fmt.Sprintf(" and %d more", len(items)-n)
}

// Count is "1 run", "5 runs".
func Count(n int, one, many string) string { return Thousands(n) + " " + Plural(n, one, many) }

// Plural is the word for one or for many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// IsOrAre goes with the title of a metric: "the CPU time is", "the frozen frames are",
// "the bytes received are".
func IsOrAre(title string) string {
	words := strings.Fields(title)
	for i, w := range words {
		if outer := i == 0 || i == len(words)-1; outer && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			return "are"
		}
	}
	return "is"
}
