package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxProblems bounds how many problems of one file are told; the rest are counted.
const maxProblems = 100

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	File string
	// Line and Column count from 1, columns in characters. Both are 0 where the
	// problem has no place in the file.
	Line, Column int
	// Path names the value: "scenarios[0].workload"; "" for the whole file.
	Path string
	// Text says what is wrong and what is allowed.
	Text string
	// Hint says what may mend it; often "".
	Hint string
	// Err is the error behind the problem, where there is one.
	Err error
}

// String is the problem in one line without its hint:
// "apkgate.yml:12:5: scenarios[0].workload: unknown key …".
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

// Problems is the error of Load: all that is wrong, in the order of the file.
type Problems []Problem

// Error is one line for each problem, each followed by its hint, if it has one,
// on an indented line.
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

// Unwrap gives the errors behind the problems, so that errors.Is finds
// fs.ErrNotExist where the file is missing.
func (ps Problems) Unwrap() []error {
	var errs []error
	for _, p := range ps {
		if p.Err != nil {
			errs = append(errs, p.Err)
		}
	}
	return errs
}

// sorted is the problems in the order of the file. One that is met again through
// an alias is told once.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Text == b.Text
	})
}
