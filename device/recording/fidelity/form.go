// Package fidelity compares a recording with another device, such as a simulated phone: the
// same questions are sent in the same order, and each pair of answers is compared.
//
// It owns what counts as alike: exact, by shape (the same lines, keys and columns with other
// values), or unlike. It does not judge which of the two is right.
package fidelity

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Like is the result of comparing two answers.
type Like int

// The results of a comparison. A question that was sent several times has the result of its
// worst pair.
const (
	Exact Like = iota
	Shape
	Unlike
)

// String is the word for a table.
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

// form is a line without its values: # replaces each number and each sequence of numbers (a
// date, a time, a version), ? replaces true and false, and * a package and the words of a
// value after its key.
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

// forms returns the forms of a text's lines, each once, in order.
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

// Answer is a device's answer.
type Answer struct {
	Text   []byte
	Exit   int
	Failed string // the error, "" for none
}

// Forms counts the forms of lines in two answers that are text.
type Forms struct {
	Of     int `json:"of"`     // of the recorded answer
	Common int `json:"common"` // of these, in the other answer too
	Alone  int `json:"alone"`  // in the other answer alone
	// Lacking and More are the first forms that only one of the two has.
	Lacking []string `json:"lacking,omitempty"`
	More    []string `json:"more,omitempty"`
}

// listed limits how many forms are listed.
const listed = 20

// compare compares two answers; why describes the difference.
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

// absent returns the forms that another text lacks.
func absent(list []string, has map[string]bool) (out []string) {
	for _, f := range list {
		if !has[f] {
			out = append(out, f)
		}
	}
	return out
}

func binary(text []byte) bool { return strings.IndexByte(string(text[:min(len(text), 4096)]), 0) >= 0 }

// compareBinary compares binary files by their beginning.
func compareBinary(was, is []byte) (Like, string) {
	if string(was) == string(is) {
		return Exact, ""
	}
	if len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		return Shape, ""
	}
	return Unlike, fmt.Sprintf("files of %d and %d bytes with different beginnings", len(was), len(is))
}
