package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
)

// MaxName is the maximum length in runes of a name in a report: an event, a property, a title.
const MaxName = 120

// Name makes untrusted text safe to show on one line: control characters, line breaks, terminal
// escapes and characters that reorder or hide text become a visible mark, and the text is cut at
// MaxName. It is the first step of every renderer; escaping for the renderer's own language comes
// after it.
func Name(s string) string { return prose.Clip(Visible(s), MaxName) }

// Brief is Name for a table cell.
func Brief(s string) string { return prose.Clip(Visible(s), 40) }

// Sentence is Name for longer text: reasons, hints, warnings, notes.
func Sentence(s string) string { return prose.Clip(Visible(s), 600) }

// Visible makes untrusted text safe for one line: each run of characters that are invisible or act
// on a terminal becomes a mark.
func Visible(s string) string {
	const mark = '\uFFFD'
	var b strings.Builder
	last := ' '
	for _, r := range strings.TrimSpace(s) {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			r = ' '
		case !shown(r):
			r = mark
		}
		if r == last && (r == ' ' || r == mark) {
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return strings.TrimSpace(b.String())
}

// Exact replaces each invisible character, and each that acts on a terminal, by a mark, and each
// line end and tab by a space: every other character, including spaces, stays in its place. It is
// for a cell of data that others compute with.
func Exact(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case !shown(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// shown reports whether a character has a form of its own on one line. Cc are controls (including
// ESC), Cf marks that reorder or hide text, Zl and Zp line ends; Co and Cs have no agreed form.
func shown(r rune) bool {
	return r != utf8.RuneError && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}
