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

// A long name may break behind its dots, and is escaped; a short word is as it was.
func TestSoftBreaks(t *testing.T) {
	for text, want := range map[string]string{
		"works in com.example.demo.MessageView.decodeImages <now>": "works in com.<wbr>example.<wbr>demo.<wbr>MessageView.<wbr>decodeImages &lt;now&gt;",
		"com.example.demo 1.4.0":                                   "com.example.demo 1.4.0",
		"0123456789..abcdef0123":                                   "0123456789..<wbr>abcdef0123",
		"<script>alert(1)</script>.com.example.attack":             "&lt;script&gt;alert(1)&lt;/<wbr>script&gt;.<wbr>com.<wbr>example.<wbr>attack",
	} {
		if got := string(soft(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
