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

	"github.com/apkgate/apkgate/internal/prose"
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
	pkg        = regexp.MustCompile(`(?:\b(?:com|org|net|io|android)(?:\.[A-Za-z0-9_]+){1,8}|<package \d+>)(?::\w+)?`)
	whitespace = regexp.MustCompile(`[ \t]+`)
)

// form is a line without its values: a # for each number and for what numbers are written
// as, ? for true and false, and * for a package and for the words of a value behind its key.
func form(line string) string {
	line = strings.TrimSpace(whitespace.ReplaceAllString(line, " "))
	if m := property.FindStringSubmatch(line); m != nil {
		return m[1] + "[*]"
	}
	line = pkg.ReplaceAllString(line, "*")
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

// forms are those of a text's lines, each once, in their order.
func forms(text string) (list []string, has map[string]bool) {
	const most = 20_000
	has = map[string]bool{}
	for line := range strings.Lines(text) {
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

// Forms counts the forms of lines of two answers that are text.
type Forms struct {
	Of     int `json:"of"`     // of the recorded answer
	Common int `json:"common"` // of these, in the other answer too
	Alone  int `json:"alone"`  // in the other answer alone
	// Lacking and More are the first that one of the two lacks.
	Lacking []string `json:"lacking,omitempty"`
	More    []string `json:"more,omitempty"`
}

// listed bounds how many forms are listed.
const listed = 20

// compare compares two answers; why is how they are unlike.
func compare(was, is Answer) (like Like, why string, count Forms) {
	switch {
	case was.Failed != "" && is.Failed != "":
		return Shape, "", count
	case was.Failed != "" || is.Failed != "":
		return Unlike, fmt.Sprintf("one is an error: %q here, %q there", prose.Short(was.Failed), prose.Short(is.Failed)), count
	}
	if binary(was.Text) || binary(is.Text) {
		like, why = compareBinary(was.Text, is.Text)
		return like, why, count
	}
	its, inIts := forms(string(was.Text))
	others, inOthers := forms(string(is.Text))
	missing, alone := absent(its, inOthers), absent(others, inIts)
	count = Forms{len(its), len(its) - len(missing), len(alone), missing[:min(len(missing), listed)], alone[:min(len(alone), listed)]}
	switch {
	case was.Exit != is.Exit:
		return Unlike, fmt.Sprintf("exit status %d, %d there", was.Exit, is.Exit), count
	case string(was.Text) == string(is.Text):
		return Exact, "", count
	case len(missing)+len(alone) == 0:
		return Shape, "", count
	}
	why = fmt.Sprintf("%d of %s of lines in common", count.Common, prose.Count(count.Of, "form", "forms"))
	if len(missing) > 0 {
		why += fmt.Sprintf("; not there: %q", prose.Short(missing[0]))
	}
	if len(alone) > 0 {
		why += fmt.Sprintf("; there alone (%d): %q", len(alone), prose.Short(alone[0]))
	}
	return Unlike, why, count
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
	if string(was) == string(is) {
		return Exact, ""
	}
	if len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		return Shape, ""
	}
	return Unlike, fmt.Sprintf("files of %d and %d bytes that begin otherwise", len(was), len(is))
}
