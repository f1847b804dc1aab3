package apkgate_test

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packagesTable is the section of docs/design.md that says where things are.
func packagesTable(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## Packages\n")
	if !found {
		t.Fatal("docs/design.md has no section Packages")
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	return section
}

// Each folder, and each package folder in it, is in the table of docs/design.md.
func TestTheDesignNamesEveryPackage(t *testing.T) {
	section := packagesTable(t)
	there, named := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		there[s.dir] = true
		parts := strings.Split(s.dir, "/")
		room := path.Join(parts[:min(len(parts), 2)]...)
		there[room] = true
		if s.test || named[room] || room == "." || parts[0] == "cmd" {
			continue
		}
		named[room] = true
		if !strings.Contains(section, "`"+room+"`") {
			t.Errorf("%s is not in the table of packages of docs/design.md", room)
		}
	}
	for name := range strings.SplitSeq(section, "`") {
		if strings.Contains(name, "/") && path.Clean(name) == name && !strings.ContainsAny(name, " |(") && !there[name] {
			t.Errorf("docs/design.md names the package %s, which is not there", name)
		}
	}
}

// sizeRow matches a folder of that table, with its lines and those of its tests.
var sizeRow = regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([0-9,]+) \\| ([0-9,]+) \\|")

// The table has the size of each folder, within a tenth and 300 lines.
func TestTheDesignSaysHowLargeFoldersAre(t *testing.T) {
	lines := map[string][2]int{}
	for _, s := range sources(t) {
		top, _, _ := strings.Cut(s.dir, "/")
		of, n := lines[top], s.fset.File(s.file.Pos()).LineCount()
		if s.test {
			of[1] += n
		} else {
			of[0] += n
		}
		lines[top] = of
	}
	delete(lines, ".")
	delete(lines, "cmd")
	for _, row := range sizeRow.FindAllStringSubmatch(packagesTable(t), -1) {
		for i, stated := range row[2:] {
			says, err := strconv.Atoi(strings.ReplaceAll(stated, ",", ""))
			if err != nil {
				t.Fatal(err)
			}
			is := lines[row[1]][i]
			if off := is - says; max(off, -off) > says/10+300 {
				t.Errorf("docs/design.md says %d lines of %s, and there are %d", says, row[1], is)
			}
		}
		delete(lines, row[1])
	}
	for folder := range lines {
		t.Errorf("docs/design.md does not say how large %s is", folder)
	}
}

// Asynchronous tasks and method traces, with what explains them and the loads beside a workload, have
// a limit of lines of code: those with anything but comments, without tests and what only they use.
func TestTasksAndMethodTracesAreLimited(t *testing.T) {
	const most = 10_000
	folders := []string{"trace/tasks", "trace/art", "trace/ring", "diagnose/queueing", "diagnose/calls", "diagnose/contrast", "collect/load"}
	n := 0
	for _, s := range sources(t) {
		in := func(folder string) bool { return s.dir == folder || strings.HasPrefix(s.dir, folder+"/") }
		if s.test || in("trace/art/arttest") || !slices.ContainsFunc(folders, in) {
			continue
		}
		n += linesOfCode(t, s.path)
	}
	if n > most {
		t.Errorf("they have %d lines of code, want at most %d", n, most)
	}
	const stated = "have 9,900 lines of code"
	if section := packagesTable(t); n < 9_400 || !strings.Contains(section, stated) {
		t.Errorf("they have %d lines of code; docs/design.md is to say that they %s, or what it is now", n, stated)
	}
}

// linesOfCode counts the lines with a token that is no comment.
func linesOfCode(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	set, lines := token.NewFileSet(), map[int]bool{}
	file := set.AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		at, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return len(lines)
		case kind == token.SEMICOLON && literal == "\n": // of the line's end
			continue
		}
		for i := range strings.Count(literal, "\n") + 1 { // a raw string has several lines
			lines[file.Line(at)+i] = true
		}
	}
}

// repositoryPath matches a path of at least two parts in a document, namedTest a test or a pattern
// of tests.
var (
	repositoryPath = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_*.-]+)+)`")
	namedTest      = regexp.MustCompile("(?:`|-run |-bench |-fuzz )'?((?:Test|Benchmark|Fuzz)[A-Z][A-Za-z0-9]+)")
)

// documents returns the Markdown files of the project, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := fs.Glob(os.DirFS("."), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(os.DirFS("."), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			paths = append(paths, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[p] = string(text)
	}
	return out
}

// A file or folder of the repository that a document names exists.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	for document, text := range documents(t) {
		for _, m := range repositoryPath.FindAllStringSubmatch(text, -1) {
			top, _, _ := strings.Cut(m[1], "/")
			if info, err := os.Stat(top); err != nil || !info.IsDir() || top == ".." {
				continue // of another repository, or of a device
			}
			pattern := strings.ReplaceAll(m[1], "NNNN", "????")
			if found, err := fs.Glob(os.DirFS("."), pattern); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", document, m[1])
			}
		}
	}
}

// A test that a document names as evidence exists; a pattern may name several by their prefix.
func TestDocumentsNameTestsThatAreThere(t *testing.T) {
	var all strings.Builder
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				all.WriteString("\n" + f.Name.Name + "(")
			}
		}
	}
	for document, text := range documents(t) {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			name := "\n" + m[1]
			if strings.HasPrefix(m[0], "`") {
				name += "("
			}
			if !strings.Contains(all.String(), name) {
				t.Errorf("%s names the test %s, which is not there", document, m[1])
			}
		}
	}
}
