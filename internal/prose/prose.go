// Package prose builds the small parts of sentences that every other package needs: a text cut to a
// length, a noun that agrees with its number, a list with an "and".
//
// Lengths are counted in characters, so that none is split, and a cut is marked by an ellipsis or a
// count of the rest. It does not escape hostile text, which its writers do for their output.
package prose

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Clip cuts s to at most that many characters, the last one an ellipsis if it was cut; "" if there
// is no room at all.
func Clip(s string, most int) string {
	if most < 1 {
		return ""
	}
	if _, all := first(s, most); all {
		return s
	}
	cut, _ := first(s, most-1)
	return cut + "…"
}

// Short is Clip at a length that leaves room for the rest of a message.
func Short(s string) string {
	const most = 81
	return Clip(s, most)
}

// Fit returns s as valid UTF-8 in at most that many bytes, with an ellipsis if it was cut: for
// texts with a limit in bytes, such as those of a record. "" if there is no room for the ellipsis.
func Fit(s string, most int) string {
	const ellipsis = "…"
	if s = strings.ToValidUTF8(s, "\uFFFD"); len(s) <= most {
		return s
	}
	if most < len(ellipsis) {
		return ""
	}
	return strings.ToValidUTF8(s[:most-len(ellipsis)], "") + ellipsis
}

// Quote returns s in quotation marks as Go writes it; if it is longer, so many characters, with an
// ellipsis after the marks.
func Quote(s string, most int) string {
	cut, all := first(s, most)
	if all {
		return strconv.Quote(s)
	}
	return strconv.Quote(cut) + "…"
}

// first returns so many characters of s, and whether that is all of it.
func first(s string, n int) (string, bool) {
	for i := range s {
		if n == 0 {
			return s[:i], false
		}
		n--
	}
	return s, true
}

// Plural returns the word that agrees with the number: Plural(1, "run", "runs").
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Count returns a number with its noun: "1 run", "5 runs", "500,000 runs".
func Count(n int, one, many string) string {
	return Thousands(n) + " " + Plural(n, one, many)
}

// Thousands formats 500000 as "500,000"; up to four digits stay as they are.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && n >= 10_000; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Duration formats a duration for people: "1h" and "5m", where its String has 1h0m0s.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// List joins with commas and a last "and".
func List(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// Few is List, cut after so many items: "a, b and 3 more".
func Few(items []string, most int) string {
	shown, more := First(items, most)
	if more == 0 {
		return List(items)
	}
	return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", more)
}

// First returns the first items, at most so many, and how many more there are.
func First(items []string, most int) (shown []string, more int) {
	n := min(len(items), most)
	return items[:n:n], len(items) - n
}

// OneLine replaces each run of blanks, line breaks and control characters by one space, and trims
// the text.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
}
