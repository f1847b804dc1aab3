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
				return nil, errors.New("a comment has no end")
			}
			src = src[n+4:]
			continue
		case c == '"' || c == '\'':
			if t, n, err = quoted(src); err != nil {
				return nil, err
			}
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

// quoted reads a text between one or three quotes of a kind.
func quoted(src string) (t token, n int, err error) {
	quote := src[:1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(src, long) {
		quote = long
	}
	for at := len(quote); at < len(src); at++ {
		switch {
		case strings.HasPrefix(src[at:], quote):
			in := src[len(quote):at]
			built := strings.Contains(in, "\\") || quote[0] == '"' && strings.Contains(in, "$")
			return token{kind: text, text: in, built: built}, at + len(quote), nil
		case src[at] == '\\' && len(quote) == 1:
			at++
		case quote[0] == '"' && strings.HasPrefix(src[at:], "${"):
			at += expression(src[at:]) - 1
		case src[at] == '\n' && len(quote) == 1:
			return token{}, 0, errors.New("a text has no end in its line")
		}
	}
	return token{}, 0, errors.New("a text has no end")
}

// expression returns the length of ${…}, including nested braces; all of the source if it has no
// end.
func expression(src string) int {
	depth := 0
	for i := range len(src) {
		switch src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(src)
}
