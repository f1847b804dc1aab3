package html

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/apkgate/apkgate/report/document"
)

// Sections have distinct names, since a screen reader navigates by them.
func TestSectionsHaveDistinctNames(t *testing.T) {
	groups := func() document.Section {
		return document.Section{ID: "frames", Title: document.Everywhere("Frames"), Body: &document.Groups{Groups: []document.Group{{Fact: "one"}}}}
	}
	var b bytes.Buffer
	if err := Render(&b, document.Document{Sections: []document.Section{groups(), groups(), groups()}}, document.Options{}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(b.String(), -1) {
		seen[m[1]]++
	}
	if len(seen) < 3 {
		t.Errorf("the names are %v, want one for each section", seen)
	}
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%d sections are called %q", n, id)
		}
	}
}
