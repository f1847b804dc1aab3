package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// MaxBytes is the largest file that Load reads.
const MaxBytes = 1 << 20

// Options are what a configuration is read for.
type Options struct {
	// Profiles are the allowed values of devices[].simulated; nil: not checked.
	Profiles []string
	// GateOnly is set where nothing will be collected, so that the file may leave out its
	// scenarios.
	GateOnly bool
}

// LoadFile reads the configuration at path. Its error is a Problems.
func LoadFile(path string, opts Options) (*Config, error) {
	src, err := readBounded(path)
	if err != nil {
		p := Problem{File: path, Text: "read the configuration: " + reason(err), Err: err}
		if errors.Is(err, fs.ErrNotExist) {
			p.Text, p.Hint = "there is no such file", "apkgate init writes one"
		}
		return nil, Problems{p}
	}
	return Load(path, src, opts)
}

// readBounded reads at most one byte more than a configuration may have.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxBytes+1))
}

// reason returns the error without the path, which is already in the problem.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// Load decodes the configuration in src. name is the file's, for messages; the paths in the result
// are joined to its folder. The error is a Problems with all errors, and then there is no
// configuration.
func Load(name string, src []byte, opts Options) (*Config, error) {
	d := &decoder{file: name, dir: filepath.Dir(name), opts: opts}
	root := d.parse(src)
	if root == nil {
		return nil, d.result()
	}
	c := d.config(root)
	if err := d.result(); err != nil {
		return nil, err
	}
	return c, nil
}

// parse parses the file's text as a tree; nil where there is nothing to decode.
func (d *decoder) parse(src []byte) *node {
	if len(src) > MaxBytes {
		d.add(Problem{Text: fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20)})
		return nil
	}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	if p, ok := checkText(src); !ok {
		d.add(p)
		return nil
	}
	d.lines = splitLines(src)
	doc, p, ok := parseYAML(src)
	if !ok {
		d.add(p)
		return nil
	}
	return d.resolve(doc)
}

// decoder collects the problems of one file.
type decoder struct {
	file, dir  string
	opts       Options
	lines      []string // of the file
	problems   Problems
	unreported int // problems beyond maxProblems
}

func (d *decoder) add(p Problem) {
	if len(d.problems) == maxProblems {
		d.unreported++
		return
	}
	p.File = d.file
	if last := len(d.lines); p.Line > last && last > 0 { // yaml.v3 ends "---" on a line that does not exist
		p.Line, p.Column = last, utf8.RuneCountInString(d.lines[last-1])+1
	}
	d.problems = append(d.problems, p)
}

// at adds a problem of the value n.
func (d *decoder) at(n *node, path, format string, args ...any) {
	d.hinted(n, path, "", format, args...)
}

// hinted adds a problem of the value n with a hint.
func (d *decoder) hinted(n *node, path, hint, format string, args ...any) {
	d.add(Problem{Line: n.line, Column: n.column, Path: path, Hint: hint, Text: fmt.Sprintf(format, args...)})
}

// result is the error to return; nil where there is no problem.
func (d *decoder) result() error {
	if len(d.problems) == 0 {
		return nil
	}
	out := d.problems.sorted()
	if d.unreported > 0 {
		out = append(out, Problem{File: d.file, Text: fmt.Sprintf("and %d more problems", d.unreported)})
	}
	return out
}
