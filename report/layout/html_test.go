package layout

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/wording"
)

func htmlOf(t testing.TB, in Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := asHTML(&b, Verdict(in)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var tags = regexp.MustCompile(`<[^>]*>`)

func TestHTMLRegression(t *testing.T) {
	page := strings.ReplaceAll(htmlOf(t, regression()), wording.NBSP, " ")
	for _, want := range []string{
		"<h1>open-message after E2 renders 53 % fewer frames on Android 5.0.0, 5.1.0 and 6.0.0 (5 of 5 runs)</h1>",
		`<p class="sure">95 % interval of the median run −56…−50 %; p ≤ 0.002 after correction for 35 comparisons</p>`,
		`<p class="note">The devices are simulated.</p>`,
		"All 2 runs with sdk = 5.0.0 are worse (support 4.4 %, confidence 100 %, lift 9).",
		"Google Nexus 5X (Android 6.0.0): 264",
		"270 frames, repetition 1 of 1: 24 longer than 16.67 ms, the longest 290 ms.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "<figure"); n != 6+1+5 {
		t.Errorf("%d figures, want 6 histories, 1 graph of rules and the frames of 5 runs", n)
	}
}

// outside matches anything that would make a browser send a request.
var outside = regexp.MustCompile(`(?i)(\ssrc=|\shref="[^#]|srcset=|url\(|@import|<link|<script|<iframe|<object|<embed|<base|<form|\son[a-z]+=)`)

// A reason in the heading begins with a capital letter.
func TestHTMLHeadingOfAReason(t *testing.T) {
	in := invalid()
	in.Verdict.Runs[0].Reason = "there is no accepted run to compare with"
	if page := htmlOf(t, in); !strings.Contains(page, "<h1>There is no accepted run to compare with</h1>") {
		t.Errorf("the page's heading is another: %.2000q", page)
	}
}

func TestHTMLIsSelfContained(t *testing.T) {
	for name, in := range map[string]Input{"regression": regression(), "hostile": hostile(), "pass": pass(), "hungrier": hungrier()} {
		page := htmlOf(t, in)
		for _, tag := range tags.FindAllString(page, -1) {
			if found := outside.FindString(tag); found != "" {
				t.Errorf("%s: %.120q would load or run something", name, tag)
			}
		}
		style, _, _ := strings.Cut(page[strings.Index(page, "<style>"):], "</style>")
		if found := outside.FindString(style); found != "" {
			t.Errorf("%s: the style holds %q", name, found)
		}
		if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline';`) {
			t.Errorf("%s: no policy that forbids all but inline style", name)
		}
	}
}

// A hostile name can't add an element: the page of hostile names has the tags of the template and
// of the figures, and no others.
func TestHTMLKeepsHostileNamesAsText(t *testing.T) {
	page := htmlOf(t, hostile())
	for _, tag := range []string{"<script", "<img", `<a href="h`, "<iframe", "onerror=\""} {
		if strings.Contains(page, tag) {
			t.Errorf("a name became %s", tag)
		}
	}
	for element, want := range map[string]int{"</title>": 1 + strings.Count(page, "<svg") + strings.Count(page, "<g><title>"), "</style>": 1, "</main>": 1} {
		if n := strings.Count(page, element); n != want {
			t.Errorf("%d of %s, want %d", n, element, want)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("a hostile name is not shown at all")
	}
}

func TestHTMLIsAccessible(t *testing.T) {
	in := regression()
	in.Energy = []hotspots.Change{explain(headJoules(), baseJoules())}
	page := htmlOf(t, in)
	if n := strings.Count(page, "<h1>"); n != 1 {
		t.Errorf("%d first headings, want 1", n)
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		if !strings.Contains(svg, "<title ") || !strings.Contains(svg, "<desc ") || !strings.Contains(svg, `role="img"`) {
			t.Errorf("a picture has no title or description: %.120s", svg)
		}
		if err := wellFormed(svg); err != nil {
			t.Errorf("a picture is not XML: %v: %.200s", err, svg)
		}
	}
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(`\bid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[id[1]] {
			t.Errorf("two elements have the id %q", id[1])
		}
		ids[id[1]] = true
	}
	for _, word := range []string{"worse", "better", "after-effect of E2"} {
		if !strings.Contains(page, word) {
			t.Errorf("%q is told by nothing but a colour", word)
		}
	}
}

func wellFormed(s string) error {
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// At most 60 comparisons are shown of each run, so that the page does not grow beyond 100 events.
func TestHTMLStaysSmall(t *testing.T) {
	in := huge(1000, 100)
	page := htmlOf(t, in)
	if len(page) > 5<<20 {
		t.Errorf("%d runs of 100 events make a page of %d bytes, want at most 5 MB", len(in.Verdict.Runs), len(page))
	}
	for _, want := range []string{"more runs; the JSON report has everything", "more rules; the JSON report has everything"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say that it leaves out %q", want)
		}
	}
}

// A saved verdict has no catalogue: the built-in one is created once, and not for each of its
// numbers.
func TestCatalogueIsCreatedOnce(t *testing.T) {
	without := huge(20, 30)
	with := without
	with.Catalogue = metric.Default()
	allocations := func(in Input) float64 { return testing.AllocsPerRun(1, func() { Verdict(in) }) }
	if a, b := allocations(without), allocations(with); a > b+1000 {
		t.Errorf("%.0f allocations without a catalogue, %.0f with one", a, b)
	}
}
