package field_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Readers name fields. A number of their own would be a field that nobody can look up.
func TestNoReaderHasNumbersOfItsOwn(t *testing.T) {
	t.Parallel()
	files := 0
	for _, root := range []string{"..", "../../systrace"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && entry.Name() == "field" {
				return filepath.SkipDir
			}
			if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			files++
			for _, at := range raw(t, path) {
				t.Errorf("%s: a field by its number: give it the name that package field has", at)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 20 {
		t.Fatalf("found %d files: is this the folder of package field?", files)
	}
}

func TestARawNumberIsFound(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"switch f.Number {\ncase 1:\n}", "switch {\ncase f.Number == 3:\n}", "_ = 2 < g.Number", "switch e.Kind {\ncase 4:\n}",
		"_ = []protowire.Number{4}", "_ = map[protowire.Number]string{2: a}", "_ = protowire.Number(7)", "const a protowire.Number = 3",
		"seq.Interned(2, f.Value)", "_ = protowire.AppendTag(b, 3, protowire.VarintType)",
	} {
		if len(rawIn(t, "made up", "package a\nfunc a() {\n"+code+"\n}\n")) != 1 {
			t.Errorf("%q: a number is not found", code)
		}
	}
}

func raw(t *testing.T, path string) []string { return rawIn(t, path, nil) }

// rawIn are the places at which Go code compares a field's number with a literal, or makes
// one of a literal. 0 stands for no field.
func rawIn(t *testing.T, path string, source any) []string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	note := func(of ...ast.Expr) {
		for _, e := range of {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				e = pair.Key
			}
			if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.INT && literal.Value != "0" {
				found = append(found, fset.Position(literal.Pos()).String())
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SwitchStmt:
			for _, clause := range n.Body.List {
				if isNumber(n.Tag) {
					note(clause.(*ast.CaseClause).List...)
				}
			}
		case *ast.BinaryExpr:
			if isNumber(n.X) {
				note(n.Y)
			}
			if isNumber(n.Y) {
				note(n.X)
			}
		case *ast.CompositeLit:
			if ofNumbers(n.Type) {
				note(n.Elts...)
			}
		case *ast.CallExpr:
			if selector, ok := n.Fun.(*ast.SelectorExpr); isType(n.Fun) || ok && (selector.Sel.Name == "Interned" || selector.Sel.Name == "AppendTag") {
				note(n.Args...)
			}
		case *ast.ValueSpec:
			if isType(n.Type) {
				note(n.Values...)
			}
		}
		return true
	})
	return found
}

// isNumber tells a field's number or an event's or a packet's kind.
func isNumber(e ast.Expr) bool {
	selector, ok := e.(*ast.SelectorExpr)
	return ok && (selector.Sel.Name == "Number" || selector.Sel.Name == "Kind")
}

func isType(e ast.Expr) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Number" {
		return false
	}
	from, ok := selector.X.(*ast.Ident)
	return ok && from.Name == "protowire"
}

// ofNumbers tells a list of numbers, or a map by them.
func ofNumbers(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ArrayType:
		return isType(e.Elt)
	case *ast.MapType:
		return isType(e.Key)
	}
	return false
}
