package apkgate_test

import (
	"os"
	"path"
	"strings"
	"testing"
)

// A stranger finds each package in the table of docs/design.md.
func TestTheDesignNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## Packages\n")
	if !found {
		t.Fatal("docs/design.md has no section Packages")
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	there := map[string]bool{"trace/perfetto": true} // was one before
	told := map[string]bool{}
	for _, s := range sources(t) {
		there[s.dir] = true
		if s.test || told[s.dir] || strings.HasPrefix(s.dir, "cmd/") {
			continue
		}
		told[s.dir] = true
		if !strings.Contains(section, "`"+s.dir+"`") {
			t.Errorf("%s is not in the table of packages of docs/design.md", s.dir)
		}
	}
	for name := range strings.SplitSeq(section, "`") {
		if strings.Contains(name, "/") && path.Clean(name) == name && !strings.ContainsAny(name, " |(") && !there[name] {
			t.Errorf("docs/design.md names the package %s, which is not there", name)
		}
	}
}
