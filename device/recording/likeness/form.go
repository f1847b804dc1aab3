// Package likeness holds a recording against another device, as a simulated phone: the
// same is asked of it in the same order, and each pair of answers is compared.
//
// It owns what counts as alike: exact, by shape (the same lines, keys and columns with
// other values), or unlike. It does not say which of the two is right.
package likeness

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/internal/words"
)

// Like is how an answer compares with another.
type Like int

// How two answers compare; what was asked several times is as like as its worst pair.
const (
	Exact Like = iota
	Shape
	Unlike
)

// String is the word for it in a table.
func (l Like) String() string { return [...]string{"exact", "by shape", "unlike"}[l] }

var (
	uuid       = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	identity   = regexp.MustCompile(`@[0-9a-f]{4,8}\b|\b0x[0-9a-fA-F]+`)
	number     = regexp.MustCompile(`[-+]?\d+(?:\.\d+)?`)
	numbers    = regexp.MustCompile(`#(?:#|:#|\.#)+`)
	property   = regexp.MustCompile(`^(\[[^\]]+\]: )\[.*\]$`)
	isTrue     = regexp.MustCompile(`\b(?:true|false)\b`)
	whitespace = regexp.MustCompile(`[ \t]+`)
)

// form is a line without its values: a # for each number and for what numbers are written
// as, ? for true and false, and * for the words of a value behind its key.
func form(line string) string {
	line = strings.TrimSpace(whitespace.ReplaceAllString(line, " "))
	if m := property.FindStringSubmatch(line); m != nil {
		return m[1] + "[*]"
	}
	line = identity.ReplaceAllString(uuid.ReplaceAllString(line, "#"), "#")
	line = numbers.ReplaceAllString(number.ReplaceAllString(line, "#"), "#")
	line = isTrue.ReplaceAllString(line, "?")
	for _, between := range []string{": ", "="} {
		key, value, found := strings.Cut(line, between)
		if found && value != "" && !strings.ContainsAny(value, ",;(") && !strings.ContainsAny(value, "#?") {
			return key + between + "*"
		}
	}
	return line
}

// forms are those of a text's lines, each once, in their order; names are replaced by what
// they stand for.
func forms(text string, names *strings.Replacer) (list []string, has map[string]bool) {
	const most = 20_000
	has = map[string]bool{}
	for line := range strings.Lines(names.Replace(text)) {
		f := form(line)
		if f == "" || has[f] {
			continue
		}
		if len(list) == most {
			break
		}
		list, has[f] = append(list, f), true
	}
	return list, has
}

// Answer is what a device said.
type Answer struct {
	Text   []byte
	Exit   int
	Failed string // the error, "" for none
}

// compare compares two answers; why is how they are unlike.
func compare(was, is Answer, names *strings.Replacer) (like Like, why string) {
	switch {
	case was.Failed != "" && is.Failed != "":
		return Shape, ""
	case was.Failed != "" || is.Failed != "":
		return Unlike, fmt.Sprintf("one is an error: %q here, %q there", words.Short(was.Failed), words.Short(is.Failed))
	case was.Exit != is.Exit:
		return Unlike, fmt.Sprintf("exit status %d, %d there", was.Exit, is.Exit)
	case string(was.Text) == string(is.Text):
		return Exact, ""
	}
	if binary(was.Text) || binary(is.Text) {
		return compareBinary(was.Text, is.Text)
	}
	its, inIts := forms(string(was.Text), names)
	others, inOthers := forms(string(is.Text), names)
	missing, more := absent(its, inOthers), absent(others, inIts)
	if len(missing) == 0 && len(more) == 0 {
		return Shape, ""
	}
	why = fmt.Sprintf("%d of %s of lines in common", len(its)-len(missing), words.Count(len(its), "form", "forms"))
	if len(missing) > 0 {
		why += fmt.Sprintf("; not there: %q", words.Short(missing[0]))
	}
	if len(more) > 0 {
		why += fmt.Sprintf("; there alone (%d): %q", len(more), words.Short(more[0]))
	}
	return Unlike, why
}

// absent are the forms that another text lacks.
func absent(list []string, has map[string]bool) (out []string) {
	for _, f := range list {
		if !has[f] {
			out = append(out, f)
		}
	}
	return out
}

func binary(text []byte) bool { return strings.IndexByte(string(text[:min(len(text), 4096)]), 0) >= 0 }

// compareBinary compares files that are no text by how they begin.
func compareBinary(was, is []byte) (Like, string) {
	if len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		return Shape, ""
	}
	return Unlike, fmt.Sprintf("files of %d and %d bytes that begin otherwise", len(was), len(is))
}
