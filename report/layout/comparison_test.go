package layout

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
)

// abVerdict is a comparison in which every name is hostile and the rows are many.
func abVerdict(events int) sidebyside.Verdict {
	const hostile = "<img src=x>|`@all\x1b[31m\n::error::x"
	s := sidebyside.Scenario{Scenario: hostile, Verdict: gate.Regression, Unit: sidebyside.Round, Contexts: []sidebyside.Context{
		{Context: map[string]string{"model": hostile}, Base: 12, Head: 12}, {Context: map[string]string{"model": "b"}, Base: 12, Head: 12},
	}}
	for i := range events {
		shift := sidebyside.Difference{Base: 0.95, Head: 0.9, Shift: -0.05, ShiftLow: new(-0.06), ShiftHigh: new(-0.04), Change: -0.0526, ChangeLow: new(-0.063), ChangeHigh: new(-0.042), P: 0.0004, N: 12}
		s.Comparisons = append(s.Comparisons, sidebyside.Comparison{
			Event: fmt.Sprint(hostile, i), Metric: "frames.smooth_ratio", Direction: gate.ToRegression, Together: gate.None, Difference: shift,
			Contexts: []sidebyside.ContextDifference{{Context: 1, Direction: gate.ToRegression, Difference: shift}, {Context: 99, Direction: gate.None}},
		})
	}
	return sidebyside.Verdict{
		Format: sidebyside.Format, Verdict: gate.Regression, Reason: hostile, Hint: hostile, Level: 0.95,
		Base: sidebyside.Build{App: run.App{Package: hostile, Version: hostile}}, Head: sidebyside.Build{App: run.App{Package: "a"}},
		Scenarios: []sidebyside.Scenario{s}, Warnings: []run.Warning{{Text: hostile}},
	}
}

func TestSheetsHoldHostileNames(t *testing.T) {
	sheets := map[string]document.Document{
		"comparison": Comparison(ComparisonInput{Verdict: abVerdict(3), Notes: []string{"<b>"}}),
		"refresh": Refresh(RefreshInput{Refresh: saved.Refresh{
			Verdict: gate.Regression, Refused: []saved.Refusal{{ID: "<img src=x>", Reason: "a|b `c`\x1b[31m\n::error::x"}},
			Drift:    []drift.Line{{Scenario: "<img src=x>|x", Metric: "<img src=x>", Direction: gate.ToRegression, Creep: &drift.Shift{Change: 0.1}}},
			Warnings: []run.Warning{{Text: "<img src=x>"}},
		}}),
	}
	for what, s := range sheets {
		for _, width := range []int{0, 40, 200} {
			var text bytes.Buffer
			if err := asText(&text, s, document.Options{Width: width, Verbose: true}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text.String(), "\x1b") || strings.Contains(text.String(), "\n::") {
				t.Errorf("%s: the text lets controls or commands through:\n%q", what, text.String())
			}
		}
		var page, md bytes.Buffer
		if err := asHTML(&page, s); err != nil {
			t.Fatal(err)
		}
		if err := asMarkdown(&md, s, 0); err != nil {
			t.Fatal(err)
		}
		for form, out := range map[string]string{"HTML": page.String(), "Markdown": md.String()} {
			if strings.Contains(out, "<img") || strings.Contains(out, "\x1b") || form == "Markdown" && strings.Contains(out, "@all") {
				t.Errorf("%s: the %s lets a hostile name through:\n%s", what, form, out)
			}
		}
		if strings.Contains(page.String(), "<script") || strings.Contains(page.String(), "://") {
			t.Errorf("%s: the page runs or loads something", what)
		}
	}
}

func TestASheetFitsAComment(t *testing.T) {
	s := Comparison(ComparisonInput{Verdict: abVerdict(2000)})
	for _, limit := range []int{512, 4000, markdown.MaxComment} {
		var b bytes.Buffer
		if err := asMarkdown(&b, s, limit); err != nil {
			t.Fatal(err)
		}
		if b.Len() > limit || !strings.HasPrefix(b.String(), "### ❌ Regression") || !strings.Contains(b.String(), "left out") {
			t.Errorf("limit %d: %d bytes: %.200s", limit, b.Len(), b.String())
		}
	}
	if err := asMarkdown(&bytes.Buffer{}, s, 100); err == nil {
		t.Error("a limit of 100 bytes is taken")
	}
}

// A comparison that is open has a table of its own, and no status that calls it as it was.
func TestAComparisonShowsWhatIsOpen(t *testing.T) {
	shift := sidebyside.Difference{Base: 8, Head: 8.1, Shift: 0.1, ShiftLow: new(-1.0), ShiftHigh: new(2.4), Change: 0.0125, ChangeLow: new(-0.125), ChangeHigh: new(0.3), P: 1, N: 12}
	of := func(event string, open bool) sidebyside.Comparison {
		return sidebyside.Comparison{Event: event, Metric: "frames.duration_ms", Direction: gate.None, Together: gate.None, Difference: shift, Open: open}
	}
	v := sidebyside.Verdict{Format: sidebyside.Format, Verdict: gate.Inconclusive, Reason: "not excluded", Scenarios: []sidebyside.Scenario{{
		Verdict: gate.Inconclusive, Unit: sidebyside.Round, Contexts: []sidebyside.Context{{Base: 12, Head: 12}},
		Comparisons: []sidebyside.Comparison{of("", false), of("tap", true)},
	}}}
	var md bytes.Buffer
	if err := asMarkdown(&md, Comparison(ComparisonInput{Verdict: v}), 0); err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(md.String(), "Undecided")
	open, rest, _ := strings.Cut(rest, "Whole run")
	if !found || !strings.Contains(open, "tap: time per frame") || !strings.Contains(open, "| open |") || strings.Contains(open, "whole run") || !strings.Contains(rest, "as before") {
		t.Errorf("want a table of what is open, the event alone:\n%s", md.String())
	}
}
