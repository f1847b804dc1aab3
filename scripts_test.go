package apkgate_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stopsReading matches a pipe into a program that may exit before it has read everything.
var stopsReading = regexp.MustCompile(`\|\s*(head\b|grep\s+(-\w+\s+)*-\w*q|sed\s.*\bq\b)`)

// With set -o pipefail, a program whose reader exits early may die of SIGPIPE, and then fails the
// pipe.
func TestNoScriptStopsReadingAPipe(t *testing.T) {
	scripts, err := filepath.Glob("scripts/*")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	for _, script := range append(scripts, ".ci/run") {
		text, err := os.ReadFile(script)
		if err != nil {
			continue // a folder
		}
		if !strings.Contains(string(text), "pipefail") {
			continue
		}
		for n, line := range strings.Split(string(text), "\n") {
			if stopsReading.MatchString(line) {
				t.Errorf("%s:%d: %s", script, n+1, strings.TrimSpace(line))
			}
		}
	}
}

// TestLinkerSetsAVariableThatIsThere: the linker ignores a variable that does not exist, and a
// release would not know its number.
func TestLinkerSetsAVariableThatIsThere(t *testing.T) {
	for _, name := range []string{"Dockerfile", "scripts/release"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		set := regexp.MustCompile(`-X ` + regexp.QuoteMeta(module) + `/([a-z/]+)\.(\w+)=`).FindStringSubmatch(string(raw))
		if set == nil {
			t.Errorf("%s sets no variable of %s", name, module)
			continue
		}
		found := false
		for _, s := range sources(t) {
			for _, d := range s.file.Decls {
				for _, spec := range specs(d) {
					found = found || s.dir == set[1] && slices.ContainsFunc(spec.Names, func(id *ast.Ident) bool { return id.Name == set[2] })
				}
			}
		}
		if !found {
			t.Errorf("%s sets %s in %s, which has no such variable", name, set[2], set[1])
		}
	}
}

// specs are the variables and constants that a declaration has.
func specs(d ast.Decl) (out []*ast.ValueSpec) {
	if group, ok := d.(*ast.GenDecl); ok {
		for _, spec := range group.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				out = append(out, values)
			}
		}
	}
	return out
}
