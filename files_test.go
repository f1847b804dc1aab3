package apkgate_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layered are the folders whose files use each other in one direction only: none calls up into one
// that calls it.
var layered = []string{"collect", "collect/preparation", "collect/record", "collect/repetition"}

func TestFilesUseEachOtherOneWay(t *testing.T) {
	for _, dir := range layered {
		uses, err := usesOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(uses) < 2 {
			t.Errorf("%s has %d files: is it still there?", dir, len(uses))
		}
		if circle := circleOf(uses); circle != nil {
			t.Errorf("%s: files use each other in a circle: %s", dir, strings.Join(circle, " → "))
		}
	}
}

func TestCircleOf(t *testing.T) {
	for _, c := range []struct {
		uses map[string][]string
		want string
	}{
		{map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": nil}, ""},
		{map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}, "b → c → b"},
	} {
		if got := strings.Join(circleOf(c.uses), " → "); got != c.want {
			t.Errorf("%v: the circle is %q, want %q", c.uses, got, c.want)
		}
	}
}

// usesOf returns the files of a package, without tests, each with the other files that declare what
// it uses: functions, types, values and methods of its own package.
func usesOf(dir string) (map[string][]string, error) {
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	uses := map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		uses[filepath.Base(name)] = nil
	}
	// Declarations of other packages are not resolved: they are in no file of this one.
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	_, _ = config.Check(dir, fset, files, &info)
	for id, object := range info.Uses {
		if _, field := object.(*types.Var); field && object.Parent() == nil || object.Pos() == token.NoPos {
			continue // a field belongs to its type, which is used where the value came from
		}
		from, to := base(fset, id.Pos()), base(fset, object.Pos())
		if from != to && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
	}
	return uses, nil
}

func base(fset *token.FileSet, at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not looked up") }

// circleOf returns a path from a file back to itself, nil where there is none.
func circleOf(uses map[string][]string) []string {
	done := map[string]bool{}
	var way []string
	var walk func(file string) []string
	walk = func(file string) []string {
		if at := slices.Index(way, file); at >= 0 {
			return append(slices.Clone(way[at:]), file)
		}
		if done[file] {
			return nil
		}
		way = append(way, file)
		for _, next := range slices.Sorted(slices.Values(uses[file])) {
			if circle := walk(next); circle != nil {
				return circle
			}
		}
		way = way[:len(way)-1]
		done[file] = true
		return nil
	}
	for _, file := range slices.Sorted(maps.Keys(uses)) {
		if circle := walk(file); circle != nil {
			return circle
		}
	}
	return nil
}
