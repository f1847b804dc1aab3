package gradle

import (
	"errors"
	"strings"
)

// kind is the kind of a token.
type kind int

const (
	word kind = iota // a name or a number
	text             // a text between quotes, without them
	sign             // any other character
	line             // the end of a line, or a semicolon
)

// token is a token of a build file.
type token struct {
	kind kind
	text string
	// built reports that a text contains expressions, so that it is unknown.
	built bool
}

// maxTokens limits those of one file.
const maxTokens = 200_000

var errTokens = errors.New("it has more words than a build file")

// tokens splits the text of a build file into tokens, without its comments.
func tokens(src string) (out []token, err error) {
	for len(src) > 0 {
		if len(out) >= maxTokens {
			return nil, errTokens
		}
		var t token
		n := 1
		switch c := src[0]; {
		case strings.HasPrefix(src, "//"):
			if n = strings.IndexByte(src, '\n'); n < 0 {
				n = len(src)
			}
			src = src[n:]
			continue
		case strings.HasPrefix(src, "/*"):
			if n = strings.Index(src[2:], "*/"); n < 0 {
				n = len(src) - 4
			}
			src = src[n+4:]
			continue
		case c == '"' || c == '\'':
			t, n = quoted(src)
		case c == '\n' || c == ';':
			if len(out) > 0 && out[len(out)-1].kind == line {
				src = src[1:]
				continue
			}
			t = token{kind: line}
		case isWord(c):
			for n < len(src) && isWord(src[n]) {
				n++
			}
			t = token{kind: word, text: src[:n]}
		case c == ' ' || c == '\t' || c == '\r' || c == '`':
			src = src[1:]
			continue
		default:
			t = token{kind: sign, text: src[:1]}
		}
		out, src = append(out, t), src[n:]
	}
	return out, nil
}

func isWord(c byte) bool {
	return c == '_' || c == '@' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// quoted reads a text between one or three quotes of a kind. A quote that is not closed in its line
// is a sign: it may be part of a regular expression.
func quoted(src string) (t token, n int) {
	quote := src[:1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(src, long) {
		quote = long
	}
	for at := len(quote); at < len(src); at++ {
		switch {
		case strings.HasPrefix(src[at:], quote):
			in := src[len(quote):at]
			built := strings.Contains(in, "\\") || quote[0] == '"' && strings.Contains(in, "$")
			return token{kind: text, text: in, built: built}, at + len(quote)
		case src[at] == '\\' && len(quote) == 1:
			at++
		case quote[0] == '"' && strings.HasPrefix(src[at:], "${"):
			at += expression(src[at:]) - 1
		case len(quote) == 1 && (src[at] == '\n' || at > maxText):
			return token{kind: sign, text: quote}, 1
		}
	}
	return token{kind: sign, text: quote}, len(quote)
}

// maxText limits a text that has to end in its line, and an expression within a text: what is not
// closed would else be searched to the end of the file again and again.
const maxText = 1000 // bytes

// expression returns the length of ${…}, including nested braces; that of its beginning if it has
// no end.
func expression(src string) int {
	depth := 0
	for i := range min(len(src), maxText) {
		switch src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len("${")
}
