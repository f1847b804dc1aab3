package marks

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

// Question is the line to a shell that reads its standard input, to which this is one of
// many:
//
//	echo MARK; echo MARK >&2; { COMMAND; } </dev/null; echo MARK$?; echo MARK >&2
//
// The command runs in the shell itself, since a subshell is a process too. So it has to be
// one that can't change it: see AsksOnly.
func Question(command, mark string) string {
	return fmt.Sprintf("echo %[2]s; echo %[2]s >&2; { %[1]s; } </dev/null; echo %[2]s$?; echo %[2]s >&2\n", command, mark)
}

// AsksOnly reports whether a command line leaves the shell that runs it as it was: whether
// it is a list of programs that only tell something, with plain or quoted words, and
// without assignments, expansions but $$, files, groups and what runs in the background.
func AsksOnly(command string) bool { return askingLine.MatchString(command) }

var askingLine = func() *regexp.Regexp {
	const (
		word    = `(?:[A-Za-z0-9_./:,@%+=-]|'[^'\n\x00]*')+`
		away    = `(?:2?>/dev/null|2>&1)`
		command = `(?:cat|dumpsys|echo|getprop|logcat|pidof)(?: +(?:` + word + `|` + away + `|\$\$))*`
	)
	return regexp.MustCompile(`^` + command + `(?: *(?:;|\|\||&&) *` + command + `)*$`)
}()

// ErrOutOfStep says that an output is not that of the question.
var ErrOutOfStep = errors.New("the shell says what nobody asked for")

// Between is what one output has between a line that is the mark and the mark again, which
// begins anywhere and ends with its line.
type Between struct {
	Mark  string
	Text  []byte // with the first mark, until it is whole
	End   string // what is behind the second mark in its line
	Whole bool

	from int // where in the text the second mark may begin
}

// Add takes more of the output. What is before the first mark or behind the second is
// ErrOutOfStep.
func (b *Between) Add(more []byte) error {
	if len(more) == 0 {
		return nil
	}
	if b.Whole {
		return ErrOutOfStep
	}
	b.Text = append(b.Text, more...)
	first := b.Mark + "\n"
	if n := min(len(b.Text), len(first)); string(b.Text[:n]) != first[:n] {
		return ErrOutOfStep
	}
	b.from = max(b.from, len(first))
	if len(b.Text) <= b.from {
		return nil
	}
	at := bytes.Index(b.Text[b.from:], []byte(b.Mark))
	if at < 0 {
		b.from = max(b.from, len(b.Text)-len(b.Mark)+1)
		return nil
	}
	b.from += at
	end, rest, whole := bytes.Cut(b.Text[b.from+len(b.Mark):], []byte("\n"))
	switch {
	case len(end) > len("255"), len(rest) > 0:
		return ErrOutOfStep
	case whole:
		b.End, b.Whole, b.Text = string(end), true, b.Text[len(first):b.from]
	}
	return nil
}

// Len is how many bytes are known to be between the marks.
func (b *Between) Len() int {
	if b.Whole {
		return len(b.Text)
	}
	return max(b.from-len(b.Mark)-1, 0)
}
