package terminal

import (
	"io"
	"strings"
	"unicode/utf8"
)

// UTF8 reports whether the user's locale can show UTF-8, by the variables in the order of locale(7).
// A locale that says nothing of it, as on Windows and in most containers, is taken to.
func (c Console) UTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		value := strings.ToLower(c.Getenv(name))
		if value == "" {
			continue
		}
		_, charset, told := strings.Cut(value, ".")
		charset, _, _ = strings.Cut(charset, "@")
		if !told {
			return value != "c" && value != "posix"
		}
		return charset == "utf-8" || charset == "utf8"
	}
	return true
}

// inASCII is what stands for characters that reports have.
var inASCII = strings.NewReplacer(
	"\u00a0", " ", "…", "...", "–", "-", "—", "-", "−", "-", "→", "->", "←", "<-", "×", "x", "·", ".", "•", "*", "±", "+-", "≤", "<=", "≥", ">=", "≈", "~",
	"✓", "ok", "✗", "x", "“", "\"", "”", "\"", "‘", "'", "’", "'", "°", " deg", "µ", "u", "²", "2", "√", "sqrt ",
	"─", "-", "│", "|", "└", "`", "├", "+", "┌", "+", "┐", "+", "┘", "+", "┤", "+", "┬", "+", "┴", "+", "┼", "+", "▁", "_", "▂", ".", "▃", "-", "▄", "~", "▅", "=", "▆", "+", "▇", "*", "█", "#", "▓", "#", "▒", "=", "░", "-",
	"▲", "^", "▼", "v", "▶", ">", "◆", "*", "○", "o", "●", "*", "■", "#", "□", "o",
)

// ASCII returns a writer that writes text in ASCII: what has no likeness there becomes a question
// mark.
func ASCII(w io.Writer) io.Writer { return &ascii{w: w} }

type ascii struct {
	w    io.Writer
	part []byte // of a character whose rest comes with the next call
}

func (a *ascii) Write(p []byte) (int, error) {
	text := append(a.part, p...)
	whole := len(text)
	for i := 1; i <= utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) {
				whole = len(text) - i
			}
			break
		}
	}
	out := strings.Map(func(r rune) rune {
		if r > 0x7e {
			return '?'
		}
		return r
	}, inASCII.Replace(string(text[:whole])))
	a.part = append([]byte{}, text[whole:]...)
	if _, err := io.WriteString(a.w, out); err != nil {
		return 0, err
	}
	return len(p), nil
}
