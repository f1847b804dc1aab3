package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var selected = regexp.MustCompile(`\.([A-Z]\w*)`)

// TestDeclaredFieldsAreRead fails for a message, a field or a number that no code uses, as far as
// its name tells.
func TestDeclaredFieldsAreRead(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, root := range []string{"../../..", "../../../../cli"} { // all readers of traces, and who writes some in tests
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || entry.Name() == "decoders.go" || entry.Name() == "all_test.go" {
				return err
			}
			source, err := os.ReadFile(path)
			for _, found := range selected.FindAllSubmatch(source, -1) {
				used[string(found[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	declared, err := os.ReadFile("../messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := parse(string(declared))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.decoder && !used[m.name+"Of"] {
			t.Errorf("no code decodes %s", m.proto)
		}
		for _, f := range m.fields {
			name := camel(f.name)
			if !(m.decoder && (used[name] || used["Has"+name])) && !(m.numbers && used[m.name+name]) {
				t.Errorf("no code reads %s of %s", f.name, m.proto)
			}
		}
	}
}
