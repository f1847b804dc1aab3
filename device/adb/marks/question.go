package marks

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

// Question returns the line for a shell that reads many questions from its standard input:
//
//	echo MARK; echo MARK >&2; { COMMAND; } </dev/null; echo MARK$?; echo MARK >&2
//
// The command runs in the shell itself, because a subshell would be a process. So it must be a
// command that can't change the shell: see AsksOnly.
func Question(command, mark string) string {
	return fmt.Sprintf("echo %[2]s; echo %[2]s >&2; { %[1]s; } </dev/null; echo %[2]s$?; echo %[2]s >&2\n", command, mark)
}

// AsksOnly reports whether a command line leaves the shell that runs it unchanged. Such a line
// is a list of read-only programs with plain or quoted words, without assignments, expansions
// other than $$, redirections to files, groups and background jobs.
func AsksOnly(command string) bool { return askingLine.MatchString(command) }

var askingLine = func() *regexp.Regexp {
	const (
		word    = `(?:[A-Za-z0-9_./:,@%+=-]|'[^'\n\x00]*')+`
		away    = `(?:2?>/dev/null|2>&1)`
		command = `(?:cat|dumpsys|echo|getprop|logcat|pidof)(?: +(?:` + word + `|` + away + `|\$\$))*`
	)
	return regexp.MustCompile(`^` + command + `(?: *(?:;|\|\||&&) *` + command + `)*$`)
}()

// ErrOutOfStep means that an output does not belong to the question.
var ErrOutOfStep = errors.New("the shell's output does not belong to the question")

// Between collects the part of an output between a line that is the mark and the next mark,
// which may begin anywhere and ends with its line.
type Between struct {
	Mark  string
	Text  []byte // includes the first mark until it is complete
	End   string // the rest of the line after the second mark
	Whole bool

	from int // the first offset at which the second mark may begin
}

// Add adds a piece of the output. Output before the first mark or after the second is
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

// Len returns how many bytes are known to be between the marks.
func (b *Between) Len() int {
	if b.Whole {
		return len(b.Text)
	}
	return max(b.from-len(b.Mark)-1, 0)
}
