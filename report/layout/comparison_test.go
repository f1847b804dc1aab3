package layout

import (
	"bytes"
	"fmt"
	"slices"
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

// abVerdict returns a comparison in which every name is hostile and the rows are many.
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

func TestComparisonWithHostileNames(t *testing.T) {
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

func TestComparisonFitsAComment(t *testing.T) {
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

// An undecided comparison has a table of its own, and no status that calls it unchanged.
func TestComparisonShowsUndecided(t *testing.T) {
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

// The number of measurements is reported for all contexts together, by rounds or by what each build
// has, and names the device if there is only one: 3 and 2 runs are 5.
func TestComparisonMeasured(t *testing.T) {
	pixel := map[string]string{"model": "Pixel 7"}
	for want, contexts := range map[string][]sidebyside.Context{
		"nothing in common":                  nil,
		"12 rounds":                          {{Base: 12, Head: 12}},
		"12 rounds on Pixel 7":               {{Context: pixel, Base: 12, Head: 12}},
		"20 rounds on 2 devices or networks": {{Context: pixel, Base: 12, Head: 12}, {Base: 8, Head: 8}},
	} {
		s := sidebyside.Scenario{Scenario: "scroll", Unit: sidebyside.Round, Contexts: contexts}
		d := Comparison(ComparisonInput{Verdict: sidebyside.Verdict{Scenarios: []sidebyside.Scenario{s}}})
		if got := factOf(d, "Measured"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	runs := sidebyside.Scenario{Scenario: "open", Unit: sidebyside.Run, Contexts: []sidebyside.Context{{Base: 3, Head: 3}, {Base: 2, Head: 1}}}
	none := sidebyside.Scenario{Scenario: "scroll"}
	d := Comparison(ComparisonInput{Verdict: sidebyside.Verdict{Scenarios: []sidebyside.Scenario{runs, none}}})
	if got, want := factOf(d, "Measured"), "open: 5 runs of the base, 4 of the head on 2 devices or networks\nscroll: nothing in common"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A build is named by what is known of it, a commit by ten digits.
func TestComparisonNamesBuilds(t *testing.T) {
	v := sidebyside.Verdict{
		Base: sidebyside.Build{App: run.App{Package: "com.example", Version: "1.4.0", Build: "release"}, Source: run.Source{Commit: strings.Repeat("0123456789", 4)}},
		Head: sidebyside.Build{App: run.App{Package: "com.example", Build: "debug"}},
	}
	if got, want := Comparison(ComparisonInput{Verdict: v}).Title, "base com.example 1.4.0 release, commit 0123456789, head com.example debug"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A hint is shown whatever the verdict is; how to explain a worsening is only shown for a
// regression.
func TestComparisonHint(t *testing.T) {
	for verdict, why := range map[gate.Outcome]string{gate.Regression: "apkgate why pr", gate.Pass: ""} {
		d := Comparison(ComparisonInput{Verdict: sidebyside.Verdict{Verdict: verdict, Hint: "measure more rounds"}, Why: "apkgate why pr"})
		if got := factOf(d, "Next"); got != "measure more rounds" {
			t.Errorf("%s: the hint is %q", verdict, got)
		}
		if got := factOf(d, "Why"); got != why {
			t.Errorf("%s: how to explain it is %q, want %q", verdict, got, why)
		}
		bare := Comparison(ComparisonInput{Verdict: sidebyside.Verdict{Verdict: verdict}})
		for _, f := range bare.Facts {
			if f.Label == "Next" && verdict != gate.Regression || f.Label == "Why" {
				t.Errorf("%s: without a hint it says %+v", verdict, f)
			}
		}
		if got := factOf(bare, "Next"); verdict == gate.Regression && !strings.HasPrefix(got, "fix it and compare again") {
			t.Errorf("a regression without a hint says %q", got)
		}
	}
}

// tenth returns a time per frame of 10 ms that grew by 1 ms, ± half as much.
func tenth() sidebyside.Difference {
	return sidebyside.Difference{Base: 10, Head: 11.2, Shift: 1, ShiftLow: new(0.5), ShiftHigh: new(1.5), Change: 0.1, ChangeLow: new(0.05), ChangeHigh: new(0.15), P: 0.0004, Effect: 0.8, N: 12}
}

// The table of the whole run has what did not change, that of each device the whole run of every
// device and of events those that changed there. A broken limit shows the head's own number,
// without an interval: 12 ms are a fifth more than 10.
func TestComparisonTables(t *testing.T) {
	limit := tenth()
	limit.Head, limit.Limit = 12, new(10.5)
	apart := []sidebyside.ContextDifference{{Context: 0, Direction: gate.None, Difference: tenth()}, {Context: 1, Direction: gate.ToRegression, Difference: tenth()}}
	of := func(event string, d gate.Direction, shift sidebyside.Difference) sidebyside.Comparison {
		return sidebyside.Comparison{Event: event, Metric: ms, Direction: d, Together: d, Difference: shift, Contexts: apart}
	}
	scenario := sidebyside.Scenario{Scenario: "scroll", Unit: sidebyside.Round, Contexts: []sidebyside.Context{{Context: map[string]string{"model": "A"}}, {Context: map[string]string{"model": "B"}}}}
	scenario.Comparisons = []sidebyside.Comparison{of("", gate.None, tenth()), of("", gate.ToImprovement, tenth()), of("tap", gate.None, tenth()), of("back", gate.ToRegression, limit)}
	d := Comparison(ComparisonInput{Verdict: sidebyside.Verdict{Scenarios: []sidebyside.Scenario{scenario}}})
	const numbers = " | 10.00 ms | 11.00 ms | +10 % | +5…+15 % | < 0.001 | 0.80 | "
	whole, broken := "whole run: time per frame"+numbers, "back: time per frame | 10.00 ms | 12.00 ms | +20 % | – | < 0.001 | 0.80 | beyond 10.50 ms"
	onA, onB := func(event string) string { return event + ": time per frame on A" + numbers + "as before" }, func(event string) string { return event + ": time per frame on B" + numbers + "worse" }
	for title, want := range map[string][]string{
		"Whole run":       {whole + "as before"},
		"What changed":    {broken, whole + "better"},
		"All comparisons": {whole + "as before", whole + "better", "tap: time per frame" + numbers + "as before", broken},
		"Each device":     {onA("whole run"), onB("whole run"), onA("whole run"), onB("whole run"), onB("tap"), onB("back")},
	} {
		if got := rowsOf(d, title); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", title, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	two := Comparison(ComparisonInput{Verdict: sidebyside.Verdict{Scenarios: []sidebyside.Scenario{scenario, {Scenario: "open"}}}})
	if got := rowsOf(two, "Whole run: scroll"); len(got) != 1 {
		t.Errorf("of several scenarios the table of one has %q", got)
	}
	at := slices.IndexFunc(d.Problems, func(p document.Problem) bool { return p.Scenario == "scroll" })
	if got, want := strings.ReplaceAll(d.Problems[at].Text, "\u00a0", " "), "base 10.00 ms, head 12.00 ms; beyond the limit of 10.50 ms"; got != want {
		t.Errorf("the problem is %q, want %q", got, want)
	}
	scenario.Comparisons = []sidebyside.Comparison{{Event: "tap", Metric: ms, Direction: gate.ToRegression, Together: gate.None, Contexts: apart}}
	one := Comparison(ComparisonInput{Verdict: sidebyside.Verdict{Level: 0.95, Scenarios: []sidebyside.Scenario{scenario}}})
	if got, want := strings.ReplaceAll(one.Problems[0].Text, "\u00a0", " "), "base 10.00 ms, head 11.00 ms on B (+10 %, 95 % interval +5…+15 %); p < 0.001"; got != want {
		t.Errorf("the problem is %q, want %q", got, want)
	}
}
