package apkgate_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// causeName is the name of a kind of cause: a family and a word.
var causeName = regexp.MustCompile(`^[a-z]+\.[a-z]+$`)

// Each kind of cause is named by a test of its package and described in the document of the format:
// a kind that nothing finds is an empty promise.
func TestEachCauseIsTestedAndDocumented(t *testing.T) {
	kinds, tested := map[string]string{}, map[string]bool{} // by folder and identifier
	said := map[string]string{}                             // texts of the tests of a folder
	for _, s := range sources(t) {
		folder := path.Dir(s.path)
		if !strings.HasPrefix(folder, "diagnose/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if name := constantOf(n); !s.test && causeName.MatchString(name) && strings.HasSuffix(n.Names[0].Name, "Kind") {
					kinds[folder+" "+n.Names[0].Name] = name
				}
			case *ast.BasicLit:
				if s.test {
					said[folder] += n.Value
				}
			case *ast.Ident:
				tested[folder+" "+n.Name] = tested[folder+" "+n.Name] || s.test
			}
			return true
		})
	}
	document, err := os.ReadFile("docs/format/verdict.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(kinds) < 30 {
		t.Errorf("only %d kinds of causes are found below diagnose", len(kinds))
	}
	for where, name := range kinds {
		if folder, _, _ := strings.Cut(where, " "); !tested[where] && !strings.Contains(said[folder], name) {
			t.Errorf("no test of %s names %s", folder, name)
		}
		if !strings.Contains(string(document), "`"+name+"`") {
			t.Errorf("docs/format/verdict.md does not say what %s is", name)
		}
	}
}

// constantOf returns the text of a constant, "" for anything else.
func constantOf(s *ast.ValueSpec) string {
	if len(s.Names) != 1 || len(s.Values) != 1 {
		return ""
	}
	l, ok := s.Values[0].(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return text
}
