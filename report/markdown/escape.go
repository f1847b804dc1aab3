package markdown

import (
	"strings"
	"unicode"

	"github.com/apkgate/apkgate/report/wording"
)

// zeroWidth is a zero-width space. GitHub, GitLab and Gitea look for mentions, references and addresses
// in the rendered text, where a backslash is gone and this is not.
const zeroWidth = "&#8203;"

// Escape escapes plain text for one line of GitHub's, GitLab's and Gitea's Markdown: in a heading, a
// paragraph, a list item or a table cell, it renders as itself. It can't open a tag, a link, a code
// span, emphasis, a formula or another cell, and mentions nobody.
func Escape(s string) string {
	var b strings.Builder
	runes := []rune(wording.Visible(s))
	for i, r := range runes {
		next := func(is func(rune) bool) bool { return i+1 < len(runes) && is(runes[i+1]) }
		switch r {
		case '&':
			b.WriteString("&amp;")
			if next(unicode.IsDigit) { // an epic of GitLab
				b.WriteString(zeroWidth)
			}
		case '%':
			b.WriteRune(r)
			if next(isWord) || next(isQuote) { // a milestone of GitLab
				b.WriteString(zeroWidth)
			}
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&quot;")
		case '$':
			b.WriteString("<span>$</span>") // as documented by GitHub for formulas
		case '@':
			b.WriteString("@" + zeroWidth)
		case '#':
			b.WriteString(`\#`)
			if next(unicode.IsDigit) { // a reference: "#7"
				b.WriteString(zeroWidth)
			}
		case ':': // addresses (https://) and emoji (:name:)
			b.WriteRune(r)
			if next(isNotSpace) {
				b.WriteString(zeroWidth)
			}
		case '\\', '`', '*', '_', '[', ']', '|', '~', '!', '{', '}', '^':
			b.WriteRune('\\')
			b.WriteRune(r)
			if r == '!' && next(unicode.IsDigit) || r == '~' && next(isWord) { // a merge request; a label
				b.WriteString(zeroWidth)
			}
		case '.', ')': // "www." begins an address, "1." and "1)" a list
			switch {
			case i >= 3 && strings.EqualFold(string(runes[i-3:i]), "www"):
				b.WriteString(zeroWidth)
			case i <= 9 && allDigits(runes[:i]) && !next(isNotSpace):
				b.WriteRune('\\')
			}
			b.WriteRune(r)
		case '-', '+', '=': // these begin a list or underline a heading; "GH-7" is a reference, and "GL-7"
			if i == 0 && (r != '+' || !next(isNotSpace)) {
				b.WriteRune('\\')
			}
			b.WriteRune(r)
			if i >= 2 && (strings.EqualFold(string(runes[i-2:i]), "gh") || strings.EqualFold(string(runes[i-2:i]), "gl") && next(unicode.IsDigit)) {
				b.WriteString(zeroWidth)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// code returns plain text as a code span, from which it can be copied as it is. A backtick ends a
// span: text with one is escaped as text instead.
func code(s string) string {
	if s = wording.Visible(s); strings.ContainsRune(s, '`') || strings.TrimSpace(s) == "" {
		return Escape(s)
	}
	return "`" + s + "`"
}

// escapePre escapes plain text for one line of a <pre> element, where HTML is active but Markdown
// is not, and which may still mention somebody where it is copied.
func escapePre(s string) string {
	return inPre.Replace(s)
}

var inPre = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "@", "@"+zeroWidth, "#", "#"+zeroWidth, "://", ":"+zeroWidth+"//", wording.NBSP, " ")

func isNotSpace(r rune) bool { return !unicode.IsSpace(r) }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func isQuote(r rune) bool { return r == '"' }

func allDigits(runes []rune) bool {
	for _, r := range runes {
		if r < '0' || r > '9' {
			return false
		}
	}
	return len(runes) > 0
}
