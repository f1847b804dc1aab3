package layout

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/report/reporttest"
	"github.com/apkgate/apkgate/report/wording"
)

func markdownOf(t testing.TB, in Input, limit int) string {
	t.Helper()
	var b bytes.Buffer
	if err := asMarkdown(&b, Verdict(in), limit); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdownRegression(t *testing.T) {
	got := strings.ReplaceAll(markdownOf(t, regression(), 0), wording.NBSP, " ")
	for _, want := range []string{
		"### ❌ Regression: open-message after E2 renders 53 % fewer frames on Android 5.0.0, 5.1.0 and 6.0.0 (5 of 5 runs); 95 % interval of the median run −56…−50 %; p ≤ 0.002 after correction for 35 comparisons\n",
		"> The devices are simulated.\n",
		"| whole run: frames rendered | −40 % | 450 | 270 | −43…\u2060−37 % | 5 of 5 | **worse** |\n",
		"| └ E3: frames rendered | −25 % | 110 | 82 | −28…\u2060−22 % | 5 of 5 | after-effect of E2 |\n",
		"- All 2 runs with sdk = 5.0.0 are worse (support 4.4 %, confidence 100 %, lift 9).\n",
		"```mermaid\nflowchart LR\n",
		"<sub>commit abcdef0123 against 0123456789 · k9mail/k-9 · preset default · apkgate 0.1.0</sub>\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the comment lacks %q:\n%s", want, got)
		}
	}
	if !strings.HasPrefix(got, "### ❌ Regression") {
		t.Error("the comment does not begin with the verdict")
	}
}

func TestMarkdownOtherOutcomes(t *testing.T) {
	for want, in := range map[string]Input{
		"### ✅ Pass: nothing got worse in 4 comparisons of 2 runs with 40 accepted runs\n":     pass(),
		"### ✅ Improvement: open-message renders 20 % more frames":                             improvement(),
		"**What would settle it:** about 8 accepted runs in a similar context; there are 3.\n": inconclusive(),
		"### ⚠️ Invalid: The run is partial: 4 of 10 repetitions have no frames.\n":            invalid(),
		"line 12: the frame table ends in the middle of a row\n":                               invalid(),
	} {
		if got := strings.ReplaceAll(markdownOf(t, in, 0), wording.NBSP, " "); !strings.Contains(got, want) {
			t.Errorf("the comment lacks %q:\n%s", want, got)
		}
	}
}

func TestMarkdownRespectsItsLimit(t *testing.T) {
	for name, in := range map[string]Input{"regression": regression(), "huge": huge(1000, 30), "hostile": hostile()} {
		d := Verdict(in)
		for _, limit := range []int{512, 600, 1000, 2000, 3000, 5000, 20_000, 65_536} {
			var b bytes.Buffer
			if err := asMarkdown(&b, d, limit); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			if len(got) > limit {
				t.Errorf("%s: %d bytes at a limit of %d", name, len(got), limit)
			}
			if !utf8.ValidString(got) {
				t.Errorf("%s: cut in the middle of a character at %d", name, limit)
			}
			if !strings.Contains(got, "Regression") {
				t.Errorf("%s: the verdict is lost at a limit of %d", name, limit)
			}
			if o, c := strings.Count(got, "<details>"), strings.Count(got, "</details>"); o != c {
				t.Errorf("%s: %d <details> and %d </details> at a limit of %d", name, o, c, limit)
			}
			if strings.Count(got, "\n```")%2 != 0 {
				t.Errorf("%s: a code block stays open at a limit of %d", name, limit)
			}
		}
	}
	if got := markdownOf(t, regression(), 1200); !strings.Contains(got, "left out") {
		t.Errorf("a cut report does not say so:\n%s", got)
	}
	if err := asMarkdown(&bytes.Buffer{}, Verdict(pass()), 100); err == nil || !strings.Contains(err.Error(), "512") {
		t.Errorf("a limit of 100 bytes gives the error %v, want one that names 512", err)
	}
}

// gfm renders Markdown as GitHub does: with tables, strike-through, automatic links, and HTML
// unchanged.
var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

func TestMarkdownRendersHostileNamesAsText(t *testing.T) {
	render := func(source string) string {
		var out bytes.Buffer
		if err := gfm.Convert([]byte(source), &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	shown := render(markdownOf(t, hostile(), 0))
	shown = regexp.MustCompile(`(?s)<pre>.*?</pre>|<em>and \d+ more</em>`).ReplaceAllString(shown, "") // ours
	for _, tag := range []string{"<a", "<img", "<script", "<style", "<del", "<em", "<!--", "<code>"} {
		if i := strings.Index(shown, tag); i >= 0 {
			t.Errorf("a name became %s: %.200s", tag, shown[i:])
		}
	}
	if n := strings.Count(shown, "<h1"); n > 0 {
		t.Errorf("a name became %d headings", n)
	}
	text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(shown, "")
	for _, p := range []*regexp.Regexp{reporttest.Mention, reporttest.Reference, reporttest.Address} {
		if found := p.FindString(text); found != "" {
			t.Errorf("GitHub would link %q", found)
		}
	}
	for _, line := range regexp.MustCompile(`(?s)<tr>.*?</tr>`).FindAllString(shown, -1) {
		if n := strings.Count(line, "<td") + strings.Count(line, "<th"); n != 7 && n != 5 {
			t.Errorf("a row has %d cells: %s", n, line)
		}
	}
}

func ExampleMarkdown() {
	verdict := gate.Verdict{Verdict: gate.Invalid, Runs: []gate.RunVerdict{{ID: "R1", Verdict: gate.Invalid, Reason: "the device was lost"}}}
	var b bytes.Buffer
	if err := asMarkdown(&b, Verdict(Input{Verdict: verdict}), markdown.MaxComment); err != nil {
		fmt.Println(err)
	}
	first, _, _ := strings.Cut(b.String(), "\n")
	fmt.Println(first)
	// Output: ### ⚠️ Invalid: the device was lost
}
