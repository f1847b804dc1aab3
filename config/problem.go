package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxProblems limits how many problems of one file are reported; the rest are counted.
const maxProblems = 100

// Problem is one error in a configuration.
type Problem struct {
	File string
	// Line and Column count from 1, columns in characters. Both are 0 where the
	// problem has no place in the file.
	Line, Column int
	// Path names the value: "scenarios[0].workload"; "" for the whole file.
	Path string
	// Text says what is wrong and what is allowed.
	Text string
	// Hint is what may fix it; often "".
	Hint string
	// Err is the error behind the problem, where there is one.
	Err error
}

// String returns the problem in one line without its hint: "apkgate.yml:12:5:
// scenarios[0].workload: unknown key …".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Path != "" {
		b.WriteString(": " + p.Path)
	}
	return b.String() + ": " + p.Text
}

// Problems is the error of Load: all problems, in the order of the file.
type Problems []Problem

// Error returns one line for each problem, each followed by its hint, if any, on an indented line.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
		if p.Hint != "" {
			b.WriteString("\n    hint: " + p.Hint)
		}
	}
	return b.String()
}

// Unwrap returns the errors behind the problems, so that errors.Is finds fs.ErrNotExist where the
// file is missing.
func (ps Problems) Unwrap() []error {
	var errs []error
	for _, p := range ps {
		if p.Err != nil {
			errs = append(errs, p.Err)
		}
	}
	return errs
}

// sorted returns the problems in the order of the file. One that occurs again through an alias is
// reported once.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Text == b.Text
	})
}
