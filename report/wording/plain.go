package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
)

// MaxName bounds in runes a name shown in a report: an event, a property, a title.
const MaxName = 120

// Name makes untrusted text fit to be shown on one line: control characters,
// line breaks, terminal escapes and characters that reorder or hide text become
// a visible mark, and what is longer than MaxName is cut. It is the first step of every
// renderer; escaping for the renderer's own language comes after it.
func Name(s string) string { return prose.Clip(Visible(s), MaxName) }

// Brief is Name for a cell of a table.
func Brief(s string) string { return prose.Clip(Visible(s), 40) }

// Sentence is Name for longer text: reasons, hints, warnings, notes.
func Sentence(s string) string { return prose.Clip(Visible(s), 600) }

// Visible makes untrusted text fit for one line: each character that a reader
// can't see or that acts on a terminal becomes a mark, and a run of them one.
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

// Exact is s with a mark for each character that a reader can't see or that acts on a
// terminal, and a blank for each end of a line and each tab: every other character, blanks
// among them, stays in its place. It is for a cell of data that others compute with.
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

// shown says whether a character has a form of its own on one line. Cc are
// controls (ESC among them), Cf marks that reorder or hide text, Zl and Zp line ends;
// Co and Cs have no agreed form.
func shown(r rune) bool {
	return r != utf8.RuneError && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}
