package markdown

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apkgate/apkgate/report/reporttest"
)

func TestMermaidLabels(t *testing.T) {
	got := mermaid(`sdk = "5.0" <b> #1; click [x] %% é`)
	want := `sdk = #34;5.0#34; #60;b#62; #35;1#59; click #91;x#93; #37;#37; é`
	if got != want {
		t.Errorf("mermaid label\n%s, want\n%s", got, want)
	}
}

func FuzzMarkdownEscape(f *testing.F) {
	for _, s := range reporttest.Hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\x00") {
			t.Fatalf("%q became %q, want one line without control characters", s, got)
		}
		bare := strings.NewReplacer("&#8203;", "\u200b", "<span>$</span>", "¤", "&lt;", "¤", "&gt;", "¤", "&amp;", "¤", "&quot;", "¤").Replace(got)
		if strings.ContainsAny(bare, `<>&"$`) {
			t.Fatalf("%q became %q: HTML or a formula can begin", s, got)
		}
		for i, r := range bare {
			if strings.ContainsRune("`*_[]|~{}", r) && (i == 0 || bare[i-1] != '\\') {
				t.Fatalf("%q became %q: %q is bare at %d", s, got, r, i)
			}
		}
		if found := reporttest.Mention.FindString(bare); found != "" {
			t.Fatalf("%q became %q, which mentions %q", s, got, found)
		}
		if found := reporttest.Address.FindString(bare); found != "" {
			t.Fatalf("%q became %q, which links %q", s, got, found)
		}
	})
}

func FuzzMermaidLabel(f *testing.F) {
	for _, s := range reporttest.Hostile {
		f.Add(s)
	}
	safe := regexp.MustCompile(`^([\pL\pN .,=_\-]|#[0-9]+;)*$`)
	f.Fuzz(func(t *testing.T, s string) {
		if got := mermaid(s); !safe.MatchString(got) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
